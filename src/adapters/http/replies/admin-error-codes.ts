import { millisecondsInDay, millisecondsInSecond } from 'date-fns/constants';
import { PRICE_MISTAKES_MAX } from '../../../application/operators/prices/price-mistakes.ts';
import { WORKING_KEYS_MAX } from '../../../domain/access/project-key.ts';
import { SCHEDULED_VERSIONS_MAX, WITHDRAWAL_NOTICE_MS } from '../../../domain/billing/price-version.ts';
import { SENDER_IDS_PER_PROJECT_MAX } from '../../../domain/senders/managed-sender-id.ts';
import { WEBHOOK_LOG_LIFETIME_MS } from '../../../domain/webhooks/retry-schedule.ts';
import { ERROR_CODE_MEANINGS, type ErrorCode } from './error-codes.ts';

/** What X-Error-Code can hold in the admin interface only, by status. The table of docs/admin.md says the same. */
const MEANINGS = {
  'project-not-found': 'no project has this id or slug',
  'key-not-found': 'no key of the project has this id',
  'slug-taken': 'another project has this slug',
  'project-archived': 'a new key or sender ID for an archived project',
  'project-not-dev': 'listening to the webhooks of a live project',
  'key-not-working': 'a rotation of a key that is revoked or has ended',
  'too-many-keys': `the project has ${WORKING_KEYS_MAX} keys that work`,
  'balance-below-holds': 'a correction that leaves less than is held',
  'balance-too-large': 'a balance of more than a trillion IQD above or below zero',
  'job-not-droppable': 'a job of the slice ends something that would stay open for ever',
  'unknown-sender-id': 'the project has no sender ID of this id or name',
  'sender-id-taken': 'the project has a sender ID of this name',
  'too-many-sender-ids': `the project has ${SENDER_IDS_PER_PROJECT_MAX} sender IDs`,
  'phone-number-not-found': 'no whatsapp number of the project has this id',
  'inbound-webhook-not-found': 'the number has no inbound webhook of this project',
  'inbound-webhook-exists': 'the number has an inbound webhook',
  'secret-in-rotation': 'a rotation with an overlap while the overlap of an earlier one goes on',
  'webhook-event-not-found': `no webhook event of the last ${WEBHOOK_LOG_LIFETIME_MS / millisecondsInDay} days has this id`,
  'webhook-event-not-resendable': 'it was delivered, is due, has left the log or was replaced by a newer one',
  'webhook-event-without-webhook': 'the number of an inbound event has no inbound webhook of this project',
  'circuit-not-open': 'the circuit of the destination is closed',
  'invalid-prices': `the file of an import has mistakes; \`errors\` has up to ${PRICE_MISTAKES_MAX} with line and field`,
  'incomplete-prices': 'the first import of an installation without `sms`, `whatsapp` and `telegram`',
  'effective-from-past': 'prices that are to be in force from an instant that is not in the future',
  'too-many-scheduled-prices': `${SCHEDULED_VERSIONS_MAX} versions are not in force yet`,
  'preview-outdated': 'an import or the prices in force differ from what the preview said',
  'unknown-price-version': 'no version of the price list has this id',
  'prices-in-force': `a withdrawal of a version that is, or was, in force, or is within ${WITHDRAWAL_NOTICE_MS / millisecondsInSecond} seconds`,
  'whatsapp-resource-in-use':
    'a tree without a resource that a campaign, an inbound webhook or a message uses',
} as const;

/** The codes of the customers' interface that an operator can get too. */
const SHARED = [
  'validation-failed',
  'malformed-json',
  'invalid-encoding',
  'nested-too-deep',
  'invalid-idempotency-key',
  'unknown-fields',
  'malformed-request',
  'unauthorized',
  'not-found',
  'message-not-found',
  'method-not-allowed',
  'request-timeout',
  'idempotency-conflict',
  'webhook-url-refused',
  'body-too-large',
  'unsupported-media-type',
  'expectation-failed',
  'headers-too-large',
  'internal-error',
  'overloaded',
] as const satisfies readonly ErrorCode[];

export type AdminErrorCode = keyof typeof MEANINGS;

/** The codes that the admin interface adds. */
export const ADMIN_ONLY_ERROR_CODE_MEANINGS: Readonly<Record<AdminErrorCode, string>> = MEANINGS;

/** Every code of the admin interface with its meaning. */
export const ADMIN_ERROR_CODE_MEANINGS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(SHARED.map((code) => [code, ERROR_CODE_MEANINGS[code]])),
  'body-too-large': 'the body has more bytes than its path allows',
  ...MEANINGS,
};
