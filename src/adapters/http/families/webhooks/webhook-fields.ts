import { z } from 'zod';
import { isStorableLine } from '../../../../domain/shared/storable-text.ts';
import { hasStandardKey, STANDARD_SECRET_PREFIX } from '../../../../domain/webhooks/signer.ts';
import {
  WEBHOOK_SECRET_CHARACTERS_MAX,
  WEBHOOK_SECRET_PATTERN,
  WEBHOOK_URL_CHARACTERS_MAX,
} from '../../../../domain/webhooks/webhook-limits.ts';

const HTTPS_PATTERN = /^https:\/\//i;
/** The same for a JSON schema, which knows no flags. */
const HTTPS_SCHEMA_PATTERN = '^[Hh][Tt][Tt][Pp][Ss]://';

/** An address for webhooks. Whether they may go there is decided where they are posted, by one reading of it. */
export function webhookUrlField(name: string) {
  return z
    .string({ error: `${name} is required and must be a string` })
    .refine((text) => text.length <= WEBHOOK_URL_CHARACTERS_MAX, {
      error: `${name} must be at most ${WEBHOOK_URL_CHARACTERS_MAX} characters long`,
    })
    .refine((text) => HTTPS_PATTERN.test(text) && isStorableLine(text), {
      error: `${name} must begin with https:// and hold no control characters`,
    })
    .meta({
      format: 'uri',
      pattern: HTTPS_SCHEMA_PATTERN,
      maxLength: WEBHOOK_URL_CHARACTERS_MAX,
      description: 'An HTTPS address that webhooks are posted to',
    });
}

/** What signs webhooks, and comes back in a header of them. */
export function webhookSecretField(name: string) {
  const error = `${name} must be 1 to ${WEBHOOK_SECRET_CHARACTERS_MAX} letters, digits or signs of a header token`;
  return z
    .string({ error })
    .min(1, { error })
    .max(WEBHOOK_SECRET_CHARACTERS_MAX, { error })
    .regex(WEBHOOK_SECRET_PATTERN, { error })
    .refine(hasStandardKey, { error: `${name} must have a key in base64 behind ${STANDARD_SECRET_PREFIX}` });
}
