import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { usualEnvelope } from '../../../../src/adapters/http/replies/http-error.ts';
import { file, type HttpReply, text } from '../../../../src/adapters/http/replies/http-reply.ts';
import type { Route } from '../../../../src/adapters/http/routing/route-declaration.ts';
import { Endpoint } from '../../../../src/adapters/http/server/endpoint.ts';
import { KnownKeys } from '../../../../src/adapters/http/server/known-keys.ts';
import { LoadShedder } from '../../../../src/adapters/http/server/load-shedder.ts';
import { RequestQueues } from '../../../../src/adapters/http/server/request-queues.ts';
import { ReplyWriter } from '../../../../src/adapters/http/server/writing/reply-writer.ts';
import { SERVER_LIMITS } from '../../../../src/adapters/http/server-limits.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';

const BYTES = 1_000;

/** The endpoint of a route that replies with `reply`. A second request of the same address gets no permit. */
function endpointWith(reply: HttpReply, freeReplyBytesMax: number) {
  const shedder = new LoadShedder({ ...SERVER_LIMITS, requestsPerAddressMax: 1 }, () => '127.0.0.1', {
    queues: new RequestQueues({ roundMs: (msMax) => msMax }),
    knownKeys: new KnownKeys(() => '127.0.0.1'),
  });
  const writer = new ReplyWriter({
    logger: new RecordingLogger(),
    requestIds: () => 'request',
    observeReply: undefined,
    observers: [],
    onUnsent: () => undefined,
  });
  const route: Pick<Route, 'path' | 'serve'> = { path: '/', serve: async () => reply };
  const limits = { freeReplyBytesMax };
  const endpoint = new Endpoint(route as Route, usualEnvelope, { writer, shedder, limits });
  const request = new IncomingMessage(new Socket());
  return { shedder, endpoint, request, response: new ServerResponse(request) };
}

it.each([
  ['is larger than is free counts for its address until it has gone out', BYTES, false],
  ['is as large as is free, headers included, counts for nobody', 2 * BYTES, true],
])('an unsent reply that %s', async (_, freeReplyBytesMax, isFree) => {
  const { shedder, endpoint, request, response } = endpointWith(text('x'.repeat(BYTES)), freeReplyBytesMax);
  await endpoint.serve(request, response, {});
  expect(shedder.begin(request) !== null).toBe(isFree);
  response.emit('close');
  if (!isFree) expect(shedder.begin(request)).not.toBeNull();
});

it('a download counts for its address until it has ended, however little of it is unsent', async () => {
  const reply = file(new PassThrough(), 'text/csv', 'report.csv');
  const { shedder, endpoint, request, response } = endpointWith(reply, BYTES);
  await endpoint.serve(request, response, {});
  expect(shedder.begin(request)).toBeNull();
  response.emit('close');
  expect(shedder.begin(request)).not.toBeNull();
});

it('a download whose client has left before its reply is not read, and counts for nobody', async () => {
  const content = new PassThrough();
  const { shedder, endpoint, request, response } = endpointWith(
    file(content, 'text/csv', 'report.csv'),
    BYTES,
  );
  response.destroy();
  await endpoint.serve(request, response, {});
  expect(content.destroyed).toBe(true);
  expect(shedder.begin(request)).not.toBeNull();
});
