import { type MessageIdForms, receiptMessageId } from './message-id-forms.ts';

/** What an SMSC sends as a delivery receipt: the text of a `deliver_sm`, and two optional parameters beside it. */
export interface SmppReceipt {
  /** As ASCII or Latin 1. */
  readonly text: string;
  /** The parameter `receipted_message_id`, or null without it. */
  readonly receiptedMessageId: string | null;
  /** The parameter `message_state`, or null without it. */
  readonly messageState: number | null;
}

/** A delivery receipt as a fallback chain is told of it. */
export type SmsReceipt =
  | { readonly kind: 'sent' }
  | { readonly kind: 'delivered' }
  | { readonly kind: 'failed'; readonly reason: string };

/** No receipt of an SMSC is longer, in characters: the rest is not read. */
export const RECEIPT_TEXT_CHARACTERS_MAX = 1_000;

/** The longest error code that is shown, in characters. */
export const RECEIPT_ERROR_CHARACTERS_MAX = 10;

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

/** The fields of a receipt's text that end the field before them; the groups name those that are read. */
const LABEL =
  /(?<![\w-])(?:(?<id>(?:message[ _-]?|msg[ _-]?)?id)|(?<state>stat(?:e|us)?|message[ _-]?state)|(?<error>err(?:or)?(?:[ _-]?code)?)|(?<text>te?xt)|sub|dlvrd|submit[ _-]?date|done[ _-]?date)\s*[:=]/gi;

/** The fields that are read, as they are written. */
interface Fields {
  readonly id: string | null;
  readonly state: string | null;
  readonly error: string | null;
}

/**
 * Reads a delivery receipt in the dialects of SMSCs: fields in any order, in upper or lower case, with spaces, or missing.
 * The optional parameters come before the text. The id is canonical, see `canonicalMessageId`. A message that the SMSC still
 * has, or of which it knows nothing, is `sent`. A delivered message stays `delivered` with an error code. Null when there is no
 * id or no state that is known.
 */
export function readReceipt(
  given: SmppReceipt,
  forms: MessageIdForms,
): { readonly id: string; readonly receipt: SmsReceipt } | null {
  const fields = fieldsOf(given.text.slice(0, RECEIPT_TEXT_CHARACTERS_MAX));
  const id = receiptMessageId({ parameter: given.receiptedMessageId, text: fields.id }, forms);
  const state = stateOfNumber(given.messageState) ?? stateOfWord(fields.state);
  if (id === null || state === null) return null;
  return { id, receipt: receiptOf(state, fields.error) };
}

function receiptOf(state: State, error: string | null): SmsReceipt {
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
  const code = /^[\w-]+/.exec(error ?? '')?.[0].slice(0, RECEIPT_ERROR_CHARACTERS_MAX) ?? '';
  return /^0*$/.test(code) ? '' : ` with error ${code}`;
}

function stateOfNumber(number: number | null): State | null {
  return number === null ? null : (STATES[number - 1] ?? null);
}

function stateOfWord(written: string | null): State | null {
  const word = /^[\w-]+/.exec(written ?? '')?.[0] ?? '';
  if (/^\d+$/.test(word)) return stateOfNumber(Number(word));
  return STATE_WORDS.find(([pattern]) => pattern.test(word))?.[1] ?? null;
}

/**
 * The last field of each name. What follows `text:` begins the message itself, and a customer may write `stat:` there: it is
 * not read, unless `text:` is the first field.
 */
function fieldsOf(text: string): Fields {
  const labels = [...text.matchAll(LABEL)];
  const textAt = labels.findIndex(({ groups }) => groups?.text !== undefined);
  const end = textAt > 0 ? textAt : labels.length;
  const fields: { id: string | null; state: string | null; error: string | null } = {
    id: null,
    state: null,
    error: null,
  };
  for (const [index, { 0: label, index: at, groups }] of labels.slice(0, end).entries()) {
    const written = text.slice(at + label.length, labels[index + 1]?.index).trim();
    const value = /^[^\s,;|]+/.exec(written)?.[0] ?? null;
    if (groups?.id !== undefined) fields.id = value;
    else if (groups?.state !== undefined) fields.state = value;
    else if (groups?.error !== undefined) fields.error = value;
  }
  return fields;
}
