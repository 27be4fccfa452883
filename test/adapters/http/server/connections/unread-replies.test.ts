import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { beforeEach, expect, it } from 'vitest';
import { UnreadConnections } from '../../../../../src/adapters/http/server/connections/unread-connections.ts';
import { UnreadReplies } from '../../../../../src/adapters/http/server/connections/unread-replies.ts';
import { UNREAD_REQUEST_BYTES } from '../../../../../src/adapters/http/server-limits.ts';
import { MinuteLog } from '../../../../../src/application/minute-log.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';

const HEADERS = ['Host', 'x'];
/** Of two texts with five characters. */
const HEADER_BYTES = 105;
const REPLY_BYTES = 2 * UNREAD_REQUEST_BYTES;
const BYTES_MAX = REPLY_BYTES + UNREAD_REQUEST_BYTES + HEADER_BYTES;

/** What the socket has taken and not sent. */
let unsent: number;
let open: ServerResponse[];
let connections: UnreadConnections;
let replies: UnreadReplies;

beforeEach(() => {
  unsent = 0;
  const log = new MinuteLog({ clock: performance, logger: new RecordingLogger() });
  connections = new UnreadConnections(10 * BYTES_MAX, log);
  const socket = new Socket();
  Object.defineProperty(socket, 'writableLength', { get: () => unsent });
  open = [aResponse(true)];
  replies = new UnreadReplies(socket, open, BYTES_MAX, { unread: connections, networkOf: () => 'a' });
});

/** A reply that the socket has, or one behind it that still waits for the socket. */
function aResponse(hasSocket: boolean, bytes = 0): ServerResponse {
  const request = new IncomingMessage(new Socket());
  request.rawHeaders = HEADERS;
  const response = new ServerResponse(request);
  if (hasSocket) response.assignSocket(new Socket());
  Object.defineProperty(response, 'writableLength', { value: bytes });
  return response;
}

const small = () => aResponse(false);

it('what a connection holds is its unsent bytes and its requests, and is too much beyond the limit', () => {
  unsent = REPLY_BYTES;
  replies.noteReply(small());
  expect([replies.isTooMuch, connections.bytes]).toEqual([false, 0]);
  unsent += 1;
  replies.noteReply(small());
  expect([replies.isTooMuch, connections.bytes]).toEqual([true, BYTES_MAX + 1]);
});

it('requests that wait are held beyond the limit though the client reads, and are served all the same', () => {
  const requests = Array.from({ length: 4 }, () => small().req);
  for (const request of requests) replies.noteWaiting(request);
  const waitingBytes = 4 * (UNREAD_REQUEST_BYTES + HEADER_BYTES);
  expect([replies.isTooMuch, connections.bytes]).toEqual([false, waitingBytes]);
  for (const request of requests) replies.noteServed(request);
  expect(connections.bytes).toBe(0);
});

it('a large reply that waits for an earlier one is held, and a small one only behind one that is unsent', () => {
  const large = aResponse(false, BYTES_MAX + 1);
  open.push(large);
  replies.noteReply(large);
  expect(connections.bytes).toBe(BYTES_MAX + 1 + 2 * (UNREAD_REQUEST_BYTES + HEADER_BYTES));
  open.pop();
  replies.noteRead();
  expect([replies.isTooMuch, connections.bytes]).toEqual([false, 0]);
  const later = aResponse(false, BYTES_MAX);
  open.push(later);
  replies.noteReply(later);
  expect(replies.isTooMuch).toBe(false);
  unsent = 1;
  replies.noteReply(later);
  expect(replies.isTooMuch).toBe(true);
});

it('a connection whose client reads or is gone holds nothing any more', () => {
  unsent = BYTES_MAX;
  replies.noteReply(small());
  unsent = 0;
  replies.noteRead();
  expect([replies.isTooMuch, connections.bytes]).toEqual([false, 0]);
  unsent = BYTES_MAX;
  replies.noteReply(small());
  replies.release();
  expect(connections.bytes).toBe(0);
});
