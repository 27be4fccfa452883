import { smppStatus } from '../../domain/sms/smpp-status.ts';
import { ESME_ROK, type IncomingPdu, isNack } from './pdu.ts';

/**
 * What became of a `submit_sm`. `lost`: the connection ended before a response, or the response makes no sense: the SMSC may
 * have taken it.
 */
export type SubmitResponse =
  | { readonly kind: 'responded'; readonly status: number; readonly messageId: string }
  | { readonly kind: 'lost'; readonly reason: string };

/** Null stands for a session that ended first. */
export function submitResponseOf(pdu: IncomingPdu | null): SubmitResponse {
  if (pdu === null) return { kind: 'lost', reason: 'The connection to the SMSC ended before its response' };
  const { status, messageId } = pdu;
  if (status === ESME_ROK && isNack(pdu)) {
    return { kind: 'lost', reason: 'The SMSC sent a generic_nack without a reason' };
  }
  return { kind: 'responded', status, messageId };
}

/** Whether the SMSC took the message, also to say that something is wrong with it. */
export function isTaken(status: number): boolean {
  return status === ESME_ROK || !['busy', 'throttled'].includes(smppStatus(status).class);
}

/** Whether the SMSC asks for fewer messages. */
export function isThrottled(status: number): boolean {
  return status !== ESME_ROK && smppStatus(status).class === 'throttled';
}
