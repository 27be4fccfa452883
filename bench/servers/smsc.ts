import { serve } from '../../test/support/child-process.ts';
import { LibrarySmsc } from '../../test/support/library-smsc.ts';

/** An SMSC that takes every message and brings its receipt `SMSC_RECEIPT_DELAY_MS` later. It stores nothing. */
let taken = 0;
const smsc = new LibrarySmsc({
  port: 0,
  receiptDelayMs: Number(process.env.SMSC_RECEIPT_DELAY_MS),
  onTaken: (submits) => {
    taken += submits.length;
  },
  onAcknowledged: () => {},
});

const handlers = {
  /** How many `submit_sm` it took since it started. */
  taken: (): number => taken,
};
export type SmscHandlers = typeof handlers;

serve(await smsc.listen(), handlers);
process.on('SIGTERM', () => process.exit());
