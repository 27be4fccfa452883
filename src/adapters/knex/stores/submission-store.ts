import {
  PARKED_RECEIPT_LIFETIME_MS,
  SUBMISSION_LIFETIME_MS,
} from '../../../application/attempts/correlate-receipts.ts';
import { groupBy } from '../../../application/group-by.ts';
import type { SubmissionReceipt } from '../../../application/ports/provider-events.ts';
import type {
  ParkedIdLimits,
  ParkedReceipt,
  ProviderMessageId,
  SubmissionStore,
} from '../../../application/ports/stores/submission-store.ts';
import { providerOf } from '../../../application/providers/provider-ids.ts';
import type { AttemptRef } from '../../../domain/chain/attempt-name.ts';
import type { DeliveryReceipt } from '../../../domain/providers/delivery-receipt.ts';
import type { Channel } from '../../../domain/shared/channel.ts';
import type { BatchQuery, Insert, Row, RowOf, Update } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const KEY = { channel: 'text', provider_message_id: 'text' } as const;

/**
 * What was parked under the id for longer than its time is of another message: providers begin their numbers anew. The new
 * `expires_at` less the lifetime is now, here and in `LOCK`.
 */
const RECORD = {
  table: 'submissions',
  columns: { ...KEY, sms_id: 'text', attempt_number: 'bigint', expires_at: 'bigint' },
  orderBy: 'provider_message_id',
  onConflict: `ON CONFLICT (channel, provider_message_id) DO UPDATE
    SET sms_id = excluded.sms_id, attempt_number = excluded.attempt_number, expires_at = excluded.expires_at,
      parked_receipts = CASE WHEN submissions.expires_at > excluded.expires_at - ${SUBMISSION_LIFETIME_MS}
        THEN submissions.parked_receipts END`,
} as const satisfies Insert<string>;

/**
 * Of an id that exists, prolongs only what is parked and whose time is not over; it waits for the transaction that is about to
 * record it, and locks it.
 */
const LOCK = {
  table: 'submissions',
  columns: { ...KEY, expires_at: 'bigint' },
  orderBy: 'provider_message_id',
  onConflict: `ON CONFLICT (channel, provider_message_id) DO UPDATE
    SET expires_at = CASE WHEN submissions.sms_id IS NULL THEN excluded.expires_at ELSE submissions.expires_at END,
      parked_receipts = CASE WHEN submissions.expires_at > excluded.expires_at - ${PARKED_RECEIPT_LIFETIME_MS}
        THEN submissions.parked_receipts END`,
} as const satisfies Insert<string>;

const PARK = {
  table: 'submissions',
  key: KEY,
  columns: { parked_receipts: 'text', parked_provider: 'text' },
  mode: 'set',
} as const satisfies Update<string, string>;

const FIND = {
  columns: KEY,
  select: `
    SELECT sms_id, attempt_number, parked_receipts FROM submissions
    WHERE submissions.channel = :channel AND submissions.provider_message_id = :provider_message_id`,
} as const satisfies BatchQuery<string>;

/** An id without an attempt has parked receipts. Those are not named here, so that no plan takes the index by attempt. */
const PARKED_IDS = {
  columns: { parked_provider: 'text' },
  select: `
    SELECT COUNT(*) AS ids FROM submissions
    WHERE submissions.parked_provider = :parked_provider AND submissions.sms_id IS NULL`,
} as const satisfies BatchQuery<string>;

/**
 * Removes what is older than the last id that is kept. It does not remove a number of the oldest ids that are free: of several
 * transactions at once each would pass over what another removes, and all together would remove the newest too.
 */
const REMOVE_OLDEST_PARKED = `
  DELETE FROM submissions WHERE (channel, provider_message_id) IN (
    SELECT channel, provider_message_id FROM submissions
    WHERE parked_provider = ? AND sms_id IS NULL AND (expires_at, channel, provider_message_id) <= (
      SELECT expires_at, channel, provider_message_id FROM submissions
      WHERE parked_provider = ? AND sms_id IS NULL
      ORDER BY expires_at DESC, channel DESC, provider_message_id DESC LIMIT 1 OFFSET ?)
    FOR UPDATE SKIP LOCKED)`;

export class SqlSubmissionStore implements SubmissionStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async record(
    submissions: readonly (ProviderMessageId & AttemptRef)[],
    expiresAt: number,
  ): Promise<readonly (SubmissionReceipt & AttemptRef)[]> {
    if (submissions.length === 0) return [];
    const rows = new Map<string, RowOf<keyof typeof RECORD.columns>>();
    for (const submission of submissions) {
      rows.set(nameOf(submission), {
        channel: submission.channel,
        provider_message_id: submission.providerMessageId,
        sms_id: submission.smsId,
        attempt_number: submission.attemptNumber,
        expires_at: expiresAt,
      });
    }
    await this.#session.insert(RECORD, [...rows.values()]);
    const smsIds = [...new Set(submissions.map(({ smsId }) => smsId))];
    const parked = await this.#session.query(
      `SELECT channel, provider_message_id, sms_id, attempt_number, parked_receipts FROM submissions
       WHERE sms_id = ANY(?) AND parked_receipts IS NOT NULL ORDER BY channel, provider_message_id`,
      [smsIds],
    );
    if (parked.length === 0) return [];
    await this.#session.execute(
      'UPDATE submissions SET parked_receipts = NULL WHERE sms_id = ANY(?) AND parked_receipts IS NOT NULL',
      [smsIds],
    );
    return parked.flatMap((row) =>
      parkedIn(row).map((parked) => ({
        channel: row.channel as Channel,
        providerMessageId: row.provider_message_id as string,
        smsId: row.sms_id as string,
        attemptNumber: row.attempt_number as number,
        ...parked,
      })),
    );
  }

  async find(ids: readonly ProviderMessageId[]): Promise<readonly (AttemptRef | null)[]> {
    const found = await this.#session.batchQuery(FIND, ids.map(keyOf));
    return ids.map((_, index) => attemptIn(found[index]?.[0]));
  }

  async parkedUnder(ids: readonly ProviderMessageId[]): Promise<readonly (readonly ParkedReceipt[])[]> {
    const found = await this.#session.batchQuery(FIND, ids.map(keyOf));
    return ids.map((_, index) => parkedIn(found[index]?.[0]));
  }

  async park(
    receipts: readonly SubmissionReceipt[],
    expiresAt: number,
  ): Promise<readonly (AttemptRef | null)[]> {
    if (receipts.length === 0) return [];
    const byId = groupBy(receipts, nameOf);
    const ids = [...byId.values()].flatMap(([first]) => first ?? []);
    await this.#session.insert(
      LOCK,
      ids.map((id) => ({ ...keyOf(id), expires_at: expiresAt })),
    );
    const found = await this.#session.batchQuery(FIND, ids.map(keyOf));
    const rows = new Map(ids.map((id, index) => [nameOf(id), found[index]?.[0]]));
    await this.#session.update(
      PARK,
      ids.flatMap((id) => {
        const row = rows.get(nameOf(id));
        if (attemptIn(row) !== null) return [];
        const all = oneOfEachKind([...parkedIn(row), ...(byId.get(nameOf(id)) ?? [])]);
        const parked_receipts = JSON.stringify(all.map(({ receipt, attempt }) => ({ ...receipt, attempt })));
        return [{ ...keyOf(id), parked_receipts, parked_provider: providerOf(id.providerMessageId) }];
      }),
    );
    return receipts.map((each) => attemptIn(rows.get(nameOf(each))));
  }

  async removeOldestParked(
    providers: readonly string[],
    { idsMax, idsKept }: ParkedIdLimits,
  ): Promise<ReadonlyMap<string, number>> {
    const counted = await this.#session.batchQuery(
      PARKED_IDS,
      providers.map((parked_provider) => ({ parked_provider })),
    );
    const removed = new Map<string, number>();
    for (const [index, provider] of providers.entries()) {
      if ((counted[index]?.[0]?.ids as number) <= idsMax) continue;
      const ids = await this.#session.execute(REMOVE_OLDEST_PARKED, [provider, provider, idsKept]);
      if (ids > 0) removed.set(provider, ids);
    }
    return removed;
  }

  async sweep(now: number, limit: number): Promise<number> {
    return this.#session.execute(
      `DELETE FROM submissions WHERE (channel, provider_message_id) IN (
         SELECT channel, provider_message_id FROM submissions
         WHERE expires_at <= ? ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
      [now, limit],
    );
  }
}

function keyOf({ channel, providerMessageId }: ProviderMessageId): RowOf<keyof typeof KEY> {
  return { channel, provider_message_id: providerMessageId };
}

/** No channel has a space in its name. */
function nameOf({ channel, providerMessageId }: ProviderMessageId): string {
  return `${channel} ${providerMessageId}`;
}

function attemptIn(row: Row | undefined): AttemptRef | null {
  if (row === undefined || row.sms_id === null) return null;
  return { smsId: row.sms_id as string, attemptNumber: row.attempt_number as number };
}

function parkedIn(row: Row | undefined): readonly ParkedReceipt[] {
  const parked = (row?.parked_receipts ?? null) as string | null;
  if (parked === null) return [];
  const stored = JSON.parse(parked) as readonly (DeliveryReceipt & Pick<ParkedReceipt, 'attempt'>)[];
  return stored.map(({ attempt, ...receipt }) => ({ receipt, attempt }));
}

/** The first receipt of each kind, in the order they came: a provider that repeats itself fills nothing. */
function oneOfEachKind(parked: readonly ParkedReceipt[]): readonly ParkedReceipt[] {
  const kinds = new Map<DeliveryReceipt['kind'], ParkedReceipt>();
  for (const each of parked) if (!kinds.has(each.receipt.kind)) kinds.set(each.receipt.kind, each);
  return [...kinds.values()];
}
