import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openDatabase } from '../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../src/adapters/knex/unit-of-work.ts';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import { aMessage, anId } from '../support/builders.ts';
import { MAIN_PROGRAM } from '../support/compiled-service.ts';
import { freePort } from '../support/private-server.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Their report takes long enough to be interrupted. */
const MESSAGES = 40_000;
const PER_TRANSACTION = 1_000;
/** A worker that was killed is gone after some seconds, and its job is due again. */
const TEST_MS_MAX = 60_000;

let folder: string;
let url: string;
let child: ChildProcess;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'barid-report-crash-'));
});
afterEach(() => {
  child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const databaseFile = () => join(folder, 'barid.db');
const filesOfReports = () =>
  existsSync(join(folder, 'reports')) ? readdirSync(join(folder, 'reports')) : [];

async function start(): Promise<void> {
  const port = await freePort();
  child = spawn(process.execPath, [MAIN_PROGRAM], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '', DATABASE_URL: `sqlite:${databaseFile()}`, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  url = `http://127.0.0.1:${port}`;
  await until(() => request('/healthz').catch(() => null));
}

async function request(path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${DEMO_API_KEY}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.json();
}

async function fill(): Promise<void> {
  const database = openDatabase({ kind: 'sqlite', filename: databaseFile() });
  const [project] = await database.knex('projects').select('id');
  const unitOfWork = new SqlUnitOfWork(database);
  for (let from = 0; from < MESSAGES; from += PER_TRANSACTION) {
    const messages = Array.from({ length: PER_TRANSACTION }, (_, index) =>
      aMessage({
        smsId: `sms-${anId(from + index)}`,
        projectId: project.id,
        status: 'delivered',
        isFinal: true,
        createdAt: from + index,
      }),
    );
    await unitOfWork.run((stores) => stores.messages.insert(messages));
  }
  await database.close();
}

it(
  'a report that a crash interrupts has no file until it is made again, whole',
  async () => {
    await start();
    await fill();
    const body = { startDate: '1970-01-01', endDate: '1970-12-31' };
    const interrupted = request('/reports/generate', body).catch(() => 'the connection was cut');
    await until(() => filesOfReports().some((name) => name.endsWith('.part')));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await interrupted).toBe('the connection was cut');
    expect(filesOfReports()).toEqual([expect.stringMatching(/^[0-9a-f]{40}\.[0-9a-f]{16}\.part$/)]);

    await start();
    const [report] = (await until(async () => {
      const reports = (await request('/reports')) as { recordCount: number; downloadUrl: string }[];
      return reports.length > 0 && reports;
    })) as { recordCount: number; downloadUrl: string }[];
    expect(report?.recordCount).toBe(MESSAGES);
    const lines = (await (await fetch(report?.downloadUrl ?? '')).text()).split('\r\n');
    expect(lines).toHaveLength(MESSAGES + 2);
    expect(new Set(lines.map((line) => line.slice(0, 28))).size).toBe(MESSAGES + 2);
    expect(filesOfReports()).toEqual([expect.stringMatching(/^[0-9a-f]{40}\.csv$/)]);
  },
  TEST_MS_MAX,
);
