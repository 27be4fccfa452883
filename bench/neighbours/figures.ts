import { percentile } from '../../test/support/percentile.ts';
import type { HealthProbe, Probe } from './probe.ts';

const PERCENTILE = 0.99;

/** When each message got so far, in milliseconds since 1970, by smsId. */
export type Instants = Readonly<Record<string, number>>;

/** How codes fared. Times are 99th percentiles in milliseconds, infinite when that many codes did not get so far. */
export interface Figures {
  readonly sends: number;
  /** Replied to with another status than 200, or not at all. */
  readonly failed: number;
  /** Not replied to at all, or accepted and lost on the way. */
  readonly lost: number;
  readonly replyMs: number;
  readonly triedMs: number;
  readonly webhookMs: number;
  /** The slowest reply of `/healthz`. */
  readonly healthMs: number;
}

export function figuresOf(
  codes: readonly Probe[],
  health: readonly HealthProbe[],
  triedAt: Instants,
  arrivedAt: Instants,
): Figures {
  const waits = (at: Instants) =>
    codes.map(({ smsId, sentAt }) => (at[smsId ?? ''] ?? Number.POSITIVE_INFINITY) - sentAt);
  const isLost = ({ status, smsId }: Probe): boolean =>
    status === 0 || (smsId !== null && !(smsId in triedAt && smsId in arrivedAt));
  return {
    sends: codes.length,
    failed: codes.filter(({ status }) => status !== 200).length,
    lost: codes.filter(isLost).length,
    replyMs: percentile(
      codes.map(({ status, replyMs }) => (status === 200 ? replyMs : Number.POSITIVE_INFINITY)),
      PERCENTILE,
    ),
    triedMs: percentile(waits(triedAt), PERCENTILE),
    webhookMs: percentile(waits(arrivedAt), PERCENTILE),
    healthMs: Math.max(...health.map(({ replyMs }) => replyMs)),
  };
}

/** How long after `from`, or after it was sent later, the last of the accepted codes was tried; in milliseconds. */
export function lastTriedMs(codes: readonly Probe[], from: number, triedAt: Instants): number {
  const waits = codes
    .filter(({ smsId }) => smsId !== null)
    .map(({ smsId, sentAt }) => (triedAt[smsId ?? ''] ?? Number.POSITIVE_INFINITY) - Math.max(from, sentAt));
  return Math.max(...waits);
}
