import { rejectedAs, type SubmitResult } from '../../domain/providers/submit-result.ts';
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

/** The result of one part that the SMSC responded to with a status. */
export function resultOfStatus(status: number): SubmitResult {
  if (status === ESME_ROK) return { kind: 'accepted', providerMessageIds: [] };
  const { class: about, reason } = smppStatus(status);
  return rejectedAs(about, reason);
}
