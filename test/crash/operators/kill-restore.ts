import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { runProgram } from '../support/operator-program.ts';
import { agePartials, checkFile, partialsOf, putFile } from '../support/sqlite-file.ts';
import { instantIn, KillCounts, type OperatorKills } from './operator-kills.ts';

/**
 * Kills `barid restore` while the service is down. The database is the one before or the backup, whole, and `barid verify` finds
 * nothing. Run again, it is the backup. The backup has fewer messages than the database before.
 */
export async function killRestore(
  { service: { filename }, rounds, random }: OperatorKills,
  backup: string,
): Promise<KillCounts> {
  const counts = new KillCounts();
  const before = join(dirname(filename), 'before.db');
  putFile(filename, before);
  const stored = { before: (await checkFile(before)).stored, backup: (await checkFile(backup)).stored };
  if (stored.before <= stored.backup) counts.problems.push(`no message came since: ${stored.backup}`);
  const restore = (killAfterMs?: number) => runProgram(['restore', backup], filename, killAfterMs);
  const first = await restore();
  if (first.code !== 0) counts.problems.push(`restore ended with ${first.code}: ${first.text}`);
  for (let round = 1; round <= rounds; round += 1) {
    removeFormer(filename);
    putFile(before, filename);
    await restore(instantIn(random, first.ms));
    const hasPartial = partialsOf(filename).length > 0;
    const verify = await runProgram(['verify'], filename);
    if (verify.code !== 0) counts.problems.push(`verify ended with ${verify.code}: ${verify.text}`);
    const report = await checkFile(filename);
    counts.problems.push(...report.problems);
    if (report.stored === stored.backup) counts.done += 1;
    else if (report.stored !== stored.before) counts.problems.push(`${report.stored} messages`);
    else if (hasPartial) counts.midway += 1;
    else counts.untouched += 1;
    agePartials(filename);
    const again = await restore();
    const after = await checkFile(filename);
    if (again.code !== 0 || after.stored !== stored.backup) {
      counts.problems.push(`restore again ended with ${again.code}, ${after.stored} messages: ${again.text}`);
    }
    counts.problems.push(...after.problems);
    const partials = partialsOf(filename);
    if (partials.length > 0) counts.problems.push(`restore again left ${partials.join(', ')}`);
  }
  removeFormer(filename);
  rmSync(before);
  return counts;
}

/** Removes the databases that restores have kept. */
function removeFormer(filename: string): void {
  const folder = dirname(filename);
  for (const name of readdirSync(folder)) {
    if (name.startsWith(`${basename(filename)}.before-`)) rmSync(join(folder, name));
  }
}
