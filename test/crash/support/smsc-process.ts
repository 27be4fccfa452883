import { existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { serve } from '../../support/child-process.ts';
import { LibrarySmsc } from '../../support/library-smsc.ts';
import { readSmscLog } from './smsc-log.ts';

/**
 * An SMSC in a process that a crash test may kill. What it takes is on the disk in `CRASH_SMSC_LOG` before it responds. The
 * next process on the same file brings the receipts that were not acknowledged.
 */
const { CRASH_SMSC_LOG = '' } = process.env;

/** Short enough for many receipts between two kills, long enough for many kills between a response and its receipt. */
const RECEIPT_DELAY_MS = 50;

const log = openSync(CRASH_SMSC_LOG, 'a');
let taken = 0;
/** Called at the first submit. */
let onFirst = (): void => {};

const handlers = {
  /** Takes messages from now on, on this port or on a free one for 0; resolves with the port. */
  listen: (port: number): Promise<number> => {
    const earlier = readSmscLog(existsSync(CRASH_SMSC_LOG) ? readFileSync(CRASH_SMSC_LOG, 'utf8') : '');
    const smsc = new LibrarySmsc({
      port,
      receiptDelayMs: RECEIPT_DELAY_MS,
      unacknowledged: earlier.taken.filter(({ id }) => !earlier.acknowledged.has(id)),
      onTaken: (submits) => {
        const lines = submits.map(({ id, systemId, destination, part, parts }) =>
          ['taken', id, systemId, destination, part, parts].join(' '),
        );
        writeSync(log, `${lines.join('\n')}\n`);
        fsyncSync(log);
        taken += submits.length;
        onFirst();
      },
      onAcknowledged: (id) => {
        writeSync(log, `acknowledged ${id}\n`);
      },
    });
    return smsc.listen();
  },
  /** Resolves when it has taken a first message. */
  firstTaken: (): Promise<void> =>
    new Promise((resolve) => {
      onFirst = resolve;
      if (taken > 0) resolve();
    }),
};
export type SmscProcessHandlers = typeof handlers;

serve(0, handlers);
process.on('SIGTERM', () => process.exit());
