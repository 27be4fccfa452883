import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { serve } from '../../test/support/child-process.ts';
import { portOf } from '../../test/support/port-of.ts';

/** A customer's HTTPS server that responds 200 at once and counts what it received. */
const { RECEIVER_KEY = '', RECEIVER_CERT = '' } = process.env;
const KEEP_ALIVE_MS = 60_000;

const handlers = { received: (): number => received };
export type ReceiverHandlers = typeof handlers;

let received = 0;
const server = createServer(
  { key: readFileSync(RECEIVER_KEY), cert: readFileSync(RECEIVER_CERT), keepAliveTimeout: KEEP_ALIVE_MS },
  (request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      if (body !== '') received += 1;
      response.writeHead(200, { 'content-length': 0 }).end();
    });
  },
);
server.listen(0, 'localhost', () => serve(portOf(server), handlers));
