import { ESME_RMSGQFUL, ESME_ROK, ESME_RTHROTTLED, type IncomingPdu, isNack } from './pdu.ts';

/**
 * What became of a `submit_sm`. `lost`: the connection ended before a response, or the response makes no sense: the SMSC may
 * have taken it.
 */
export type SubmitReply =
  | { readonly kind: 'response'; readonly status: number; readonly messageId: string }
  | { readonly kind: 'lost'; readonly reason: string };

/** Null stands for a session that ended first. */
export function replyOf(response: IncomingPdu | null): SubmitReply {
  if (response === null)
    return { kind: 'lost', reason: 'The connection to the SMSC ended before its response' };
  const { status, messageId } = response;
  if (status === ESME_ROK && isNack(response)) {
    return { kind: 'lost', reason: 'The SMSC sent a generic_nack without a reason' };
  }
  return { kind: 'response', status, messageId };
}

/** Whether the SMSC asks for fewer messages. */
export function isThrottled(status: number): boolean {
  return status === ESME_RTHROTTLED || status === ESME_RMSGQFUL;
}
