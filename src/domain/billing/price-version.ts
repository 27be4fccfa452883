import { ACTORS } from '../shared/actor.ts';
import type { PriceList } from './pricing.ts';

/** Versions that are not yet in force. */
export const SCHEDULED_VERSIONS_MAX = 20;

/**
 * How long before it is in force a version can be withdrawn at the latest, in milliseconds. Each process reads the schedule every
 * two seconds; the rest is for the commit of the withdrawal, and for clocks that differ.
 */
export const WITHDRAWAL_NOTICE_MS = 10_000;

export const PRICE_VERSION_STATUSES = ['scheduled', 'in-force', 'replaced', 'withdrawn'] as const;
export type PriceVersionStatus = (typeof PRICE_VERSION_STATUSES)[number];

/** Through what a version was made: as in the audit log, or by a seed file. */
export const PRICE_ACTORS = [...ACTORS, 'seed'] as const;
export type PriceActor = (typeof PRICE_ACTORS)[number];

/** One price list of the history. Its prices never change. */
export interface PriceVersion {
  /** 24 hex characters that grow with time. */
  readonly id: string;
  /** Milliseconds since 1970; 0 for the list of a seed file. */
  readonly effectiveFrom: number;
  readonly createdAt: number;
  readonly actor: PriceActor;
  /** Its international rows. */
  readonly rowCount: number;
  readonly withdrawnAt: number | null;
}

/** What a version is at an instant; `inForce` is the id of the one in force then. */
export function priceVersionStatus(
  { id, effectiveFrom, withdrawnAt }: PriceVersion,
  inForce: string | null,
  now: number,
): PriceVersionStatus {
  if (withdrawnAt !== null) return 'withdrawn';
  if (effectiveFrom > now) return 'scheduled';
  return id === inForce ? 'in-force' : 'replaced';
}

export type PriceScheduleRejection =
  | { readonly kind: 'effective-from-past' }
  | { readonly kind: 'too-many-scheduled-prices' };

/** What keeps a version from the schedule; null when nothing does. `effectiveFrom` null means at once. */
export function scheduleRejection(
  effectiveFrom: number | null,
  scheduled: number,
  now: number,
): PriceScheduleRejection | null {
  if (effectiveFrom === null) return null;
  if (effectiveFrom <= now) return { kind: 'effective-from-past' };
  return scheduled >= SCHEDULED_VERSIONS_MAX ? { kind: 'too-many-scheduled-prices' } : null;
}

/** Whether a version may still be withdrawn: no process quotes by it yet. */
export function isWithdrawable({ effectiveFrom }: PriceVersion, now: number): boolean {
  return effectiveFrom > now + WITHDRAWAL_NOTICE_MS;
}

/** A price list, and from when on it is in force. */
export interface ScheduledPrices {
  readonly effectiveFrom: number;
  readonly list: PriceList;
}

/** The list in force at an instant; null before the first. `schedule` is in the order of its instants. */
export function pricesInForce(schedule: readonly ScheduledPrices[], at: number): PriceList | null {
  return schedule.findLast(({ effectiveFrom }) => effectiveFrom <= at)?.list ?? null;
}
