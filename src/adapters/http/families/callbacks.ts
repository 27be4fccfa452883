import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import { MinuteLog } from '../../../application/minute-log.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { CallbackOutcome, ReceiveCallbacks } from '../../../application/receipts/receive-callbacks.ts';
import { HeldBodies } from '../input/held-bodies.ts';
import { CALLBACK_BODIES_BYTES_MAX, CALLBACK_BYTES_MAX } from '../limits.ts';
import { type HttpError, invalid, RequestRejected, usualEnvelope } from '../replies/http-error.ts';
import { text } from '../replies/http-reply.ts';
import { ANY_TYPE, NOT_FOUND, unauthorized } from '../replies/known-errors.ts';
import { anyone } from '../routing/admission.ts';
import type { Tag } from '../routing/documented.ts';
import { route } from '../routing/route.ts';
import type { Input, ParamsOf, RouteFamily } from '../routing/route-declaration.ts';

const TAG: Tag = {
  name: 'Callbacks',
  description: 'For channel providers, which send delivery receipts and inbound messages here.',
};

const SIGNATURE_INVALID = unauthorized('The signature is missing or wrong', 'Signature');
const DONE = 'ok';

const params = z.object({
  provider: z
    .string()
    .meta({ description: 'The name of a provider in the configuration', examples: ['meta'] }),
});

const rejections: Readonly<Record<number, { readonly description: string; readonly error: HttpError }>> = {
  400: {
    description: 'The request is from the provider and makes no sense',
    error: invalid('The body is not JSON').error,
  },
  401: { description: 'The request is not from the provider', error: SIGNATURE_INVALID },
  404: { description: 'No provider of this name sends callbacks', error: NOT_FOUND },
};

/** Where providers send their callbacks, and where they check the address first. Each signs its requests in a way of its own. */
export function callbackRoutes({
  receiveCallbacks,
  logger,
}: {
  readonly receiveCallbacks: ReceiveCallbacks;
  readonly logger: Logger;
}): RouteFamily {
  const log = new MinuteLog({ clock: performance, logger });
  /** A body is held before anybody knows who sent it. The provider sends one again that was closed for others. */
  const heldBodies = new HeldBodies(CALLBACK_BODIES_BYTES_MAX, ({ socket }, network) => {
    log.warn('callback_closed', { network });
    socket.resetAndDestroy();
  });

  const checkPath = ({ provider }: ParamsOf<typeof params>): void => {
    if (!receiveCallbacks.knows(provider)) throw new RequestRejected(NOT_FOUND);
  };

  const handle =
    (method: 'GET' | 'POST') => async (input: Input<null, ParamsOf<typeof params>, object, unknown>) => {
      const { request, bytes } = input;
      const url = request.url ?? '';
      const start = url.indexOf('?');
      const outcome = await receiveCallbacks.execute(input.params.provider, {
        method,
        query: new URLSearchParams(start === -1 ? '' : url.slice(start + 1)),
        headers: request.headers,
        body: bytes,
      });
      return text(contentOf(outcome));
    };

  const receive = route({
    method: 'post',
    path: '/callbacks/:provider',
    operationId: 'receiveCallback',
    summary: 'Take the callback of a provider',
    description:
      'The reply comes when everything in the request is stored. The provider signs it in a way of its own.',
    admission: anyone,
    checkPath,
    params,
    rawBody: { description: 'In the form of the provider', mediaType: ANY_TYPE },
    bodyBytesMax: CALLBACK_BYTES_MAX,
    heldBodies,
    ok: { description: 'It is stored', kind: 'text' },
    rejections,
    handle: handle('POST'),
  });

  const challenge = route({
    method: 'get',
    path: '/callbacks/:provider',
    operationId: 'checkCallback',
    summary: 'Tell a provider that this is the right place, or take a receipt in a query',
    description: 'Some providers ask first, and some put a receipt into the query.',
    admission: anyone,
    checkPath,
    params,
    ok: { description: 'What the provider wants to see, or that the receipt is stored', kind: 'text' },
    rejections,
    handle: handle('GET'),
  });

  return { tag: TAG, envelope: usualEnvelope, routes: [receive, challenge] };
}

/** Throws `RequestRejected` for what was not stored. */
function contentOf(outcome: CallbackOutcome): string {
  switch (outcome.kind) {
    case 'recorded':
      return DONE;
    case 'challenge':
      return outcome.text;
    case 'unknown-provider':
      throw new RequestRejected(NOT_FOUND);
    case 'forged':
      throw new RequestRejected(SIGNATURE_INVALID);
    case 'unreadable':
      throw invalid(outcome.problem);
    default:
      return outcome satisfies never;
  }
}
