import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commit } from '../support/commit.ts';
import { LOAD_API_KEY, LOAD_NUMBER_ID, LOAD_TEMPLATE_ID } from '../support/load-seed.ts';
import { checkLedger, repeatedSubmissions } from './support/ledger-check.ts';
import { between, seededRandom, seedFrom } from './support/seeded-random.ts';
import { SqliteService } from './support/sqlite-service.ts';
import { QUIET_TIMEOUT_MS, WORK_TIMEOUT_MS } from './support/time-limits.ts';
import { conclude, textOf, verdictOf } from './support/verdict.ts';

/**
 * Kills the service on SQLite while it starts and runs campaigns. Proves that a campaign has started whole or not at all,
 * that every recipient has one message and one submission at most, that none is missed but those in flight at a kill,
 * and that money and counts agree with the recipients.
 */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 20);
const SEED = seedFrom(process.env.KILL_SEED);
const RECIPIENTS = 1_000;
/** From the request that starts the campaign on: some kills hit the start, some the run. */
const KILL_AFTER_MS = [5, 1_500] as const;
/** The messages of a number start at once: nothing is left to do between the kills otherwise. */
const ENVIRONMENT = { CAMPAIGN_LIMITS: 'off' };

const service = new SqliteService('kill-campaigns');
const submissionsFile = join(service.folder, 'submissions');
const start = (): Promise<void> => service.start({ CRASH_SUBMISSIONS_FILE: submissionsFile, ...ENVIRONMENT });
const random = seededRandom(SEED);
/** Campaigns whose start was replied to with 200. */
const acknowledged = new Set<string>();
const created: string[] = [];
const violations: string[] = [];

console.log(`kill-campaigns: commit ${commit()}, seed ${SEED}, ${ROUNDS} rounds of ${RECIPIENTS} recipients`);
console.log('proves: after SIGKILL every recipient has one message, charged once, submitted once');
try {
  await start();
  for (let round = 1; round <= ROUNDS; round += 1) await killOnce(round);
  await comeToQuiet();
} catch (error) {
  violations.push(textOf(error));
} finally {
  await service.stop();
}
if (violations.length === 0) service.removeFolder();
conclude(
  violations,
  `kill-campaigns: ${ROUNDS} kills, ${acknowledged.size} starts acknowledged, ${violations.length} violations, seed ${SEED}`,
  service.folder,
);

async function killOnce(round: number): Promise<void> {
  const id = await draft(round);
  created.push(id);
  const starting = request(`/whatsapp/campaigns/${id}/start`, null).then(
    () => acknowledged.add(id),
    () => null,
  );
  const after = between(random, KILL_AFTER_MS);
  await sleep(after);
  await service.child.kill('SIGKILL');
  await starting;
  await start();
  const problems = await check(false);
  report(`round ${round}`, problems);
  console.log(
    `round ${String(round).padStart(3)}: killed ${String(after).padStart(3)} ms after the start, ${acknowledged.has(id) ? 'acknowledged' : 'cut off'}, ${verdictOf(problems)}`,
  );
}

async function draft(round: number): Promise<string> {
  const plan = { name: `Round ${round}`, templateId: LOAD_TEMPLATE_ID, phoneNumberId: LOAD_NUMBER_ID };
  const { data } = (await request('/whatsapp/campaigns', plan)) as { data: { _id: string } };
  const recipients = Array.from({ length: RECIPIENTS }, (_, index) => ({
    phoneNumber: `9647${String(round * RECIPIENTS + index).padStart(9, '0')}`,
    templateParameters: { body: { 1: 'Layla' } },
  }));
  await request(`/whatsapp/campaigns/${data._id}/recipients`, { recipients });
  return data._id;
}

/** Resolves with the body of a 200, and rejects when there is none. */
async function request(path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${service.child.port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${LOAD_API_KEY}`, 'content-type': 'application/json' },
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

/** First the work left over is done. Then the clock passes the receipt windows of what was cut off. */
async function comeToQuiet(): Promise<void> {
  await service.untilNoJobs(() => Date.now(), WORK_TIMEOUT_MS);
  await service.passReceiptWindows(QUIET_TIMEOUT_MS);
  const problems = await check(true);
  const submissions = readFileSync(submissionsFile, 'utf8').trimEnd().split('\n');
  const repeated = repeatedSubmissions(submissions);
  if (repeated.length > 0) problems.push(`submitted twice: ${repeated.slice(0, 3).join(', ')}`);
  problems.push(...(await missed(new Set(submissions.map((line) => line.split(' ')[0] ?? '')))));
  report('when quiet', problems);
}

/** A recipient that was not submitted failed, because its attempt was in flight at a kill and is never repeated. */
async function missed(submitted: ReadonlySet<string>): Promise<readonly string[]> {
  const rows = await service.read((database) =>
    database
      .prepare<[], { id: string; status: string; error: string | null }>(
        `SELECT recipients.id, recipients.status, recipients.error_message AS error
         FROM campaign_recipients AS recipients JOIN campaigns ON campaigns.id = recipients.campaign_id
         WHERE campaigns.status <> 'draft'`,
      )
      .all(),
  );
  const unsent = rows.filter(({ id }) => !submitted.has(`sms-${id}`));
  const open = rows.filter(({ status }) => status === 'queued');
  console.log(
    `when quiet: ${rows.length} recipients of started campaigns, ${submitted.size} submitted, ${unsent.length} in flight at a kill`,
  );
  return [
    ...unsent
      .filter(({ status }) => status !== 'failed')
      .map(({ id, status }) => `${id} is ${status}, not submitted`),
    ...open.map(({ id }) => `${id} is still queued`),
  ];
}

async function check(quiet: boolean): Promise<string[]> {
  const { problems, states } = await service.read(async (database) => {
    database.exec('BEGIN');
    const query = async (sql: string) => database.prepare<[], Record<string, unknown>>(sql).all();
    const ledger = await checkLedger(query, { acknowledged: new Set(), quiet });
    const campaigns = await query(
      `SELECT campaigns.id, campaigns.status, campaigns.reserved,
         (SELECT COUNT(*) FROM messages WHERE messages.campaign_id = campaigns.id) AS messages
       FROM campaigns`,
    );
    database.exec('COMMIT');
    return { problems: ledger.problems, states: campaigns };
  });
  for (const { id, status, reserved, messages } of states) {
    const isWhole = status === 'draft' ? messages === 0 && reserved === 0 : messages === RECIPIENTS;
    if (!isWhole)
      problems.push(`campaign ${id} is ${status} with ${messages} messages and ${reserved} reserved`);
    if (status === 'draft' && acknowledged.has(String(id))) problems.push(`campaign ${id} lost its start`);
    if (quiet && status === 'running') problems.push(`campaign ${id} is still running`);
  }
  if (states.length !== created.length)
    problems.push(`${states.length} campaigns of ${created.length} are stored`);
  problems.push(...(await service.child.ask('audit', quiet)));
  return problems;
}

function report(when: string, problems: readonly string[]): void {
  for (const problem of problems) violations.push(`${when}: ${problem}`);
}
