import { setTimeout as sleep } from 'node:timers/promises';
import type Sqlite from 'better-sqlite3';
import { countRows, withFile } from '../support/sqlite-file.ts';
import { instantIn, KillCounts, type OperatorKills } from './operator-kills.ts';

const COUNTRIES = 200;
const ROWS_PER_COUNTRY = 150;
const ROWS = COUNTRIES * ROWS_PER_COUNTRY;
const HEADER = 'continent,countryIso,countryCode,country,networkId,network,mccMnc,price';

/** A token of an operator, as the service has it. */
export const ADMIN_TOKEN = 'admin-token-of-the-crash-tests-0123456789';

/**
 * Kills the service while it imports a price list. The version is there with all its rows and its audit record, or nothing of it
 * is. Imported again it is there.
 */
export async function killPrices({
  service,
  rounds,
  random,
  environment,
}: OperatorKills): Promise<KillCounts> {
  const { filename } = service;
  const counts = new KillCounts();
  const start = (): Promise<void> => service.start({ ADMIN_TOKEN, ...environment() });
  await start();
  const startedAt = performance.now();
  await apply(service.child.port, fileOf(1), await preview(service.child.port, fileOf(1)));
  const wholeMs = performance.now() - startedAt;
  for (let round = 1; round <= rounds; round += 1) {
    const file = fileOf(round + 1);
    const digest = await preview(service.child.port, file);
    const before = await withFile(filename, countsIn);
    const applying = apply(service.child.port, file, digest).then(
      () => true,
      () => false,
    );
    await sleep(instantIn(random, wholeMs / 2));
    await service.child.kill('SIGKILL');
    const isAcknowledged = await applying;
    const after = await withFile(filename, countsIn);
    const added = after.versions - before.versions;
    if (added === 0) counts.untouched += 1;
    else counts.done += 1;
    const isWhole =
      after.rows === after.versions * ROWS + after.seeded && after.audited - before.audited === added;
    if (added < 0 || added > 1 || !isWhole)
      counts.problems.push(`imported in part: ${JSON.stringify({ before, after })}`);
    if (isAcknowledged && added === 0) counts.problems.push('an acknowledged import is not there');
    await start();
    if (added === 0) {
      await apply(service.child.port, file, await preview(service.child.port, file));
      const again = await withFile(filename, countsIn);
      if (again.versions !== before.versions + 1) counts.problems.push('the import again added no version');
    }
  }
  await service.stop();
  return counts;
}

/** The version of the seed is not counted; its rows are `seeded`. */
function countsIn(database: Sqlite.Database) {
  const sum = (sql: string): number => database.prepare<[], { n: number }>(sql).get()?.n ?? 0;
  return {
    versions: countRows(database, "price_versions WHERE actor <> 'seed'"),
    rows: sum('SELECT COALESCE(SUM(json_array_length(document)), 0) AS n FROM price_version_countries'),
    seeded: sum("SELECT COALESCE(SUM(row_count), 0) AS n FROM price_versions WHERE actor = 'seed'"),
    audited: countRows(database, "audit_records WHERE action = 'prices-imported'"),
  };
}

/** Each has other prices. */
function fileOf(price: number): string {
  const lines = Array.from({ length: ROWS }, (_, index) => {
    const country = Math.floor(index / ROWS_PER_COUNTRY);
    const iso = `${String.fromCharCode(65 + (country % 26))}${String.fromCharCode(65 + Math.floor(country / 26))}`;
    return `Asia,${iso},${800 + (country % 100)},Country ${country},n${index},Network ${index},${41_000 + (index % 900)}${country % 10},${price}`;
  });
  return [HEADER, ...lines].join('\n');
}

async function preview(port: number, file: string): Promise<string> {
  const body = await post(port, '/previews', file);
  return String(body.preview);
}

async function apply(port: number, file: string, digest: string): Promise<void> {
  await post(port, `/versions?preview=${digest}`, file);
}

async function post(port: number, path: string, file: string): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${port}/admin/prices${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'text/csv' },
    body: file,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path.split('?')[0]} got ${response.status} ${text.slice(0, 300)}`);
  return JSON.parse(text);
}
