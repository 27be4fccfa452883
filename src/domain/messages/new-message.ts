import type { Project } from '../access/project.ts';
import type { Message } from './message.ts';
import type { SendAccepted } from './send-policy.ts';
import type { SendRequest } from './send-request.ts';

/** The message of a send that was accepted at `now`: pending, and not tried on any channel. */
export function newMessage(
  smsId: string,
  project: Project,
  request: SendRequest,
  { channels, cost, prices, attemptTimeoutMs }: Omit<SendAccepted, 'kind' | 'account'>,
  now: number,
): Message {
  return {
    smsId,
    projectId: project.id,
    campaignId: null,
    phoneNumber: request.phoneNumber,
    phoneNumberAsSent: request.phoneNumberAsSent,
    senderId: request.senderId,
    whatsappSender: request.whatsappSender,
    content: request.content,
    channels,
    attempts: [],
    status: 'pending',
    isFinal: false,
    cost,
    prices,
    settlement: project.settings.settlement,
    attemptTimeoutMs,
    deliveryReport: request.deliveryReport,
    createdAt: now,
    sentAt: null,
    finalAt: null,
    errorReason: null,
  };
}
