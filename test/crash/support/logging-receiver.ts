import { openSync, writeSync } from 'node:fs';
import { serveReceiver } from '../../support/receiver-process.ts';

/**
 * A customer's HTTPS server. Just before each response it writes a line to `RECEIVER_LOG`: the time, the event id and the body.
 */
const log = openSync(process.env.RECEIVER_LOG ?? '', 'a');

serveReceiver((body, headers) => {
  writeSync(log, `${Date.now()} ${headers['webhook-id']} ${body}\n`);
});
