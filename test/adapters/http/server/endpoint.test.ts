import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { SERVER_LIMITS } from '../../../../src/adapters/http/limits.ts';
import { usualEnvelope } from '../../../../src/adapters/http/replies/http-error.ts';
import { text } from '../../../../src/adapters/http/replies/http-reply.ts';
import type { Route } from '../../../../src/adapters/http/routing/route-declaration.ts';
import { Endpoint } from '../../../../src/adapters/http/server/endpoint.ts';
import { KnownKeys } from '../../../../src/adapters/http/server/known-keys.ts';
import { LoadShedder } from '../../../../src/adapters/http/server/load-shedder.ts';
import { RequestQueues } from '../../../../src/adapters/http/server/request-queues.ts';
import { EventStreams } from '../../../../src/adapters/http/server/writing/event-streams.ts';
import { ReplyWriter } from '../../../../src/adapters/http/server/writing/reply-writer.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';

const BYTES = 1_000;

it.each([
  ['is larger than is free counts for its address until it has gone out', BYTES, false],
  ['is as large as is free, headers included, counts for nobody', 2 * BYTES, true],
])('an unsent reply that %s', async (_, freeReplyBytesMax, isFree) => {
  const shedder = new LoadShedder({ ...SERVER_LIMITS, requestsPerAddressMax: 1 }, () => '127.0.0.1', {
    queues: new RequestQueues({ roundMs: (msMax) => msMax }),
    knownKeys: new KnownKeys(() => '127.0.0.1'),
  });
  const writer = new ReplyWriter({
    logger: new RecordingLogger(),
    requestIds: () => 'request',
    eventStreams: new EventStreams(SERVER_LIMITS.eventHeartbeatMs),
    observeReply: undefined,
    observers: [],
    onUnsent: () => undefined,
  });
  const route: Pick<Route, 'path' | 'serve'> = { path: '/', serve: async () => text('x'.repeat(BYTES)) };
  const limits = { freeReplyBytesMax };
  const endpoint = new Endpoint(route as Route, usualEnvelope, { writer, shedder, limits });
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  await endpoint.serve(request, response, {});
  expect(shedder.begin(request) !== null).toBe(isFree);
  response.emit('close');
  if (!isFree) expect(shedder.begin(request)).not.toBeNull();
});
