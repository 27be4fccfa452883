import { z } from 'zod';
import type { SearchMessages } from '../../../../../application/operators/search-messages.ts';
import type {
  MessageTrace,
  TracedEvent,
  TraceMessage,
} from '../../../../../application/operators/trace-message.ts';
import { ROWS_PER_PAGE_MAX } from '../../../../../application/operators/walk-page.ts';
import type { FoundMessage } from '../../../../../application/ports/stores/message-search-store.ts';
import type { LedgerEntry } from '../../../../../domain/billing/ledger.ts';
import { type ChannelAttempt, SMS_ID_PATTERN } from '../../../../../domain/messages/message.ts';
import { isoOf, isoOrNull } from '../../../../../domain/shared/instant.ts';
import { add, negate, toIqd } from '../../../../../domain/shared/money.ts';
import { canonicalPhoneNumber, type PhoneNumber } from '../../../../../domain/shared/phone-number.ts';
import { nextCursor, placeOf } from '../../../input/cursor.ts';
import { invalid, usualEnvelope } from '../../../replies/http-error.ts';
import { ok } from '../../../replies/http-reply.ts';
import { rejectionError } from '../../../replies/rejection-errors.ts';
import type { Admission } from '../../../routing/admission.ts';
import { route } from '../../../routing/route.ts';
import type { RouteFamily } from '../../../routing/route-declaration.ts';
import { NO_PROJECT } from '../documented-errors.ts';
import { rangeOf } from '../time-fields.ts';
import { presentAttempt, presentEvent } from '../webhooks/webhook-presenters.ts';
import { messagePage, messageParams, messageQuery, traceSchema } from './message-schemas.ts';

const place = z.tuple([z.int().min(0), z.string().regex(SMS_ID_PATTERN)]);

/** A provider message id begins with the name of its provider. */
const PROVIDER_PATTERN = /^([^:]+):/;

export interface MessageUseCases {
  readonly searchMessages: SearchMessages;
  readonly traceMessage: TraceMessage;
}

/** Messages of every project, for operators. */
export function adminMessageRoutes(
  { searchMessages, traceMessage }: MessageUseCases,
  admission: Admission<null>,
): RouteFamily {
  const search = route({
    method: 'get',
    path: '/admin/messages',
    operationId: 'searchMessages',
    summary: 'Search messages by number, status, project and time',
    description: `The newest first. A page reads at most ${ROWS_PER_PAGE_MAX.toLocaleString('en')} messages: it may be short, or empty, and yet have a next one. Codes and texts are not shown.`,
    admission,
    query: messageQuery,
    ok: { description: 'One page of messages', schema: messagePage },
    rejections: { 404: NO_PROJECT },
    async handle({ query: { limit, cursor, project = null, phoneNumber, status = null, from, to } }) {
      const range = rangeOf({ from, to });
      if (range.from > range.to) throw invalid('to must not be before from');
      const number = phoneNumber === undefined ? null : canonicalPhoneNumber(phoneNumber as PhoneNumber);
      const at = placeOf(cursor, place);
      const { rows, next } = await searchMessages.page(
        { project, phoneNumber: number, status, ...range },
        at === null ? null : { createdAt: at[0], smsId: at[1] },
        limit,
      );
      return ok({
        messages: rows.map(presentFound),
        next: nextCursor(next, (place) => [place.createdAt, place.smsId]),
      });
    },
  });

  const trace = route({
    method: 'get',
    path: '/admin/messages/:message',
    operationId: 'traceMessage',
    summary: 'Trace a message with its attempts, money and webhooks',
    description: 'Everything that is stored of it but its content, whose codes and texts are never shown.',
    admission,
    params: messageParams,
    ok: { description: 'The message', schema: traceSchema },
    rejections: {
      404: { description: 'There is no such message', error: rejectionError({ kind: 'message-not-found' }) },
    },
    handle: async ({ params }) => ok(presentTrace(await traceMessage.execute(params.message))),
  });

  const tag = { name: 'Messages', description: 'Messages of every project.' };
  return { tag, envelope: usualEnvelope, routes: [search, trace] };
}

function presentFound(message: FoundMessage) {
  const { smsId, projectId, campaignId, phoneNumber, channels, status, isFinal, cost, errorReason } = message;
  return {
    id: smsId,
    project: projectId,
    campaign: campaignId,
    phoneNumber,
    channels: [...channels],
    status,
    isFinal,
    cost: toIqd(cost),
    createdAt: isoOf(message.createdAt),
    sentAt: isoOrNull(message.sentAt),
    finalAt: isoOrNull(message.finalAt),
    reason: errorReason,
  };
}

function presentTrace({ message, entries, events }: MessageTrace): z.input<typeof traceSchema> {
  return {
    ...presentFound(message),
    senderId: message.senderId,
    smsType: message.content.smsType,
    attempts: message.attempts.map(presentChannelAttempt),
    entries: entries.map(presentEntry),
    events: events.map(presentTraced),
  };
}

function presentChannelAttempt(attempt: ChannelAttempt) {
  const { channel, provider, state, reason, providerMessageIds, deliveredIds } = attempt;
  const { startedAt, triedSince, endedAt } = attempt;
  return {
    channel,
    // Attempts of earlier versions name it in their ids alone.
    provider: provider ?? PROVIDER_PATTERN.exec(providerMessageIds[0] ?? '')?.[1] ?? null,
    state,
    reason,
    providerMessageIds: [...providerMessageIds],
    deliveredIds: [...deliveredIds],
    startedAt: isoOf(startedAt),
    triedSince: isoOrNull(triedSince ?? null),
    endedAt: isoOrNull(endedAt),
  };
}

function presentEntry({ id, createdAt, kind, balanceDelta, heldDelta }: LedgerEntry) {
  const isHold = kind === 'hold';
  const held = isHold ? heldDelta : negate(heldDelta);
  return {
    id,
    at: isoOf(createdAt),
    kind: isHold ? ('hold' as const) : ('settlement' as const),
    held: toIqd(held),
    captured: toIqd(negate(balanceDelta)),
    released: isHold ? 0 : toIqd(add(held, balanceDelta)),
  };
}

function presentTraced({ event, body, attempts }: TracedEvent) {
  return {
    ...presentEvent(event),
    status: (JSON.parse(body) as { readonly status?: string }).status ?? null,
    attemptLog: attempts.map(presentAttempt),
  };
}
