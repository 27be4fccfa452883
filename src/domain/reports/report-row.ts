import { isRefunded } from '../billing/settlement.ts';
import type { Message } from '../messages/message.ts';
import type { Content } from '../messages/send-request.ts';
import { isoOf } from '../shared/instant.ts';
import { toIqd } from '../shared/money.ts';
import { canonicalPhoneNumber, type PhoneNumber } from '../shared/phone-number.ts';
import type { ReportFilters } from './report.ts';

/** What a report says about a message. */
export interface ReportedMessage
  extends Pick<
    Message,
    | 'smsId'
    | 'campaignId'
    | 'phoneNumber'
    | 'phoneNumberAsSent'
    | 'senderId'
    | 'status'
    | 'isFinal'
    | 'cost'
    | 'createdAt'
    | 'sentAt'
    | 'errorReason'
  > {
  readonly smsType: Content['smsType'];
}

const MESSAGE_TYPES: Readonly<Record<Content['smsType'], string>> = {
  verification: 'OTP',
  custom: 'Custom',
  'whatsapp-template': 'WhatsApp Template',
};
/** What a newer version may have stored. */
const OTHER_TYPE = 'Other';
const NO_SENDER_ID = 'System';

/** The columns of specification 2.4, in their order. */
const COLUMNS: readonly { readonly name: string; readonly cell: (message: ReportedMessage) => string }[] = [
  { name: 'Message ID', cell: ({ smsId }) => smsId },
  { name: 'Phone Number', cell: ({ phoneNumberAsSent }) => phoneNumberAsSent },
  { name: 'Sender ID', cell: ({ senderId }) => senderId ?? NO_SENDER_ID },
  { name: 'Cost (IQD)', cell: ({ cost }) => String(toIqd(cost)) },
  { name: 'Message Type', cell: ({ smsType }) => MESSAGE_TYPES[smsType] ?? OTHER_TYPE },
  { name: 'Delivery Status', cell: ({ status }) => status },
  { name: 'Error Reason', cell: ({ errorReason }) => errorReason ?? '' },
  { name: 'Refunded', cell: (message) => (isRefunded(message) ? 'Yes' : 'No') },
  { name: 'Created At', cell: ({ createdAt }) => isoOf(createdAt) },
  { name: 'Sent At', cell: ({ sentAt }) => (sentAt === null ? '' : isoOf(sentAt)) },
];

/** The first row of a report. */
export const REPORT_HEADER: readonly string[] = COLUMNS.map(({ name }) => name);

/** The row of a message. */
export function reportRow(message: ReportedMessage): readonly string[] {
  return COLUMNS.map(({ cell }) => cell(message));
}

/** Whether a message that was created in time is in the report: digits are compared, in every spelling of a number. */
export function matcherOf({
  phoneNumbers,
  statuses,
}: ReportFilters): (message: Pick<ReportedMessage, 'phoneNumber' | 'status'>) => boolean {
  const numbers = new Set<string>(phoneNumbers.map(canonicalOf));
  const wanted = new Set<string>(statuses);
  return ({ phoneNumber, status }) =>
    (numbers.size === 0 || numbers.has(phoneNumber)) && (wanted.size === 0 || wanted.has(status));
}

function canonicalOf(given: string): string {
  return canonicalPhoneNumber(given.replace(/^\+/, '') as PhoneNumber);
}
