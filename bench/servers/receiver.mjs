import { openSync, readFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:https';
import { serve } from '../child.mjs';

/**
 * A customer's HTTPS server. Every post is answered 200 at once; with `RECEIVER_LOG` one line is written for each,
 * just before its answer: the time, the event id and the body.
 */
const { RECEIVER_KEY, RECEIVER_CERT, RECEIVER_LOG } = process.env;
const log = RECEIVER_LOG === undefined ? null : openSync(RECEIVER_LOG, 'a');
let answered = 0;

const server = createServer(
  { key: readFileSync(RECEIVER_KEY), cert: readFileSync(RECEIVER_CERT), keepAliveTimeout: 60_000 },
  (request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      answered += 1;
      if (log !== null) writeSync(log, `${Date.now()} ${request.headers['webhook-id']} ${body}\n`);
      response.writeHead(200, { 'content-length': 0 }).end();
    });
  },
);
server.listen(0, 'localhost', () => serve(server.address().port, { answered: () => answered }));
