import type { Bench } from '../support/bench.ts';
import type { Attack } from './attacks.ts';
import { type Figures, type Instants, lastTriedMs } from './figures.ts';
import type { Probe } from './probe.ts';
import { IDLE_SHARE_MAX } from './processor.ts';

const REPLY_MS_MAX = 250;
const TRIED_MS_MAX = 500;
const WEBHOOK_MS_MAX = 2_000;
/** `/healthz` touches nothing, so it does not wait for a lock. */
const HEALTH_MS_MAX = 50;
/** After a lock of the file is gone, work goes on within this time. */
const GOES_ON_MS_MAX = 5_000;
/** No connection stays open for so long before its headers are there. */
const SLOW_HEADERS_MS_MAX = 15_000;

/** What one attack did to the neighbour and to the service. */
export interface Outcome {
  readonly attacks: number;
  /** Shares of a core. */
  readonly busyShare: number;
  readonly idle: { readonly share: number; readonly seconds: number };
  readonly codes: readonly Probe[];
  readonly endedAt: number;
  readonly triedAt: Instants;
  readonly during: Figures;
  readonly after: Figures;
  readonly longestDripMs: number;
}

export const HEADER = [
  "another project's codes, p99",
  'attacks',
  'sends',
  'failed',
  'reply ms',
  'tried ms',
  'webhook ms',
  'slowest healthz ms',
  'core %',
  'idle after s',
];

/** One row of the codes during the attack, and one of those after it. */
export function rowsOf(label: string, outcome: Outcome): readonly string[][] {
  const { attacks, busyShare, idle, during, after } = outcome;
  const percent = (share: number): string => (100 * share).toFixed(1);
  return [
    [label, String(attacks), ...cellsOf(during), percent(busyShare), ''],
    ['    5 s after, then idle', '', ...cellsOf(after), percent(idle.share), idle.seconds.toFixed(0)],
  ];
}

function cellsOf({ sends, failed, replyMs, triedMs, webhookMs, healthMs }: Figures): readonly string[] {
  return [
    String(sends),
    String(failed),
    ...[replyMs, triedMs, webhookMs, healthMs].map((ms) => ms.toFixed(0)),
  ];
}

export function setBars(bench: Bench, attack: Attack, name: string, outcome: Outcome): void {
  if (attack === 'lockedFile') setLockBars(bench, name, outcome);
  else {
    setCodeBars(bench, name, outcome.during);
    setCodeBars(bench, `after ${name}`, outcome.after);
  }
  const failures = outcome.codes.flatMap(({ status }) => (status === 200 ? [] : status));
  if (failures.length > 0) console.log(`${name}: codes with the status ${failures.join(', ')}`);
  if (attack === 'slowHeaders') {
    const { longestDripMs } = outcome;
    const seconds = SLOW_HEADERS_MS_MAX / 1000;
    bench.bar(longestDripMs <= SLOW_HEADERS_MS_MAX, `${name}: every connection closed within ${seconds} s`);
    console.log(`${name}: the slowest connection was closed after ${(longestDripMs / 1000).toFixed(1)} s`);
  }
  bench.bar(
    outcome.idle.share <= IDLE_SHARE_MAX,
    `after ${name}: at most ${100 * IDLE_SHARE_MAX} % of a core`,
  );
}

function setCodeBars(bench: Bench, name: string, { failed, replyMs, triedMs, webhookMs }: Figures): void {
  bench.bar(failed === 0, `${name}: no send failed`);
  bench.bar(replyMs <= REPLY_MS_MAX, `${name}: replied to within ${REPLY_MS_MAX} ms`);
  bench.bar(triedMs <= TRIED_MS_MAX, `${name}: tried within ${TRIED_MS_MAX} ms`);
  bench.bar(webhookMs <= WEBHOOK_MS_MAX, `${name}: webhook within ${WEBHOOK_MS_MAX} ms`);
}

/** Sends wait for the lock of the file, or are told to come again. */
function setLockBars(bench: Bench, name: string, outcome: Outcome): void {
  const { codes, endedAt, triedAt, during, after } = outcome;
  const healthBar = `/healthz within ${HEALTH_MS_MAX} ms, all the time`;
  bench.bar(during.healthMs <= HEALTH_MS_MAX, `${name}: ${healthBar}`);
  bench.bar(after.healthMs <= HEALTH_MS_MAX, `after ${name}: ${healthBar}`);
  bench.bar(
    during.lost + after.lost === 0,
    `${name}: every send has a reply, and none that was accepted is lost`,
  );
  bench.bar(after.failed === 0, `after ${name}: no send failed`);
  const seconds = GOES_ON_MS_MAX / 1000;
  const goesOn = lastTriedMs(codes, endedAt, triedAt) <= GOES_ON_MS_MAX;
  bench.bar(goesOn, `after ${name}: every accepted code tried within ${seconds} s`);
}
