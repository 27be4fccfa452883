import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UnitOfWork } from '../../src/application/ports/unit-of-work.ts';
import { readSeed } from '../../src/bootstrap/config/seed-file.ts';
import type { Message } from '../../src/domain/messages/message.ts';
import type { ReportSelection } from '../../src/domain/reports/report.ts';
import { iqd } from '../../src/domain/shared/money.ts';
import type { PhoneNumber } from '../../src/domain/shared/phone-number.ts';
import { serve } from '../../test/support/child-process.ts';
import { loadSeed } from '../../test/support/load-seed.ts';
import { startLoadService } from '../../test/support/load-service.ts';
import { bareReport } from './bare-report.ts';

/** The service as the environment configures it, with one rich project. */

const MESSAGES_PER_TRANSACTION = 1_000;
const STORED_SINCE_MS = 30 * 24 * 3_600_000;

const seed = loadSeed();
const { service, port, now } = await startLoadService({ seed });
const { knex } = service.roots.database;
const unitOfWork: UnitOfWork = service.roots.unitOfWork;

const WATCH_MS = 20;

/** What a report took; `grownMb` is by how much the process grew at most. */
export interface MadeReport {
  readonly rows: number;
  readonly perSecond: number;
  readonly grownMb: number;
}

const ALL_MESSAGES: ReportSelection = {
  from: 0,
  to: Number.MAX_SAFE_INTEGER,
  filters: { startDate: '1970-01-01', endDate: '9999-12-31', phoneNumbers: [], statuses: [] },
};

const seededProject = readSeed(seed).projects[0]?.project;
if (seededProject === undefined) throw new Error('The seed has a project');
const project = seededProject;

const eventLoop = monitorEventLoopDelay({ resolution: 1 });

const handlers = {
  /** Measures from now on how long the event loop stands still. */
  watchEventLoop: (): void => {
    eventLoop.enable();
    eventLoop.reset();
  },
  /** How long it stood still at most since `watchEventLoop`. */
  longestBlockMs: (): number => eventLoop.max / 1e6,
  memoryMb: (): number => Math.round(process.memoryUsage.rss() / 2 ** 20),
  finalMessages: async (): Promise<number> =>
    countOf(await knex('messages').where('is_final', 1).count({ n: '*' })),
  /** Stores that many messages that were delivered long ago. */
  fill: async (count: number): Promise<number> => {
    const since = now() - STORED_SINCE_MS;
    for (let from = 0; from < count; from += MESSAGES_PER_TRANSACTION) {
      const length = Math.min(MESSAGES_PER_TRANSACTION, count - from);
      const messages = Array.from({ length }, (_, index) => storedMessage(project.id, since + from + index));
      await unitOfWork.run((stores) => stores.messages.insert(messages));
    }
    return count;
  },
  /** Makes a report of all messages that are stored. */
  report: async (): Promise<MadeReport> => {
    const { requestReports, unitOfWork: storage } = service.roots;
    const before = process.memoryUsage.rss();
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss());
    }, WATCH_MS);
    const startedAt = performance.now();
    const { report } = await requestReports.execute({ project, selection: ALL_MESSAGES, idempotency: null });
    let rows = report.recordCount;
    while (rows === null) {
      await sleep(WATCH_MS);
      const [found] = await storage.read(({ reports }) => reports.find([report.id]));
      rows = found?.recordCount ?? null;
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    clearInterval(watch);
    return { rows, perSecond: rows / seconds, grownMb: (most - before) / 2 ** 20 };
  },
  /** The same by a bare loop, in this process too. */
  bareReport: async (): Promise<number> => {
    const startedAt = performance.now();
    const folder = mkdtempSync(join(tmpdir(), 'barid-bare-report-'));
    const rows = await bareReport(process.env.DATABASE_URL ?? '', join(folder, 'report.csv'));
    const seconds = (performance.now() - startedAt) / 1_000;
    rmSync(folder, { recursive: true });
    return rows / seconds;
  },
};
export type ServiceHandlers = typeof handlers;

serve(port, handlers);
process.on('SIGTERM', () => service.stop().then(() => process.disconnect()));

function countOf(rows: readonly { n?: number | string }[]): number {
  return Number(rows[0]?.n);
}

function storedMessage(projectId: string, createdAt: number): Message {
  const randomHex = (): string =>
    Math.floor(Math.random() * 2 ** 24)
      .toString(16)
      .padStart(6, '0');
  const phoneNumber = `9647${100_000_000 + Math.floor(Math.random() * 900_000_000)}` as PhoneNumber;
  return {
    smsId: `sms-${createdAt.toString(16).padStart(12, '0')}${randomHex()}${randomHex()}`,
    projectId,
    campaignId: null,
    phoneNumber,
    phoneNumberAsSent: phoneNumber,
    senderId: null,
    whatsappSender: { accountId: null, phoneId: null, templateName: null },
    content: { smsType: 'verification', verificationCode: '******' },
    channels: ['sms'],
    attempts: [
      {
        channel: 'sms',
        state: 'delivered',
        reason: null,
        providerMessageIds: ['stored'],
        deliveredIds: ['stored'],
        startedAt: createdAt,
        endedAt: createdAt,
      },
    ],
    status: 'delivered',
    isFinal: true,
    cost: iqd(80),
    prices: { sms: iqd(80) },
    settlement: 'quoted',
    attemptTimeoutMs: 30_000,
    deliveryReport: null,
    createdAt,
    sentAt: createdAt,
    finalAt: createdAt,
    errorReason: null,
  };
}
