import type { Recipient } from '../campaigns/recipient.ts';
import { ERASED_NUMBER, type PhoneNumber } from '../shared/phone-number.ts';

/** One letter for each digit: no search for a part of a number finds it. */
const LETTERS = 'ghijklmnop';

/** The recipient without number, parameters and reason. Status, times and money stay, and so do the sums of its campaign. */
export function anonymisedRecipient(recipient: Recipient): Recipient {
  return {
    ...recipient,
    phoneNumber: uniqueIn(recipient.id),
    phoneNumberAsSent: ERASED_NUMBER,
    templateParameters: {},
    errorMessage: null,
  };
}

/** A campaign has each number once, so each of its recipients keeps something of its own in place of it. */
function uniqueIn(id: string): PhoneNumber {
  return id.replace(/[0-9]/g, (digit) => LETTERS[Number(digit)] ?? '') as PhoneNumber;
}
