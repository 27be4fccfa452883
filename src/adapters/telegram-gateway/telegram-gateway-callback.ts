import { createHash } from 'node:crypto';
import { millisecondsInDay, millisecondsInMinute, millisecondsInSecond } from 'date-fns/constants';
import type { Clock } from '../../application/ports/clock.ts';
import type {
  CallbackContent,
  CallbackRequest,
  ProviderCallback,
} from '../../application/ports/provider-callback.ts';
import type { ProviderEvent } from '../../application/ports/provider-events.ts';
import { parseAttemptName } from '../../domain/chain/attempt-name.ts';
import type { DeliveryReceipt } from '../../domain/providers/delivery-receipt.ts';
import { limitedJsonOf } from '../../domain/shared/json-text.ts';
import { equalDigests, type Hmac, type HmacKey } from '../../domain/webhooks/signer.ts';
import { type ReportedRequest, reportedRequest } from './request-status.ts';

/**
 * The oldest report that is read, in milliseconds. Telegram repeats a report up to ten times with growing delays and does not
 * say whether the timestamp changes, so the bound outlasts a long downtime. A report that comes again changes nothing.
 */
export const REPORT_AGE_MAX_MS = millisecondsInDay;

/** How far ahead of this service the clock of Telegram may be, in milliseconds. */
export const REPORT_AHEAD_MAX_MS = 5 * millisecondsInMinute;

const TIMESTAMP_PATTERN = /^[0-9]{1,11}$/;
const SIGNATURE_PATTERN = /^[0-9a-f]{64}$/i;

interface TelegramCallbackOptions {
  readonly token: string;
  readonly hmac: Hmac;
  readonly clock: Clock;
}

/** Reads the delivery reports of the Telegram Gateway. A report is signed with the token of the account. */
export class TelegramGatewayCallback implements ProviderCallback {
  readonly #key: HmacKey;
  readonly #hmac: Hmac;
  readonly #clock: Clock;

  constructor({ token, hmac, clock }: TelegramCallbackOptions) {
    this.#key = { text: createHash('sha256').update(token).digest('base64'), encoding: 'base64' };
    this.#hmac = hmac;
    this.#clock = clock;
  }

  async read(request: CallbackRequest): Promise<CallbackContent> {
    if (!this.#isGenuine(request)) return { kind: 'forged' };
    const report = limitedJsonOf(request.body.toString('utf8'));
    if (report === undefined) return { kind: 'unreadable', problem: 'The report is no JSON' };
    const read = reportedRequest.safeParse(report).data;
    return read === undefined
      ? { kind: 'events', events: [], malformed: 1 }
      : { kind: 'events', events: eventsOf(read), malformed: 0 };
  }

  #isGenuine({ method, headers, body }: CallbackRequest): boolean {
    const timestamp = headers['x-request-timestamp'];
    const signature = headers['x-request-signature'];
    if (method !== 'POST' || typeof timestamp !== 'string' || typeof signature !== 'string') return false;
    if (!TIMESTAMP_PATTERN.test(timestamp) || !SIGNATURE_PATTERN.test(signature)) return false;
    const expected = this.#hmac(this.#key, [`${timestamp}\n`, body], 'hex');
    if (!equalDigests(expected, signature.toLowerCase())) return false;
    const ageMs = this.#clock.now() - Number(timestamp) * millisecondsInSecond;
    return ageMs <= REPORT_AGE_MAX_MS && ageMs >= -REPORT_AHEAD_MAX_MS;
  }
}

/** A report without a delivery status is about the verification: that one is ours, not Telegram's. */
function eventsOf(report: ReportedRequest): readonly ProviderEvent[] {
  const { request_id: providerMessageId, delivery_status, is_refunded, payload = '' } = report;
  if (delivery_status === undefined || delivery_status === null) return [];
  const receipt = receiptOf(delivery_status.status, is_refunded === true);
  const attempt = parseAttemptName(payload);
  return [{ kind: 'receipt', receipt: { channel: 'telegram', providerMessageId, receipt, attempt } }];
}

type DeliveryStatus = NonNullable<ReportedRequest['delivery_status']>['status'];

function receiptOf(status: DeliveryStatus, isRefunded: boolean): DeliveryReceipt {
  const refund = isRefunded ? ', the fee was refunded' : '';
  switch (status) {
    case 'sent':
    case 'delivered':
    case 'read':
      return { kind: status };
    case 'expired':
      return { kind: 'failed', reason: `The message expired on Telegram before it was delivered${refund}` };
    case 'revoked':
      return { kind: 'failed', reason: `The message was revoked on Telegram${refund}` };
    default:
      return status satisfies never;
  }
}
