import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { onlySecret } from '../../../src/domain/webhooks/inbound-secrets.ts';
import type { WebhookEvent } from '../../../src/domain/webhooks/webhook-event.ts';
import { barid } from '../../support/barid.ts';
import { aProject, aSealedSecret, HOUR_MS, NOW, PROJECT_ID } from '../../support/builders.ts';
import { BARID_PROGRAM } from '../../support/compiled-service.ts';
import { runProgram } from '../../support/program.ts';

const NUMBER_ID = '664def456abc789012345678';
const DELIVERED_ID = '0000000000000000000000d1';
const DISCARDED_ID = '0000000000000000000000d2';
const WAITING_ID = '0000000000000000000000d3';
const WITHOUT_WEBHOOK_ID = '0000000000000000000000d4';
const SECRET_TEXT = 'v1:sealed-secret';
const BODY_TEXT = 'the text of a customer';

let folder: string;
let environment: Record<string, string>;

const event = (id: string, given: Partial<WebhookEvent>): WebhookEvent => ({
  id,
  kind: 'inbound',
  projectId: PROJECT_ID,
  orderingKey: id,
  whatsappPhoneId: NUMBER_ID,
  url: 'https://customer.example/inbound?token=hidden',
  endpoint: 'customer.example/inbound',
  secret: aSealedSecret(SECRET_TEXT),
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
  folder = mkdtempSync(join(tmpdir(), 'webhooks-command-'));
  environment = { DATABASE_URL: `sqlite:${join(folder, 'barid.db')}` };
  const database = openDatabase({ kind: 'sqlite', filename: join(folder, 'barid.db') });
  await database.migrate();
  await new SqlUnitOfWork(database).run(async ({ projects, inboundWebhooks, webhookEvents }) => {
    await projects.insert([aProject()]);
    await inboundWebhooks.insert([
      {
        whatsappPhoneId: NUMBER_ID,
        projectId: PROJECT_ID,
        url: 'https://customer.example/inbound?token=hidden',
        ...onlySecret(aSealedSecret(SECRET_TEXT)),
      },
    ]);
    await webhookEvents.insert([
      event(DELIVERED_ID, { createdAt: NOW }),
      event(DISCARDED_ID, { createdAt: NOW + 1, state: 'discarded', attempts: 50, lastError: 'HTTP 500' }),
      event(WAITING_ID, {
        createdAt: NOW + 2,
        state: 'queued_retry',
        attempts: 3,
        lastError: 'timeout',
        nextAttemptAt: NOW + HOUR_MS,
      }),
      event(WITHOUT_WEBHOOK_ID, { state: 'discarded', whatsappPhoneId: '0'.repeat(23) + 1 }),
    ]);
  });
  await database.close();
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const run = (...given: readonly string[]) =>
  barid(['webhooks', ...given], { environment, clock: { now: () => NOW + HOUR_MS - 1 } });

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

  it('shows an event for 15 days', async () => {
    const at = NOW + 15 * 24 * HOUR_MS;
    const { printed } = await barid(['webhooks', 'log', NUMBER_ID], {
      environment,
      clock: { now: () => at },
    });
    expect(printed.map((line) => line.split('  ')[1])).toEqual([WAITING_ID, DISCARDED_ID]);
  });

  it('reports a number without events', async () => {
    const { code, printed, errors } = await run('log', '0'.repeat(24));
    expect([code, printed]).toEqual([1, []]);
    expect(errors).toEqual(['log: there are no events of 000000000000000000000000']);
  });
});

describe('forms of the log', () => {
  it('the log of inbound events is a table at a terminal', async () => {
    const { printed } = await barid(['webhooks', 'log', NUMBER_ID], {
      environment,
      clock: { now: () => NOW + HOUR_MS - 1 },
      isTerminal: true,
    });
    expect(printed[0]).toMatch(/^createdAt +id +state +attempts +nextAttemptAt +lastError +endpoint$/);
    expect(printed[2]?.split(/ {2,}/)).toEqual([
      '2026-01-15T12:00:00.001Z',
      DISCARDED_ID,
      'discarded',
      '50',
      '-',
      'HTTP 500',
      'customer.example/inbound',
    ]);
  });

  it('the log of inbound events is a JSON array with --json, without texts and secrets', async () => {
    const { code, printed, text } = await run('log', NUMBER_ID, '--json');
    expect([code, printed.length]).toEqual([0, 1]);
    expect(JSON.parse(text)[0]).toEqual({
      createdAt: '2026-01-15T12:00:00.002Z',
      id: WAITING_ID,
      state: 'queued_retry',
      attempts: 3,
      nextAttemptAt: '2026-01-15T13:00:00.000Z',
      lastError: 'timeout',
      endpoint: 'customer.example/inbound',
    });
    expect(text).not.toContain(BODY_TEXT);
    expect(text).not.toContain(SECRET_TEXT);
  });
});

describe('resend', () => {
  it('makes a discarded event due at once, with a record in the audit log', async () => {
    const { code, printed } = await run('resend', DISCARDED_ID);
    expect(code).toBe(0);
    expect(printed).toEqual([
      `2026-01-15T12:00:00.001Z  ${DISCARDED_ID}  queued_retry  50 attempts  next 2026-01-15T12:59:59.999Z  last error HTTP 500  to customer.example/inbound`,
    ]);
    const database = openDatabase({ kind: 'sqlite', filename: join(folder, 'barid.db') });
    const jobs = await database.knex('jobs').select('id', 'due_at');
    const records = await database.knex('audit_records').select('actor', 'action', 'project_id');
    await database.close();
    expect(records).toEqual([{ actor: 'cli-database', action: 'webhook-resent', project_id: PROJECT_ID }]);
    expect(jobs).toEqual([
      { id: `webhooks/${PROJECT_ID}/customer.example/inbound`, due_at: NOW + HOUR_MS - 1 },
    ]);
  });

  it.each([
    ['was delivered', DELIVERED_ID, 'This webhook event was delivered, is due already'],
    ['does not exist', 'f'.repeat(24), 'Webhook event not found'],
    [
      'has no inbound webhook any more',
      WITHOUT_WEBHOOK_ID,
      'The whatsapp number of this event has no inbound webhook',
    ],
  ])('rejects an event that %s', async (_, id, reason) => {
    const { code, printed, errors } = await run('resend', id);
    expect([code, printed, errors]).toEqual([1, [], [expect.stringContaining(reason)]]);
  });
});

describe('the command', () => {
  it.each([[[]], [['log']], [['resend', 'x']], [['log', NUMBER_ID, 'more']], [['remove', NUMBER_ID]]])(
    'prints its usage when given %j',
    async (given) => {
      const { code, printed, errors } = await run(...given);
      expect([code, printed]).toEqual([2, []]);
      expect(errors.join()).toMatch(/barid webhooks|--help/);
    },
  );

  it('ends with 78 when the configuration cannot be used', async () => {
    environment = { DATABASE_URL: 'mysql://localhost' };
    const { code, errors } = await run('log', NUMBER_ID);
    expect(code).toBe(78);
    expect(errors[0]).toContain('DATABASE_URL: must be sqlite:PATH');
  });

  it('runs as a process', async () => {
    const ended = await runProgram([BARID_PROGRAM, 'webhooks', 'log', '0'.repeat(24)], {
      ...process.env,
      ...environment,
    });
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: 'log: there are no events of 000000000000000000000000\n',
    });
  });
});
