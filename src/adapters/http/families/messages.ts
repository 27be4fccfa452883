import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { AddressRates } from '../../../application/access/address-rates.ts';
import type { AuthenticateProject } from '../../../application/access/authenticate-project.ts';
import type { SendResult } from '../../../application/messages/send-command.ts';
import type { SendMessages } from '../../../application/messages/send-messages.ts';
import type { TrackMessage } from '../../../application/messages/track-message.ts';
import { PAYMENT_TYPES } from '../../../domain/billing/account.ts';
import { channelFlow, lastChannel, type Message, SMS_ID_PATTERN } from '../../../domain/messages/message.ts';
import { MESSAGE_STATUSES } from '../../../domain/messages/message-status.ts';
import { CHANNELS } from '../../../domain/shared/channel.ts';
import { toIqd } from '../../../domain/shared/money.ts';
import { PHONE_NUMBER_PATTERN } from '../../../domain/shared/phone-number.ts';
import { projectKey } from '../routing/admission.ts';
import { usualEnvelope } from '../routing/http-error.ts';
import { ok } from '../routing/http-reply.ts';
import { IDEMPOTENCY_KEY_HEADER, idempotencyOf, REPLAYED } from '../routing/idempotency.ts';
import { type RouteFamily, route } from '../routing/route.ts';
import { RATE_LIMITED, SEND_REJECTED } from './message-errors.ts';
import { type Wait, withSandboxFaults } from './sandbox-faults.ts';
import { sendBody, toSendRequest } from './send-body.ts';

const smsId = z.string().regex(SMS_ID_PATTERN);
/** The route under which the idempotency keys of sends are stored. */
const SEND_ROUTE = 'POST /sms';

const sendResult = z.object({
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

export interface MessageUseCases {
  readonly authenticate: Pick<AuthenticateProject, 'execute'>;
  readonly addressRates: Pick<AddressRates, 'limit'>;
  readonly sendMessages: Pick<SendMessages, 'execute'>;
  readonly trackMessage: Pick<TrackMessage, 'execute'>;
}

/** Specification 4.1 and 4.2: send one message, and track it. `wait` is how a late reply waits. */
export function messageRoutes(
  { authenticate, addressRates, sendMessages, trackMessage }: MessageUseCases,
  wait: Wait = sleep,
): RouteFamily {
  const admission = projectKey(authenticate);

  const send = route({
    method: 'post',
    path: '/sms',
    operationId: 'sendMessage',
    summary: 'Send one message to one phone number',
    admission,
    requestHeaders: [IDEMPOTENCY_KEY_HEADER],
    body: sendBody,
    ok: {
      description: 'The message is accepted; delivery is asynchronous',
      schema: sendResult,
      headers: ['Idempotency-Replayed'],
    },
    rejections: {
      400: SEND_REJECTED,
      409: { description: 'The Idempotency-Key was used with another request' },
      429: RATE_LIMITED,
    },
    handle: withSandboxFaults(async ({ caller, body, json, request, network }) => {
      const command = {
        project: caller,
        request: toSendRequest(body),
        idempotency: idempotencyOf(SEND_ROUTE, request, json),
      };
      const accepted = await addressRates.limit(caller, network, () => sendMessages.execute(command));
      return ok(presentSendResult(accepted), accepted.replayed ? REPLAYED : undefined);
    }, wait),
  });

  const track = route({
    method: 'get',
    path: '/sms/track/:smsId',
    operationId: 'trackMessage',
    summary: 'Read the delivery status of a message',
    admission,
    params: z.object({ smsId }),
    ok: { description: 'The message', schema: trackedMessage },
    rejections: { 404: { description: 'No message of the project has this id' } },
    async handle({ caller, params }) {
      return ok(presentMessage(await trackMessage.execute(caller, params.smsId ?? '')));
    },
  });

  return { envelope: usualEnvelope, routes: [send, track] };
}

function presentSendResult(accepted: SendResult): z.input<typeof sendResult> {
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
    phoneNumber: message.phoneNumberAsSent,
    status: message.status,
    cost: toIqd(message.cost),
    isFinalStatus: message.isFinal,
    lastChannel: lastChannel(message),
    channelFlow: [...channelFlow(message)],
  };
}
