import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import { type Handlers, serve } from './child-process.ts';
import { portOf } from './port-of.ts';

const { RECEIVER_KEY = '', RECEIVER_CERT = '' } = process.env;
const KEEP_ALIVE_MS = 60_000;

/**
 * Makes this process a customer's HTTPS server, with the certificate in `RECEIVER_KEY` and `RECEIVER_CERT`. It tells `onRequest`
 * of every request, and then responds 200 at once.
 */
export function serveReceiver(
  onRequest: (body: string, headers: IncomingHttpHeaders) => void,
  handlers: Handlers = {},
): void {
  const server = createServer(
    { key: readFileSync(RECEIVER_KEY), cert: readFileSync(RECEIVER_CERT), keepAliveTimeout: KEEP_ALIVE_MS },
    (request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        onRequest(body, request.headers);
        response.writeHead(200, { 'content-length': 0 }).end();
      });
    },
  );
  server.listen(0, 'localhost', () => serve(portOf(server), handlers));
}
