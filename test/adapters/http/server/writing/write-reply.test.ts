import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { UNREAD_BODY_BYTES_KEPT } from '../../../../../src/adapters/http/limits.ts';
import { writeBody } from '../../../../../src/adapters/http/server/writing/write-reply.ts';
import { SERVER_LIMITS } from '../../../../../src/adapters/http/server-limits.ts';

/** Of three octets in UTF-8. */
const LONG_CHARACTER = '€';
/** The shortest body that is a long one. */
const CHARACTERS = Math.floor(SERVER_LIMITS.freeReplyBytesMax / 3) + 1;

it.each([
  ['of which nothing more is to be read', '0'],
  ['whose body is left unread', String(UNREAD_BODY_BYTES_KEPT + 1)],
])('what is unsent of a long text is counted in octets, in reply to a request %s', (_, contentLength) => {
  const request = new IncomingMessage(new Socket());
  request.headers['content-length'] = contentLength;
  const response = new ServerResponse(request);
  writeBody(request, response, LONG_CHARACTER.repeat(CHARACTERS));
  expect(response.writableLength).toBeGreaterThan(SERVER_LIMITS.freeReplyBytesMax);
  request.destroy();
});
