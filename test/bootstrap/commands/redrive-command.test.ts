import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openDatabase } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { startAttemptJob } from '../../../src/application/jobs/attempt-jobs.ts';
import { barid } from '../../support/barid.ts';
import { aMessage, anSmsId, NOW, PROJECT_ID } from '../../support/builders.ts';

/** More than two slices. */
const JOBS = 401;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'redrive-command-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('barid redrive makes every dead-letter job due in slices, each with a record in the audit log', async () => {
  const database = openDatabase({ kind: 'sqlite', filename: join(folder, 'barid.db') });
  await database.migrate();
  await new SqlUnitOfWork(database).run(async ({ jobs }) => {
    await jobs.add(
      Array.from({ length: JOBS }, (_, index) =>
        startAttemptJob(aMessage({ smsId: anSmsId(index + 1) }), 0, NOW),
      ),
      NOW,
    );
    const leased = await jobs.lease({ workerId: 'worker', now: NOW, until: NOW + 1, limit: JOBS });
    await jobs.fail(leased, { reason: 'planted', at: NOW, retryAt: NOW, failuresMax: 1 });
  });
  const environment = { DATABASE_URL: `sqlite:${join(folder, 'barid.db')}` };
  const { code, printed } = await barid(['redrive'], { environment });
  expect([code, printed]).toEqual([0, [`redrive: ${JOBS} jobs due again`]]);
  expect(await database.knex('dead_letter_jobs').select()).toEqual([]);
  expect(await database.knex('jobs').select('id')).toHaveLength(JOBS);
  const records = await database
    .knex('audit_records')
    .select('actor', 'action', 'project_id', 'after_change')
    .orderBy('id');
  await database.close();
  const record = { actor: 'cli-database', action: 'jobs-redriven', project_id: PROJECT_ID };
  expect(records).toHaveLength(3);
  expect(records).toEqual(
    expect.arrayContaining([
      { ...record, after_change: '{"kind":"start-attempt","jobs":200}' },
      { ...record, after_change: '{"kind":"start-attempt","jobs":1}' },
    ]),
  );
});
