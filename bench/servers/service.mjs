import { openSync, writeSync } from 'node:fs';
import { serve } from '../child.mjs';
import { benchSeed } from '../seed.mjs';

/**
 * The real service as configured by the environment, with one rich project. `BENCH_BUILD` names the build to
 * run, so that a long bench runs one build only; `BENCH_CLOCK_AHEAD_MS` is how far its clock is ahead;
 * `BENCH_SUBMISSIONS_FILE` gets a line for every submission to a channel, which outlives the process.
 */
const build = process.env.BENCH_BUILD ?? new URL('../../dist', import.meta.url).pathname;
const load = (path) => import(`${build}/${path}.js`);
const { PinoLogger } = await load('adapters/pino/pino-logger');
const { VerifyLedger } = await load('application/billing/verify-ledger');
const { readConfig } = await load('bootstrap/config');
const { readSeed } = await load('bootstrap/seed-file');
const { Service } = await load('bootstrap/service');
const { adapters, ports } = await load('bootstrap/tokens');

let aheadMs = Number(process.env.BENCH_CLOCK_AHEAD_MS ?? 0);
const clock = { now: () => Date.now() + aheadMs };
const config = readConfig(process.env);
const submissions = process.env.BENCH_SUBMISSIONS_FILE;
const submissionsFile = submissions === undefined ? null : openSync(submissions, 'a');
const service = new Service({
  role: config.role,
  database: config.database,
  queue: config.queue,
  secretKey: Buffer.alloc(32, 7),
  egress: config.egress,
  clock,
  logger: new PinoLogger({ level: process.env.LOG_LEVEL ?? 'error' }),
  watchesClock: true,
  seed: readSeed(benchSeed(process.env.BENCH_CREDIT)),
  onSubmission: ({ smsId, step }) => {
    if (submissionsFile !== null) writeSync(submissionsFile, `${smsId} ${step}\n`);
  },
});
await service.start();
const port = config.role === 'worker' ? 0 : await service.listen(0, '127.0.0.1');
const { knex } = service.container.get(adapters.database);

const questions = {
  memoryMb: () => Math.round(process.memoryUsage.rss() / 2 ** 20),
  finalMessages: async () => Number((await knex('messages').where('is_final', 1).count({ n: '*' }))[0].n),
  /** The columns of accounts that disagree with the sums of their entries. */
  verify: async () => (await service.container.get(VerifyLedger).execute()).differences,
  /** Puts the clock ahead by that much in all, and does what is due then. */
  clockAhead: (ms) => {
    aheadMs = ms;
    service.container.get(adapters.doorbell).wake();
    return ms;
  },
  messages: async () => Number((await knex('messages').count({ n: '*' }))[0].n),
  /** Stores that many messages that were delivered long ago. */
  fill: async (count) => {
    const { projects } = readSeed(benchSeed());
    const unitOfWork = service.container.get(ports.unitOfWork);
    const long = clock.now() - 30 * 24 * 3_600_000;
    for (let from = 0; from < count; from += 1000) {
      await unitOfWork.run((stores) =>
        stores.messages.insert(
          Array.from({ length: Math.min(1000, count - from) }, (_, index) =>
            storedMessage(projects[0].project.id, long + from + index),
          ),
        ),
      );
    }
    return count;
  },
};
serve(port, questions);
process.on('SIGTERM', () => service.stop().then(() => process.disconnect()));

function storedMessage(projectId, createdAt) {
  const random = () =>
    Math.floor(Math.random() * 2 ** 24)
      .toString(16)
      .padStart(6, '0');
  return {
    smsId: `sms-${createdAt.toString(16).padStart(12, '0')}${random()}${random()}`,
    projectId,
    phoneNumber: `9647${100_000_000 + Math.floor(Math.random() * 900_000_000)}`,
    senderId: null,
    whatsappSender: { accountId: null, phoneId: null, templateName: null },
    content: { smsType: 'verification', verificationCode: '******' },
    channels: ['sms'],
    steps: [
      {
        channel: 'sms',
        state: 'delivered',
        reason: null,
        reference: 'stored',
        startedAt: createdAt,
        endedAt: createdAt,
      },
    ],
    status: 'delivered',
    isFinal: true,
    cost: 80_000,
    prices: { sms: 80_000 },
    settlement: 'quoted',
    stepTimeoutMs: 30_000,
    deliveryReport: null,
    createdAt,
    sentAt: createdAt,
    finalAt: createdAt,
    errorReason: null,
  };
}
