import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type Sqlite from 'better-sqlite3';
import { ERASED_NUMBER } from '../../../src/domain/shared/phone-number.ts';
import { between } from '../support/seeded-random.ts';
import { checkFile, countRows, putFile, withFile } from '../support/sqlite-file.ts';
import { KillCounts, type OperatorKills } from './operator-kills.ts';

/** From the start of the service on. */
const KILL_AFTER_MS = [0, 2_000] as const;
const FINISH_TIMEOUT_MS = 60_000;
const POLL_MS = 100;

const ERASED = `phone_number = '${ERASED_NUMBER}'`;
/** Of an erased message, what has to be gone; of any other, what has to be there. */
const HALF_ERASED = `messages WHERE (${ERASED}) <> (phone_number_as_sent = '${ERASED_NUMBER}')
  OR (${ERASED}) <> (content LIKE '%"verificationCode":""%')
  OR ((${ERASED}) AND attempts LIKE '%"providerMessageIds":["%')`;
/** The place where the next slice begins, and the messages before it. */
const TREATED = `messages JOIN retention_places AS place USING (project_id)
  WHERE place.subject = 'messages' AND (messages.created_at, sms_id) <= (place.created_at, place.id)`;

/**
 * Kills the service while retention anonymises every message, again and again from the same database. A message is anonymised
 * whole or not at all, exactly those up to the place of the next slice are, and the next process does the rest.
 */
export async function killRetention({
  service,
  rounds,
  random,
  environment,
}: OperatorKills): Promise<KillCounts> {
  const { filename } = service;
  const counts = new KillCounts();
  await withFile(filename, (database) =>
    database.exec(`
      UPDATE projects SET settings = json_set(settings, '$.retention', json('{"days":8,"action":"anonymise"}'))`),
  );
  const before = join(dirname(filename), 'before.db');
  putFile(filename, before);
  for (let round = 1; round <= rounds; round += 1) {
    putFile(before, filename);
    await service.start(environment());
    await sleep(between(random, KILL_AFTER_MS));
    await service.child.kill('SIGKILL');
    const { messages, erased, half, treated, waiting } = await withFile(filename, countsIn);
    if (erased === 0) counts.untouched += 1;
    else if (erased === messages) counts.done += 1;
    else counts.midway += 1;
    if (half > 0) counts.problems.push(`${half} messages are anonymised in part`);
    if (erased + waiting !== treated) {
      counts.problems.push(`${erased} messages are anonymised, ${waiting} wait, of ${treated} treated`);
    }
    counts.problems.push(...(await checkFile(filename)).problems);
    await service.start(environment());
    await untilAllErased(filename);
    counts.problems.push(...(await service.child.ask('audit', true)));
    await service.stop();
    counts.problems.push(...(await checkFile(filename)).problems);
    const after = await withFile(filename, countsIn);
    if (after.half > 0 || after.erased !== after.messages)
      counts.problems.push(`${after.erased} of ${after.messages} messages are anonymised at the end`);
  }
  rmSync(before);
  return counts;
}

function countsIn(database: Sqlite.Database) {
  return {
    messages: countRows(database, 'messages'),
    erased: countRows(database, `messages WHERE ${ERASED}`),
    half: countRows(database, HALF_ERASED),
    treated: countRows(database, TREATED),
    waiting: countRows(database, 'retention_waiting'),
  };
}

async function untilAllErased(filename: string): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const { messages, erased } = await withFile(filename, countsIn);
    if (messages === erased) return;
    if (performance.now() - startedAt > FINISH_TIMEOUT_MS)
      throw new Error(
        `${messages - erased} messages are not anonymised after ${FINISH_TIMEOUT_MS / 1_000} s`,
      );
    await sleep(POLL_MS);
  }
}
