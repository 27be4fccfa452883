import { millisecondsInSecond, secondsInDay, secondsInHour, secondsInMinute } from 'date-fns/constants';
import type { Submission } from '../../application/ports/channel-provider.ts';
import { smsPartsOf } from '../../domain/sms/sms-parts.ts';
import type { SubmitFields } from './pdu-writer.ts';

/** A type of number and a numbering plan of SMPP. */
export interface AddressKind {
  readonly ton: number;
  readonly npi: number;
}

export interface SubmitSettings {
  /** The sender ID of a message that names none; null leaves it to the SMSC. */
  readonly defaultSenderId: string | null;
  /** Null takes it from the sender ID. */
  readonly source: AddressKind | null;
  readonly destination: AddressKind;
  /** The `data_coding` of a text in the alphabet of GSM. */
  readonly dataCodingGsm: number;
}

const ALPHANUMERIC: AddressKind = { ton: 5, npi: 0 };
const INTERNATIONAL: AddressKind = { ton: 1, npi: 1 };
const SHORT_CODE: AddressKind = { ton: 3, npi: 0 };
const UNKNOWN: AddressKind = { ton: 0, npi: 0 };

/** A number with fewer digits is a short code. */
const INTERNATIONAL_DIGITS_MIN = 10;
/** SMPP has 20 octets for an address. */
const SENDER_ID_PATTERN = /^[\x20-\x7e]{1,20}$/;

const DATA_CODING_UCS2 = 8;
const ESM_CLASS_HEADER = 0x40;
const NO_HEADER: readonly number[] = [];
/** A receipt of the final state, of success and of failure. */
const REGISTERED_DELIVERY = 1;

/** A month has no fixed length in SMPP, so a longer time is cut to this. */
const VALIDITY_DAYS_MAX = 30;

/** A sender ID that SMPP can carry: 1 to 20 printable characters of ASCII. */
export function isSenderIdOfSmpp(senderId: string): boolean {
  return SENDER_ID_PATTERN.test(senderId);
}

/** Whether SMPP can carry the sender ID of a message. None is left to the SMSC. */
export function hasSenderOfSmpp(submission: Submission, settings: SubmitSettings): boolean {
  const senderId = senderIdOf(submission, settings);
  return senderId === '' || isSenderIdOfSmpp(senderId);
}

/**
 * The `submit_sm` of each part of a message that `hasSenderOfSmpp`. `reference` ties the parts together, 0 to 255; it is called
 * for a message of several parts only.
 */
export function submitFieldsOf(
  submission: Submission,
  settings: SubmitSettings,
  reference: () => number,
): readonly SubmitFields[] {
  const senderId = senderIdOf(submission, settings);
  const source = settings.source ?? sourceKindOf(senderId);
  const { encoding, parts } = smsPartsOf(submission.text);
  const isLong = parts.length > 1;
  const number = isLong ? reference() : 0;
  return parts.map((part, index) => ({
    source_addr_ton: source.ton,
    source_addr_npi: source.npi,
    source_addr: /^\+[0-9]+$/.test(senderId) ? senderId.slice(1) : senderId,
    dest_addr_ton: settings.destination.ton,
    dest_addr_npi: settings.destination.npi,
    destination_addr: submission.phoneNumber,
    esm_class: isLong ? ESM_CLASS_HEADER : 0,
    validity_period: validityPeriod(submission.attemptTimeoutMs),
    registered_delivery: REGISTERED_DELIVERY,
    data_coding: encoding === 'gsm7' ? settings.dataCodingGsm : DATA_CODING_UCS2,
    short_message: {
      header: isLong ? [5, 0, 3, number, parts.length, index + 1] : NO_HEADER,
      encoding,
      text: part,
    },
  }));
}

function senderIdOf({ senderId }: Submission, { defaultSenderId }: SubmitSettings): string {
  return senderId ?? defaultSenderId ?? '';
}

function sourceKindOf(senderId: string): AddressKind {
  if (senderId === '') return UNKNOWN;
  const digits = /^\+?([0-9]+)$/.exec(senderId)?.[1];
  if (digits === undefined) return ALPHANUMERIC;
  return digits.length < INTERNATIONAL_DIGITS_MIN ? SHORT_CODE : INTERNATIONAL;
}

/** The relative time of SMPP, `YYMMDDhhmmss000R`: it needs no clock that the SMSC shares. Rounded down, and at least a second. */
export function validityPeriod(ms: number): string {
  const seconds = Math.min(
    Math.max(1, Math.floor(ms / millisecondsInSecond)),
    VALIDITY_DAYS_MAX * secondsInDay,
  );
  const days = Math.floor(seconds / secondsInDay);
  const hours = Math.floor((seconds % secondsInDay) / secondsInHour);
  const minutes = Math.floor((seconds % secondsInHour) / secondsInMinute);
  // Two digits of each, behind those of years and months.
  const digits = ((days * 100 + hours) * 100 + minutes) * 100 + (seconds % secondsInMinute);
  return `${String(digits).padStart(12, '0')}000R`;
}
