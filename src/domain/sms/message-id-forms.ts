/** How an SMSC writes its message ids. */
export const MESSAGE_ID_FORMS = ['as-is', 'hex', 'decimal'] as const;
export type MessageIdForm = (typeof MESSAGE_ID_FORMS)[number];

/**
 * How one SMSC writes the same id in its two places: in submit responses and in the text of delivery receipts. Settings of a
 * provider. `as-is` for both unless they are two notations of one number, then each says which. Ids that differ in case or in
 * leading zeros are different ids `as-is`.
 */
export interface MessageIdForms {
  readonly submitIds: MessageIdForm;
  readonly receiptIds: MessageIdForm;
}

/** The ids in one delivery receipt; null for a place that has none. */
export interface ReceiptIds {
  /** The parameter `receipted_message_id`. */
  readonly parameter: string | null;
  /** The field `id` of the text. */
  readonly text: string | null;
}

/** The longest id of SMPP, in characters, with the zero at its end. */
const MESSAGE_ID_CHARACTERS_MAX = 65;

/** An id as nearly every SMSC writes it. */
const WITHOUT_SPACES = new RegExp(`^[!-~]{1,${MESSAGE_ID_CHARACTERS_MAX}}$`);
const PRINTABLE = new RegExp(`^[ -~]{1,${MESSAGE_ID_CHARACTERS_MAX}}$`);
const HEX = /^(?:0x)?([0-9a-f]+)$/i;
const LEADING_ZEROS = /^0+(?=.)/;

/**
 * The one spelling of an id, for the id of a submit response and of its receipts alike. `as-is` it stays as it is written. In the
 * other forms a number in `hex` becomes decimal, any other id becomes lower case, and leading zeros are left out. Null for an id
 * that is empty, longer than `MESSAGE_ID_CHARACTERS_MAX`, or not of printable ASCII.
 */
export function canonicalMessageId(id: string, form: MessageIdForm): string | null {
  const written = WITHOUT_SPACES.test(id) ? id : trimmed(id);
  if (!PRINTABLE.test(written)) return null;
  if (form === 'as-is') return written;
  const digits = form === 'hex' ? HEX.exec(written)?.[1] : undefined;
  return digits === undefined
    ? written.toLowerCase().replace(LEADING_ZEROS, '')
    : BigInt(`0x${digits}`).toString();
}

/**
 * The canonical id that a receipt is about, or null when it names none. The parameter comes before the text. By SMPP it repeats
 * the submit response, so it is read in that form; some SMSCs write it as in the text, which shows when both are equal.
 */
export function receiptMessageId(ids: ReceiptIds, forms: MessageIdForms): string | null {
  const inText = ids.text === null ? null : canonicalMessageId(ids.text, forms.receiptIds);
  if (ids.parameter === null) return inText;
  const isAsInText = canonicalMessageId(ids.parameter, forms.receiptIds) === inText;
  return isAsInText ? inText : (canonicalMessageId(ids.parameter, forms.submitIds) ?? inText);
}

/** Without spaces around it, and without the zero that ends a string of SMPP. */
function trimmed(id: string): string {
  return id.replaceAll('\0', '').trim();
}
