import { runProgram } from '../support/operator-program.ts';
import { countRows, withFile } from '../support/sqlite-file.ts';
import { instantIn, KillCounts, type OperatorKills } from './operator-kills.ts';

/** Dead-letter jobs beside those of real messages, so that the command takes some time. */
const EXTRA_JOBS = 100_000;
const EXTRA = "id LIKE 'extra-%'";

/**
 * Kills `barid redrive` while the service is down. Every job that there was is in `jobs` or a dead-letter job, exactly once. At
 * the end all jobs of messages are due again.
 */
export async function killRedrive({ service, rounds, random }: OperatorKills): Promise<KillCounts> {
  const { filename } = service;
  const counts = new KillCounts();
  const jobs = await withFile(filename, (database) => {
    database.exec(`
      INSERT INTO jobs (id, project_id, priority, work, due_at, is_available, fencing_token, failures)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${EXTRA_JOBS})
      SELECT 'extra-' || i, '-', 20, '{"kind":"run-retention"}', 0, 0, 1, 0 FROM n`);
    return countRows(database, 'jobs');
  });
  await deadLetterAll(filename);
  const { ms, code, text } = await runProgram(['redrive'], filename);
  if (code !== 0) counts.problems.push(`redrive ended with ${code}: ${text}`);
  for (let round = 1; round <= rounds; round += 1) {
    await deadLetterAll(filename);
    await runProgram(['redrive'], filename, instantIn(random, ms));
    const left = await withFile(filename, (database) => ({
      jobs: countRows(database, 'jobs'),
      dead: countRows(database, 'dead_letter_jobs'),
      both: countRows(database, 'jobs JOIN dead_letter_jobs USING (id)'),
    }));
    if (left.jobs === 0) counts.untouched += 1;
    else if (left.dead === 0) counts.done += 1;
    else counts.midway += 1;
    if (left.jobs + left.dead !== jobs || left.both > 0) {
      counts.problems.push(
        `of ${jobs} jobs ${left.jobs} are due, ${left.dead} dead-lettered, ${left.both} both`,
      );
    }
    const again = await runProgram(['redrive'], filename);
    const due = await withFile(filename, (database) => countRows(database, 'jobs'));
    if (again.code !== 0 || due !== jobs)
      counts.problems.push(`redrive again ended with ${again.code}, ${due} of ${jobs} jobs are due`);
  }
  await withFile(filename, (database) => database.exec(`DELETE FROM jobs WHERE ${EXTRA}`));
  return counts;
}

function deadLetterAll(filename: string): Promise<unknown> {
  return withFile(filename, (database) =>
    database.exec(`
      BEGIN;
      INSERT INTO dead_letter_jobs (id, project_id, priority, work, reason, fencing_token, dead_lettered_at)
        SELECT id, project_id, priority, work, 'test', fencing_token, 1 FROM jobs;
      DELETE FROM jobs;
      COMMIT`),
  );
}
