import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../src/adapters/knex/unit-of-work.ts';
import { deliverWebhooksJob } from '../../src/application/jobs/webhook-jobs.ts';
import { LEASE_MS } from '../../src/domain/jobs/job.ts';
import { PROJECT_ID } from '../support/builders.ts';
import { MAIN_PROGRAM } from '../support/compiled-service.ts';
import { startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const WORKERS = 2;

describe.skipIf(POSTGRES_URL === undefined)(
  `the program as a worker${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    const schema = `worker_${randomBytes(6).toString('hex')}`;
    let database: ReturnType<typeof openDatabase>;
    let url: string;

    beforeEach(async () => {
      const address = new URL(POSTGRES_URL ?? '');
      address.searchParams.set('options', `-c search_path=${schema}`);
      url = address.href;
      database = openDatabase({ kind: 'postgres', url, poolSize: 2, statementTimeoutMs: 5_000, schema });
      await database.migrate();
    });
    afterEach(async () => {
      await database.knex.raw('DROP SCHEMA ?? CASCADE', [schema]);
      await database.close();
    });

    it('a worker serves health on a free port without PORT, logs the address, and removes its row when it stops', async () => {
      const workers = await Promise.all(Array.from({ length: WORKERS }, () => startWorker(url)));
      for (const { address } of workers) {
        const response = await fetch(`${address}/healthz`);
        expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
      }
      expect(await database.knex('workers').pluck('id')).toHaveLength(WORKERS);
      for (const { child, ended } of workers) {
        child.kill('SIGTERM');
        expect(await ended).toEqual([0, null]);
      }
      expect(await database.knex('workers').pluck('id')).toEqual([]);
    });

    it('a worker takes over from one that was killed long before its leases end', async () => {
      const victim = await startWorker(url);
      const [victimId] = await database.knex('workers').pluck('id');
      const successor = await startWorker(url);
      const leasedUntil = Date.now() + LEASE_MS;
      const job = deliverWebhooksJob({ projectId: PROJECT_ID, endpoint: 'customer.example/' }, 0);
      await new SqlUnitOfWork(database).run(async ({ jobs }) => {
        await jobs.add([job], 0);
        await jobs.lease({ workerId: victimId, now: 0, until: leasedUntil, limit: 1 });
      });
      const killedAt = performance.now();
      victim.child.kill('SIGKILL');
      await until(async () => (await database.knex('jobs').where('id', job.id).pluck('id')).length === 0);
      // Some 4 seconds; a busy machine may take longer, but a lease that ends by itself takes 15.
      expect(performance.now() - killedAt).toBeLessThan(LEASE_MS / 2);
      successor.child.kill('SIGTERM');
      expect(await successor.ended).toEqual([0, null]);
    });
  },
);

/** Resolves once the worker has logged the address of its health. */
async function startWorker(url: string) {
  const child = startProgram([MAIN_PROGRAM], {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: url,
    ROLE: 'worker',
    SECRET_KEY: '02'.repeat(32),
  });
  const ended = once(child, 'exit');
  let output = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    const line = output.split('\n').find((text) => text.includes('"worker_started"'));
    if (line !== undefined) return { child, ended, address: (JSON.parse(line) as { url: string }).url };
  }
  throw new Error(`The worker ended without worker_started:\n${output}`);
}
