import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from '../support/child-process.ts';
import { commit } from '../support/commit.ts';
import { postTo } from '../support/http-load.ts';
import { LIVE_LOAD_API_KEY } from '../support/load-seed.ts';
import { between, seededRandom, seedFrom } from './support/seeded-random.ts';
import { readSmscLog, type SmscLog } from './support/smsc-log.ts';
import type { SmscProcessHandlers } from './support/smsc-process.ts';
import { smscVerdict } from './support/smsc-verdict.ts';
import { SqliteService } from './support/sqlite-service.ts';
import { SteadyLoad } from './support/steady-load.ts';
import { WORK_DUE_WITHIN_MS, WORK_TIMEOUT_MS } from './support/time-limits.ts';
import { assertAcknowledged, conclude, textOf } from './support/verdict.ts';

/**
 * Kills the SMSC again and again while the service submits to it, and compares the messages with what the SMSC wrote down
 * before it responded. Proves that no message is submitted twice, that what counts as rejected was never taken, that no
 * receipt is lost, and that every message ends with its charge resolved.
 */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 20);
const SEED = seedFrom(process.env.KILL_SEED);
const CONNECTIONS = 16;
const DELAY_MS = 10;
/** From the first message that the SMSC takes on. */
const KILL_AFTER_MS = [0, 1_000] as const;
const DOWN_MS = [0, 200] as const;
/** A message that is unknown ends after this time, in seconds. */
const ATTEMPT_SECONDS = 8;
const RECEIPTS_TIMEOUT_MS = 30_000;
const POLL_MS = 100;

const PROVIDER = 'smsc';
/** Two parts. */
const LONG_TEXT = 'This text is longer than one sms. '.repeat(8);

const service = new SqliteService('kill-smsc');
const smscLog = join(service.folder, 'smsc');
const random = seededRandom(SEED);
const post = postTo('/sms', LIVE_LOAD_API_KEY);
const acknowledged = new Set<string>();
/** Responses other than 200, and how many there were. */
const unexpected = new Map<string, number>();
const violations: string[] = [];
let sent = 0;

/** Started and not listening: the port is open again at once after a kill. */
const newSmsc = (): Promise<Child<SmscProcessHandlers>> =>
  startChild<SmscProcessHandlers>(new URL('./support/smsc-process.js', import.meta.url), {
    CRASH_SMSC_LOG: smscLog,
  });
let smsc = await newSmsc();
let spare = newSmsc();
const port = await smsc.ask('listen', 0);

const load = new SteadyLoad({
  ports: () => service.ports(),
  connections: CONNECTIONS,
  delayMs: DELAY_MS,
  makeRequest,
  onResponse: (body, status) => {
    if (status === 200) acknowledged.add(JSON.parse(body).smsId);
    else unexpected.set(`${status} ${body}`, (unexpected.get(`${status} ${body}`) ?? 0) + 1);
  },
});

console.log(`kill-smsc: commit ${commit()}, seed ${SEED}, ${ROUNDS} rounds, ${CONNECTIONS} connections`);
console.log('proves: after SIGKILL of the SMSC no message is submitted twice, and no receipt is lost');
try {
  await service.start({
    CRASH_LIVE_ATTEMPT_SECONDS: String(ATTEMPT_SECONDS),
    CHANNELS_FILE: channelsFile(),
    SMSC_PASSWORD: 'crash',
  });
  load.start();
  for (let round = 1; round <= ROUNDS; round += 1) await killOnce(round);
  await smsc.ask('firstTaken');
  await load.stop();
  await comeToQuiet();
  assertAcknowledged(acknowledged);
} catch (error) {
  violations.push(textOf(error));
} finally {
  await load.stop();
  await service.stop();
  await smsc.stop();
  await (await spare).stop();
}
if (violations.length === 0) service.removeFolder();
conclude(
  violations,
  `kill-smsc: ${ROUNDS} kills, ${acknowledged.size} acknowledged, ${violations.length} violations, seed ${SEED}`,
  service.folder,
);

async function killOnce(round: number): Promise<void> {
  const startedAt = performance.now();
  const before = readLog();
  await smsc.ask('firstTaken');
  const waitedMs = performance.now() - startedAt;
  const afterMs = between(random, KILL_AFTER_MS);
  await sleep(afterMs);
  await smsc.kill('SIGKILL');
  const { taken, acknowledged: receipts } = readLog();
  await sleep(between(random, DOWN_MS));
  smsc = await spare;
  await smsc.ask('listen', port);
  spare = newSmsc();
  console.log(
    [
      `round ${String(round).padStart(3)}: taken again after ${waitedMs.toFixed(0).padStart(4)} ms`,
      `killed ${String(afterMs).padStart(3)} ms later`,
      `${taken.length - before.taken.length} taken, ${receipts.size - before.acknowledged.size} receipts acknowledged`,
    ].join(', '),
  );
}

/** First the attempts end and the receipts come. Then the clock passes the receipt window of what has none. */
async function comeToQuiet(): Promise<void> {
  await service.untilNoJobs(() => Date.now() + WORK_DUE_WITHIN_MS, WORK_TIMEOUT_MS);
  await untilAcknowledged();
  const report = await smscVerdict(service, { acknowledged, readLog, provider: PROVIDER });
  const { messages, delivered, rejected, unknown, unknownTaken, twice, problems } = report;
  violations.push(...problems);
  for (const [response, count] of unexpected) violations.push(`${count} × response ${response}`);
  console.log(
    [
      `when quiet: ${messages} messages, ${delivered} delivered, ${rejected} rejected and never submitted`,
      `${unknown} left unknown, of which the SMSC had taken ${unknownTaken}`,
      `${twice} submitted twice`,
    ].join(', '),
  );
}

/** Resolves when the SMSC has no more receipts to bring. */
async function untilAcknowledged(): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const { taken, acknowledged: receipts } = readLog();
    const open = taken.filter(({ id }) => !receipts.has(id)).length;
    if (open === 0) return;
    if (performance.now() - startedAt > RECEIPTS_TIMEOUT_MS) {
      throw new Error(`${open} receipts were not acknowledged`);
    }
    await sleep(POLL_MS);
  }
}

function readLog(): SmscLog {
  return readSmscLog(readFileSync(smscLog, 'utf8'));
}

/** Codes of one part and texts of two, each to a number of its own. */
function makeRequest(): Buffer {
  sent += 1;
  const content =
    sent % 2 === 0
      ? { smsType: 'verification', verificationCode: '123456' }
      : { smsType: 'custom', customMessage: LONG_TEXT };
  const phoneNumber = String(9_647_700_000_000 + sent);
  return post(JSON.stringify({ phoneNumber, provider: 'sms', ...content }));
}

function channelsFile(): string {
  const file = join(service.folder, 'channels.json');
  const settings = {
    kind: 'smpp',
    url: `smpp://127.0.0.1:${port}`,
    systemId: 'crash',
    password: { env: 'SMSC_PASSWORD' },
    binds: 2,
  };
  writeFileSync(file, JSON.stringify({ sms: { providers: { [PROVIDER]: settings } } }));
  return file;
}
