import { serveReceiver } from '../../test/support/receiver-process.ts';

/** A customer's HTTPS server that counts what it received. */
let received = 0;
const handlers = { received: (): number => received };
export type ReceiverHandlers = typeof handlers;

serveReceiver((body) => {
  if (body !== '') received += 1;
}, handlers);
