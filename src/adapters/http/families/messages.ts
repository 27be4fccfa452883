import type { Socket } from 'node:net';
import { z } from 'zod';
import type { SendResult } from '../../../application/messages/send-batch.ts';
import { PAYMENT_TYPES } from '../../../domain/billing/account.ts';
import { channelFlow, lastChannel, type Message, SMS_ID_PATTERN } from '../../../domain/messages/message.ts';
import { MESSAGE_STATUSES } from '../../../domain/messages/message-status.ts';
import type { RequestOutcome } from '../../../domain/sandbox/sandbox-outcomes.ts';
import { requestOutcomeOf } from '../../../domain/sandbox/sandbox-send.ts';
import { CHANNELS } from '../../../domain/shared/channel.ts';
import { toIqd } from '../../../domain/shared/money.ts';
import { PHONE_NUMBER_PATTERN } from '../../../domain/shared/phone-number.ts';
import { errorReplyDoc, messageReplyDoc, RATE_LIMITED, SEND_REJECTED } from '../openapi/error-schemas.ts';
import { admitTo } from '../routing/admission.ts';
import type { Api } from '../routing/api.ts';
import { ClientDisconnected, ok } from '../routing/http-reply.ts';
import { IDEMPOTENCY_KEY_HEADER, idempotencyOf } from '../routing/idempotency.ts';
import { type Route, route } from '../routing/route.ts';
import { sendBody, toSendRequest } from './send-body.ts';

const smsId = z.string().regex(SMS_ID_PATTERN);
const REPLAYED = ['Idempotency-Replayed', 'true'];

const receipt = z.object({
  message: z.string(),
  smsId,
  remainingCredit: z.number().min(0),
  cost: z.number().min(0),
  canCover: z.boolean(),
  paymentType: z.enum(PAYMENT_TYPES),
});

const trackedMessage = z.object({
  smsId,
  phoneNumber: z.string().regex(PHONE_NUMBER_PATTERN),
  status: z.enum(MESSAGE_STATUSES),
  cost: z.number().min(0),
  isFinalStatus: z.boolean(),
  lastChannel: z.enum(CHANNELS),
  channelFlow: z.array(
    z.object({ channel: z.enum(CHANNELS), tried: z.boolean(), success: z.boolean().optional() }),
  ),
});

/** Resolves after so many milliseconds. */
export type Wait = (ms: number) => Promise<void>;

/** Specification 4.1 and 4.2: send one message, and track it. */
export function messageRoutes(api: Api, wait: Wait): readonly Route[] {
  const send = route({
    method: 'post',
    path: '/sms',
    operationId: 'sendMessage',
    summary: 'Send one message to one phone number',
    admit: admitTo('other', api),
    requestHeaders: [IDEMPOTENCY_KEY_HEADER],
    body: sendBody,
    ok: {
      description: 'The message is accepted; delivery is asynchronous',
      schema: receipt,
      headers: ['Idempotency-Replayed'],
    },
    rejections: {
      400: SEND_REJECTED,
      409: errorReplyDoc('The Idempotency-Key was used with another request'),
      429: RATE_LIMITED,
    },
    async handle({ project, body, rawBody, request }) {
      const send = toSendRequest(body);
      const outcome = requestOutcomeOf(project, send.phoneNumber);
      if (outcome?.kind === 'internal-error') throw new Error('This test number stands for a 500');
      const idempotency = idempotencyOf(request, rawBody);
      const accepted = await api.sendMessages.execute({ project, request: send, idempotency });
      if (outcome !== null && !accepted.replayed) await disturbReply(outcome, request.socket, wait);
      return ok(presentReceipt(accepted), accepted.replayed ? REPLAYED : undefined);
    },
  });

  const track = route({
    method: 'get',
    path: '/sms/track/:smsId',
    operationId: 'trackMessage',
    summary: 'Read the delivery status of a message',
    admit: admitTo('other', api),
    params: z.object({ smsId }),
    ok: { description: 'The message', schema: trackedMessage },
    rejections: { 404: messageReplyDoc('No message of the project has this id') },
    async handle({ project, params }) {
      return ok(presentMessage(await api.trackMessage.execute(project, params.smsId ?? '')));
    },
  });

  return [send, track];
}

/** What a test number does to the HTTP reply of an accepted send. */
async function disturbReply(outcome: RequestOutcome, socket: Socket, wait: Wait): Promise<void> {
  if (outcome.kind === 'slow-reply') await wait(outcome.delayMs);
  if (outcome.kind === 'cut-connection') {
    socket.destroy();
    throw new ClientDisconnected('the test number asked for it');
  }
}

function presentReceipt(accepted: SendResult): z.input<typeof receipt> {
  return {
    message: 'SMS task created successfully',
    smsId: accepted.smsId,
    remainingCredit: toIqd(accepted.remainingCredit),
    cost: toIqd(accepted.cost),
    canCover: accepted.canCover,
    paymentType: accepted.paymentType,
  };
}

function presentMessage(message: Message): z.input<typeof trackedMessage> {
  return {
    smsId: message.smsId,
    phoneNumber: message.phoneNumber,
    status: message.status,
    cost: toIqd(message.cost),
    isFinalStatus: message.isFinal,
    lastChannel: lastChannel(message),
    channelFlow: [...channelFlow(message)],
  };
}
