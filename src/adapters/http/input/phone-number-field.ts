import { z } from 'zod';
import { PHONE_NUMBER_PATTERN } from '../../../domain/shared/phone-number.ts';

const PHONE_ERROR =
  'Invalid phone number format: use the international format in digits only, for example 9647701234567';
const PHONE_MISSING = 'Invalid phone number: phoneNumber is required, for example 9647701234567';
const PHONE_TYPE_ERROR = 'Invalid phone number: phoneNumber must be a string, for example "9647701234567"';

/** The `phoneNumber` of a body or a query. */
export const phoneNumberField = z
  .string({ error: ({ input }) => (input === undefined ? PHONE_MISSING : PHONE_TYPE_ERROR) })
  .regex(PHONE_NUMBER_PATTERN, { error: PHONE_ERROR })
  .meta({
    description:
      '10 to 15 digits: international format without a plus. `00964770…`, `9640770…` and `0770…` are the same handset.',
    examples: ['9647701234567'],
  });
