import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { AddressRates } from '../../../../application/access/address-rates.ts';
import type { AuthenticateProject } from '../../../../application/access/authenticate-project.ts';
import type { SendResult } from '../../../../application/sending/send-command.ts';
import type { SendMessages } from '../../../../application/sending/send-messages.ts';
import type { TrackMessage } from '../../../../application/sending/track-message.ts';
import { channelFlow, lastChannel, type Message } from '../../../../domain/messages/message.ts';
import { toIqd } from '../../../../domain/shared/money.ts';
import { usualEnvelope } from '../../replies/http-error.ts';
import { ok } from '../../replies/http-reply.ts';
import { rejectionError } from '../../replies/rejection-errors.ts';
import { projectKey } from '../../routing/admission.ts';
import type { Tag } from '../../routing/documented.ts';
import { IDEMPOTENCY_KEY_HEADER, idempotencyOf, REPLAYED } from '../../routing/idempotency.ts';
import { route } from '../../routing/route.ts';
import type { RouteFamily } from '../../routing/route-declaration.ts';
import { DELIVERY_WEBHOOK } from './delivery-webhook.ts';
import { RATE_LIMITED, SEND_REJECTED } from './message-errors.ts';
import { sendResult, smsId, trackedMessage } from './message-schemas.ts';
import { type Wait, withSandboxFaults } from './sandbox-faults.ts';
import { sendBody, toSendRequest } from './send-body.ts';

const TAG: Tag = {
  name: 'Messages',
  description: 'Send a verification code, a text or a whatsapp template to one phone number, and track it.',
};

/** The route under which the idempotency keys of sends are stored. */
const SEND_ROUTE = 'POST /sms';

const SEND_DESCRIPTION = `\`smsType\` chooses what is sent: a verification code, a text of your own, or an approved whatsapp template.
\`provider\` chooses the channels. When one rejects the message, reports failure or stays silent too long, the next one takes over.

The message is stored and its cost held when the reply is written. Delivery follows: track it by its \`smsId\`, or ask for
webhooks with \`deliveryReport\`. A rejected send stores nothing, costs nothing and does not count for the rate limit.`;

export interface MessageUseCases {
  readonly authenticateProject: Pick<AuthenticateProject, 'execute'>;
  readonly addressRates: Pick<AddressRates, 'limit'>;
  readonly sendMessages: Pick<SendMessages, 'execute'>;
  readonly trackMessage: Pick<TrackMessage, 'execute'>;
}

/** Specification 4.1 and 4.2: send one message, and track it. `wait` is how a late reply waits. */
export function messageRoutes(
  { authenticateProject, addressRates, sendMessages, trackMessage }: MessageUseCases,
  wait: Wait = sleep,
): RouteFamily {
  const admission = projectKey(authenticateProject);

  const send = route({
    method: 'post',
    path: '/sms',
    operationId: 'sendMessage',
    summary: 'Send one message to one phone number',
    description: SEND_DESCRIPTION,
    admission,
    // Sends that come together are one transaction.
    throughWorkGate: 'none',
    requestHeaders: [IDEMPOTENCY_KEY_HEADER],
    body: sendBody,
    ok: {
      description: 'The message is accepted; delivery is asynchronous',
      schema: sendResult,
      headers: ['Idempotency-Replayed'],
    },
    rejections: {
      400: SEND_REJECTED,
      409: {
        description: 'The Idempotency-Key was used with another request',
        error: rejectionError({ kind: 'idempotency-conflict' }),
      },
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
    description:
      'The message of a send, or of a recipient of a campaign that has started. An id that is unknown, malformed or of another project gets 404.',
    admission,
    params: z.object({ smsId }),
    ok: { description: 'The message', schema: trackedMessage },
    rejections: {
      404: {
        description: 'No message of the project has this id',
        error: rejectionError({ kind: 'message-not-found' }),
      },
    },
    async handle({ caller, params }) {
      return ok(presentMessage(await trackMessage.execute(caller, params.smsId)));
    },
  });

  return { tag: TAG, envelope: usualEnvelope, routes: [send, track], webhooks: [DELIVERY_WEBHOOK] };
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
