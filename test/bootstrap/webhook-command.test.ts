import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../src/adapters/knex/unit-of-work.ts';
import { runWebhookCommand } from '../../src/bootstrap/webhook-command.ts';
import type { WebhookEvent } from '../../src/domain/webhooks/webhook-event.ts';
import { HOUR_MS, NOW, PROJECT_ID } from '../support/builders.ts';

const NUMBER_ID = '664def456abc789012345678';
const DELIVERED_ID = '0000000000000000000000d1';
const DISCARDED_ID = '0000000000000000000000d2';
const WAITING_ID = '0000000000000000000000d3';
const SECRET_TEXT = 'v1:sealed-secret';
const BODY_TEXT = 'the text of a customer';

let folder: string;
let environment: Record<string, string>;

const event = (id: string, given: Partial<WebhookEvent>): WebhookEvent => ({
  id,
  kind: 'inbound',
  projectId: PROJECT_ID,
  orderingKey: id,
  phoneNumberId: NUMBER_ID,
  url: 'https://customer.example/inbound?token=hidden',
  endpoint: 'customer.example/inbound',
  secret: SECRET_TEXT,
  body: BODY_TEXT,
  state: 'delivered',
  attempts: 1,
  firstAttemptAt: NOW,
  nextAttemptAt: null,
  lastError: null,
  createdAt: NOW,
  version: 1,
  ...given,
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'webhook-command-'));
  environment = { DATABASE_URL: `sqlite:${join(folder, 'barid.db')}` };
  const database = openDatabase({ kind: 'sqlite', filename: join(folder, 'barid.db') });
  await database.migrate();
  await new SqlUnitOfWork(database).run(({ webhookEvents }) =>
    webhookEvents.insert([
      event(DELIVERED_ID, { createdAt: NOW }),
      event(DISCARDED_ID, { createdAt: NOW + 1, state: 'discarded', attempts: 50, lastError: 'HTTP 500' }),
      event(WAITING_ID, {
        createdAt: NOW + 2,
        state: 'queued_retry',
        attempts: 3,
        lastError: 'timeout',
        nextAttemptAt: NOW + HOUR_MS,
      }),
    ]),
  );
  await database.close();
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function run(...given: readonly string[]) {
  const printed: string[] = [];
  const errors: string[] = [];
  const output = {
    print: (line: string) => printed.push(line),
    error: (line: string) => errors.push(line),
  };
  const code = await runWebhookCommand(given, environment, output, { now: () => NOW + HOUR_MS - 1 });
  return { code, printed, errors };
}

describe('log', () => {
  it('prints a line for each event, the newest first, without texts and secrets', async () => {
    const { code, printed, errors } = await run('log', NUMBER_ID);
    expect(printed).toEqual([
      `2026-01-15T12:00:00.002Z  ${WAITING_ID}  queued_retry  3 attempts  next 2026-01-15T13:00:00.000Z  last error timeout  to customer.example/inbound`,
      `2026-01-15T12:00:00.001Z  ${DISCARDED_ID}  discarded  50 attempts  last error HTTP 500  to customer.example/inbound`,
      `2026-01-15T12:00:00.000Z  ${DELIVERED_ID}  delivered  1 attempt  to customer.example/inbound`,
    ]);
    expect([code, errors]).toEqual([0, []]);
  });

  it('reports a number without events', async () => {
    const { code, printed, errors } = await run('log', '0'.repeat(24));
    expect([code, printed]).toEqual([1, []]);
    expect(errors).toEqual(['log: there are no events of 000000000000000000000000']);
  });
});

describe('retry', () => {
  it('makes a discarded event due at once', async () => {
    const { code, printed } = await run('retry', DISCARDED_ID);
    expect(code).toBe(0);
    expect(printed).toEqual([
      `2026-01-15T12:00:00.001Z  ${DISCARDED_ID}  queued_retry  50 attempts  next 2026-01-15T12:59:59.999Z  last error HTTP 500  to customer.example/inbound`,
    ]);
    const database = openDatabase({ kind: 'sqlite', filename: join(folder, 'barid.db') });
    const jobs = await database.knex('jobs').select('id', 'due_at');
    await database.close();
    expect(jobs).toEqual([
      { id: `webhooks/${PROJECT_ID}/customer.example/inbound`, due_at: NOW + HOUR_MS - 1 },
    ]);
  });

  it.each([
    ['was delivered', DELIVERED_ID],
    ['does not exist', 'f'.repeat(24)],
  ])('rejects an event that %s', async (_, id) => {
    const { code, printed, errors } = await run('retry', id);
    expect([code, printed]).toEqual([1, []]);
    expect(errors).toEqual([`retry: ${id} is not in the log, or was delivered`]);
  });
});

describe('the command', () => {
  it.each([[[]], [['log']], [['retry', 'x']], [['log', NUMBER_ID, 'more']], [['remove', NUMBER_ID]]])(
    'prints its usage when given %j',
    async (given) => {
      const { code, printed, errors } = await run(...given);
      expect([code, printed]).toEqual([2, []]);
      expect(errors[0]).toContain('barid webhooks log <id of the number>');
    },
  );

  it('ends with 78 when the configuration cannot be used', async () => {
    environment = { DATABASE_URL: 'mysql://localhost' };
    const { code, errors } = await run('log', NUMBER_ID);
    expect(code).toBe(78);
    expect(errors[0]).toContain('DATABASE_URL: must be sqlite:PATH');
  });

  it('runs as a process', async () => {
    const script = fileURLToPath(new URL('../../src/bootstrap/webhooks.ts', import.meta.url));
    const args = ['--import', 'tsx', script, 'log', '0'.repeat(24)];
    const ended = await new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
      execFile(
        process.execPath,
        args,
        { env: { ...process.env, ...environment } },
        (error, stdout, stderr) => {
          resolve({ code: error === null ? 0 : error.code, stdout, stderr });
        },
      );
    });
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: 'log: there are no events of 000000000000000000000000\n',
    });
  });
});
