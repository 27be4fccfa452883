import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChild } from '../support/child-process.ts';
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
 * Kills the service again and again while hundreds of codes wait for an SMSC that takes few a second. Proves that no message is
 * submitted twice, and that nearly all are submitted: only those are lost that were begun and not handed over.
 */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 5);
const SEED = seedFrom(process.env.KILL_SEED);
const MESSAGES_PER_ROUND = 600;
const CONNECTIONS = 16;
/** What the SMSC takes before the kill; afterwards it takes as much as comes. */
const SUBMITS_PER_SECOND = 20;
const WINDOW = 50;
/** From the last message that was accepted on. */
const KILL_AFTER_MS = [0, 3_000] as const;
const ATTEMPT_SECONDS = 30;
/** Those of a quarter of a second, and what goes out at once, may be begun by the two batches that begin at a time. */
const LOST_PER_ROUND_MAX = 2 * (SUBMITS_PER_SECOND + SUBMITS_PER_SECOND / 4);

const PROVIDER = 'smsc';

const service = new SqliteService('kill-backlog');
const smscLog = join(service.folder, 'smsc');
const random = seededRandom(SEED);
const post = postTo('/sms', LIVE_LOAD_API_KEY);
const acknowledged = new Set<string>();
const violations: string[] = [];
let sent = 0;

const smsc = await startChild<SmscProcessHandlers>(new URL('./support/smsc-process.js', import.meta.url), {
  CRASH_SMSC_LOG: smscLog,
});
const port = await smsc.ask('listen', 0);

console.log(
  `kill-backlog: commit ${commit()}, seed ${SEED}, ${ROUNDS} rounds of ${MESSAGES_PER_ROUND} codes`,
);
console.log(
  'proves: after SIGKILL of the service the codes that waited for a slow SMSC are submitted, none twice',
);
try {
  for (let round = 1; round <= ROUNDS; round += 1) await killOnce(round);
  assertAcknowledged(acknowledged);
  await comeToQuiet();
} catch (error) {
  violations.push(textOf(error));
} finally {
  await service.stop();
  await smsc.stop();
}
if (violations.length === 0) service.removeFolder();
conclude(
  violations,
  `kill-backlog: ${ROUNDS} kills, ${acknowledged.size} acknowledged, ${violations.length} violations, seed ${SEED}`,
  service.folder,
);

async function killOnce(round: number): Promise<void> {
  await start(SUBMITS_PER_SECOND);
  await sendAll();
  const afterMs = between(random, KILL_AFTER_MS);
  await sleep(afterMs);
  await service.child.kill('SIGKILL');
  const { taken } = readLog();
  await start(null);
  await service.untilNoJobs(() => Date.now() + WORK_DUE_WITHIN_MS, WORK_TIMEOUT_MS);
  console.log(
    [
      `round ${String(round).padStart(3)}: killed ${String(afterMs).padStart(4)} ms after the last code`,
      `${taken.length} of ${sent} taken until then, ${readLog().taken.length} in the end`,
    ].join(', '),
  );
  await service.stop();
}

/** Resolves when every code of a round is accepted. */
async function sendAll(): Promise<void> {
  const before = acknowledged.size;
  let isOver = (): void => {};
  const over = new Promise<void>((resolve) => {
    isOver = resolve;
  });
  const load = new SteadyLoad({
    ports: () => service.ports(),
    connections: CONNECTIONS,
    makeRequest,
    onResponse: (body, status) => {
      if (status === 200) acknowledged.add(JSON.parse(body).smsId);
      else violations.push(`response ${status} ${body}`);
      if (acknowledged.size - before >= MESSAGES_PER_ROUND || violations.length > 0) isOver();
    },
  });
  load.start();
  await over;
  await load.stop();
}

function start(perSecond: number | null): Promise<void> {
  const file = join(service.folder, 'channels.json');
  const settings = {
    kind: 'smpp',
    url: `smpp://127.0.0.1:${port}`,
    systemId: 'crash',
    password: { env: 'SMSC_PASSWORD' },
    window: WINDOW,
    ...(perSecond === null ? {} : { perSecond }),
  };
  writeFileSync(file, JSON.stringify({ sms: { providers: { [PROVIDER]: settings } } }));
  return service.start({
    CRASH_LIVE_ATTEMPT_SECONDS: String(ATTEMPT_SECONDS),
    CHANNELS_FILE: file,
    SMSC_PASSWORD: 'crash',
  });
}

/** The clock passes the receipt window of what has no receipt. */
async function comeToQuiet(): Promise<void> {
  await start(null);
  const report = await smscVerdict(service, { acknowledged, readLog, provider: PROVIDER });
  const { messages, delivered, rejected, unknown, unknownTaken, twice, problems } = report;
  violations.push(...problems);
  const lost = unknown - unknownTaken;
  const lostMax = ROUNDS * LOST_PER_ROUND_MAX;
  if (lost > lostMax)
    violations.push(`${lost} messages were begun and never submitted, more than ${lostMax}`);
  console.log(
    [
      `when quiet: ${messages} messages, ${delivered} delivered, ${rejected} rejected and never submitted`,
      `${lost} begun and never submitted, ${unknownTaken} taken of which the service does not know`,
      `${twice} submitted twice`,
    ].join(', '),
  );
}

function readLog(): SmscLog {
  return readSmscLog(readFileSync(smscLog, 'utf8'));
}

function makeRequest(): Buffer {
  sent += 1;
  const content = { smsType: 'verification', verificationCode: '123456' };
  return post(JSON.stringify({ phoneNumber: String(9_647_700_000_000 + sent), provider: 'sms', ...content }));
}
