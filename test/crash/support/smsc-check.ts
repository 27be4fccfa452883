import type { ChannelAttempt } from '../../../src/domain/messages/message.ts';
import type { TakenSubmit } from '../../support/library-smsc.ts';
import { Findings } from './findings.ts';
import type { SmscLog } from './smsc-log.ts';

/** Columns of a row of `messages`, as SQLite gives them. */
export interface SmsRow {
  readonly sms_id: string;
  /** No two messages go to the same number. */
  readonly phone_number: string;
  readonly status: string;
  /** JSON. */
  readonly attempts: string;
}

export interface SmscReport {
  readonly delivered: number;
  /** Messages that no SMSC took, as the service knows for certain. */
  readonly rejected: number;
  /** Messages of which the service does not know whether the SMSC took them. */
  readonly unknown: number;
  /** Those of them of which the SMSC took at least a part. */
  readonly unknownTaken: number;
  /** Parts that the SMSC took more than once. */
  readonly twice: number;
  /** What is wrong, in sentences. */
  readonly problems: readonly string[];
}

type Attempt = Pick<ChannelAttempt, 'state' | 'providerMessageIds'>;

const TWICE = 'submitted twice';

/** Compares final messages, each to a number of its own over sms alone, with what the SMSC wrote down. */
export function checkSmsc(
  messages: readonly SmsRow[],
  log: SmscLog,
  /** Stands before the ids of the SMSC. */
  provider: string,
): SmscReport {
  const found = new Findings();
  const takenOf = new Map<string, TakenSubmit[]>();
  for (const submit of log.taken) {
    takenOf.set(submit.destination, [...(takenOf.get(submit.destination) ?? []), submit]);
  }
  const stored = new Set(messages.map(({ phone_number }) => phone_number));
  for (const number of takenOf.keys()) if (!stored.has(number)) found.add('submitted, not stored', number);

  const counts = { delivered: 0, rejected: 0, unknown: 0, unknownTaken: 0 };
  for (const { sms_id: id, phone_number: number, status, attempts } of messages) {
    const taken = takenOf.get(number) ?? [];
    const [attempt] = JSON.parse(attempts) as readonly Attempt[];
    checkParts(id, taken, found);
    const ids = new Set(taken.map((each) => `${provider}:${each.id}`));
    if (attempt?.providerMessageIds.some((each) => !ids.has(each))) {
      found.add('has an id that the SMSC gave to none of its parts', id);
    }
    if (status === 'delivered') {
      counts.delivered += 1;
      if (!isWhole(taken)) found.add('delivered, not taken as a whole', id);
    } else if (status !== 'failed') {
      found.add('accepted, its receipt is lost', `${id} (${status})`);
    } else if (attempt?.state === 'rejected') {
      counts.rejected += 1;
      if (taken.length > 0) found.add('rejected, and taken all the same', id);
    } else {
      counts.unknown += 1;
      if (taken.length > 0) counts.unknownTaken += 1;
    }
  }
  return { ...counts, twice: found.count(TWICE), problems: found.sentences() };
}

function checkParts(id: string, taken: readonly TakenSubmit[], found: Findings): void {
  const seen = new Set<number>();
  for (const { part } of taken) {
    if (seen.has(part)) found.add(TWICE, `${id} part ${part}`);
    seen.add(part);
  }
}

function isWhole(taken: readonly TakenSubmit[]): boolean {
  return taken.length > 0 && new Set(taken.map(({ part }) => part)).size === taken[0]?.parts;
}
