import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { serve } from '../../test/support/child-process.ts';
import { portOf } from '../../test/support/port-of.ts';

/** A customer's HTTPS server that responds 200 at once and notes when it first heard of each message. */
const { RECEIVER_KEY = '', RECEIVER_CERT = '' } = process.env;
const arrivedAt: Record<string, number> = {};

const handlers = {
  /** In milliseconds since 1970, by smsId. */
  arrivedAt: (): Readonly<Record<string, number>> => arrivedAt,
};
export type ArrivalsReceiverHandlers = typeof handlers;

const server = createServer(
  { key: readFileSync(RECEIVER_KEY), cert: readFileSync(RECEIVER_CERT) },
  (request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { smsId }: { smsId?: string } = body === '' ? {} : JSON.parse(body);
      if (smsId !== undefined) arrivedAt[smsId] ??= Date.now();
      response.writeHead(200, { 'content-length': 0 }).end();
    });
  },
);
server.listen(0, 'localhost', () => serve(portOf(server), handlers));
