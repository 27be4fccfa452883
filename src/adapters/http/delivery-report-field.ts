import { z } from 'zod';
import {
  DELIVERY_REPORT_TYPES,
  WEBHOOK_SECRET_CHARACTERS_MAX,
  WEBHOOK_SECRET_PATTERN,
} from '../../domain/messages/send-request.ts';
import { WEBHOOK_URL_CHARACTERS_MAX } from './limits.ts';
import { isClean } from './text-fields.ts';

/** The lax WHATWG parser mends much; only what is plainly an https address may reach it. */
const HTTPS_URL_PATTERN = /^https:\/\/[^\s\\/?#@]+(?:[/?#][^\s\\]*)?$/i;

const SECRET_ERROR = `deliveryReport.webhookSecret must be 1 to ${WEBHOOK_SECRET_CHARACTERS_MAX} letters, digits or signs of a header token`;

/** Specification 6.1. The address comes out in its parsed form, which is the only one used later. */
export const deliveryReportField = z.object(
  {
    webhookUrl: z
      .string({ error: 'deliveryReport.webhookUrl is required and must be a string' })
      .refine((text) => text.length <= WEBHOOK_URL_CHARACTERS_MAX, {
        error: `deliveryReport.webhookUrl must be at most ${WEBHOOK_URL_CHARACTERS_MAX} characters long`,
      })
      .refine((text) => parseHttpsUrl(text) !== null, {
        error: 'deliveryReport.webhookUrl must be an https address without user name or white space',
      })
      .meta({ format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]://', maxLength: WEBHOOK_URL_CHARACTERS_MAX }),
    deliveryReportType: z
      .enum(DELIVERY_REPORT_TYPES, { error: 'deliveryReport.deliveryReportType must be all or final' })
      .default('all'),
    webhookSecret: z
      .string({ error: SECRET_ERROR })
      .min(1, { error: SECRET_ERROR })
      .max(WEBHOOK_SECRET_CHARACTERS_MAX, { error: SECRET_ERROR })
      .regex(WEBHOOK_SECRET_PATTERN, { error: SECRET_ERROR })
      .optional(),
  },
  { error: 'deliveryReport must be an object' },
);

/** The one reading of a webhook address; null when it is not a plain https address. */
export function parseHttpsUrl(text: string): URL | null {
  if (!HTTPS_URL_PATTERN.test(text) || !isClean(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'https:' && url.username === '' && url.password === '' ? url : null;
}
