import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../support/operator-program.ts';
import { agePartials, checkFile, partialsOf } from '../support/sqlite-file.ts';
import { instantIn, KillCounts, type OperatorKills } from './operator-kills.ts';

/**
 * Kills `barid backup` beside the running service. The backup is whole or absent, and run again it is there, without partial
 * files. The last backup stays, at `file`.
 */
export async function killBackup(
  { service, rounds, random }: OperatorKills,
  file: string,
): Promise<KillCounts> {
  const counts = new KillCounts();
  const first = await runProgram(['backup', file], service.filename);
  if (first.code !== 0) counts.problems.push(`backup ended with ${first.code}: ${first.text}`);
  for (let round = 1; round <= rounds; round += 1) {
    rmSync(file, { force: true });
    await runProgram(['backup', file], service.filename, instantIn(random, first.ms));
    if (existsSync(file)) {
      counts.done += 1;
      counts.problems.push(...(await checkFile(file)).problems);
      rmSync(file);
    } else if (partialsOf(file).length > 0) counts.midway += 1;
    else counts.untouched += 1;
    agePartials(file);
    const again = await runProgram(['backup', file], service.filename);
    if (again.code !== 0) counts.problems.push(`backup again ended with ${again.code}: ${again.text}`);
    else counts.problems.push(...(await checkFile(file)).problems);
    const partials = partialsOf(file);
    if (partials.length > 0) counts.problems.push(`backup again left ${partials.join(', ')}`);
  }
  return counts;
}

/** Where the backups of a test are. */
export function backupFile(folder: string): string {
  return join(folder, 'backup.db');
}
