import { openSync, readFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:https';
import { serve } from '../../support/child-process.ts';
import { portOf } from '../../support/port-of.ts';

/**
 * A customer's HTTPS server that responds 200 at once. Just before each response it writes a line to
 * `RECEIVER_LOG`: the time, the event id and the body.
 */
const { RECEIVER_KEY = '', RECEIVER_CERT = '', RECEIVER_LOG = '' } = process.env;
const KEEP_ALIVE_MS = 60_000;

const log = openSync(RECEIVER_LOG, 'a');
const server = createServer(
  { key: readFileSync(RECEIVER_KEY), cert: readFileSync(RECEIVER_CERT), keepAliveTimeout: KEEP_ALIVE_MS },
  (request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      writeSync(log, `${Date.now()} ${request.headers['webhook-id']} ${body}\n`);
      response.writeHead(200, { 'content-length': 0 }).end();
    });
  },
);
server.listen(0, 'localhost', () => serve(portOf(server)));
