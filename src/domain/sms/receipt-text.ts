import type { DeliveryReceipt } from '../providers/delivery-receipt.ts';
import { type MessageIdForms, receiptMessageId } from './message-id-forms.ts';
import { receiptFields } from './receipt-fields.ts';

/** What an SMSC sends as a delivery receipt: the text of a `deliver_sm`, and two optional parameters beside it. */
export interface SmppReceipt {
  /** As ASCII or Latin 1. */
  readonly text: string;
  /** The parameter `receipted_message_id`, or null without it. */
  readonly receiptedMessageId: string | null;
  /** The parameter `message_state`, or null without it. */
  readonly messageState: number | null;
}

/** No receipt of an SMSC is longer, in characters: the rest is not read. */
export const RECEIPT_TEXT_CHARACTERS_MAX = 1_000;

/** The longest error code that is shown, in characters. */
const RECEIPT_ERROR_CHARACTERS_MAX = 10;

/** The states of SMPP 3.4 in the order of their numbers, from 1, and one that SMSCs add in texts. */
const STATES = [
  'ENROUTE',
  'DELIVERED',
  'EXPIRED',
  'DELETED',
  'UNDELIVERABLE',
  'ACCEPTED',
  'UNKNOWN',
  'REJECTED',
] as const;
type State = (typeof STATES)[number] | 'FAILED';

/** How texts write the states: seven letters by SMPP, more or fewer in practice. A delivery is never guessed. */
const STATE_WORDS: readonly (readonly [RegExp, State])[] = [
  [/^(?:DELIV(?:E?R?E?D)?|DLVRD)$/i, 'DELIVERED'],
  [/^UND(?:EL|LV)/i, 'UNDELIVERABLE'],
  [/^EXPIR/i, 'EXPIRED'],
  [/^DELET/i, 'DELETED'],
  [/^REJ/i, 'REJECTED'],
  [/^FAIL/i, 'FAILED'],
  [/^ACCE?P/i, 'ACCEPTED'],
  [/^EN[_-]?ROUT/i, 'ENROUTE'],
  [/^UNKN/i, 'UNKNOWN'],
];

/**
 * Reads a delivery receipt in the dialects of SMSCs: fields in any order, in upper or lower case, with spaces, or missing.
 * The optional parameters come before the text. The id is canonical, see `canonicalMessageId`. A message that the SMSC still
 * has, or of which it knows nothing, is `sent`. A delivered message stays `delivered` with an error code. Null when there is no
 * id or no state that is known.
 */
export function readReceipt(
  given: SmppReceipt,
  forms: MessageIdForms,
): { readonly id: string; readonly receipt: DeliveryReceipt } | null {
  const fields = receiptFields(given.text.slice(0, RECEIPT_TEXT_CHARACTERS_MAX));
  const id = receiptMessageId({ parameter: given.receiptedMessageId, text: fields.id }, forms);
  const state = stateOfNumber(given.messageState) ?? stateOfWord(fields.state);
  if (id === null || state === null) return null;
  return { id, receipt: receiptOf(state, fields.error) };
}

function receiptOf(state: State, error: string | null): DeliveryReceipt {
  switch (state) {
    case 'DELIVERED':
      return { kind: 'delivered' };
    case 'ENROUTE':
    case 'ACCEPTED':
    case 'UNKNOWN':
      return { kind: 'sent' };
    case 'EXPIRED':
    case 'DELETED':
    case 'UNDELIVERABLE':
    case 'REJECTED':
    case 'FAILED':
      return { kind: 'failed', reason: `The SMSC reports ${state}${errorOf(error)}` };
    default:
      return state satisfies never;
  }
}

/** Zeros are no error. */
function errorOf(error: string | null): string {
  const code = wordOf(error).slice(0, RECEIPT_ERROR_CHARACTERS_MAX);
  return /^0*$/.test(code) ? '' : ` with error ${code}`;
}

function stateOfNumber(number: number | null): State | null {
  return STATES[(number ?? 0) - 1] ?? null;
}

function stateOfWord(written: string | null): State | null {
  const word = wordOf(written);
  return stateOfNumber(Number(word)) ?? STATE_WORDS.find(([pattern]) => pattern.test(word))?.[1] ?? null;
}

/** The word that a field begins with, or an empty one. */
function wordOf(written: string | null): string {
  return written === null ? '' : written.slice(0, written.search(/[^\w-]|$/));
}
