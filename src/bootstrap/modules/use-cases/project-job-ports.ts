import { BackgroundWork } from '../../../application/concurrency/background-work.ts';
import { RecordJobFailure } from '../../../application/jobs/record-job-failure.ts';
import { RenewLeases } from '../../../application/jobs/renew-leases.ts';
import { ports } from '../../tokens.ts';

const { clock, renewInterval, lockRetryDelay, wakeSignal, eventLoop } = ports;

/** What every use case takes that does jobs by project in rotation. */
export const projectJobPorts = {
  renewLeases: RenewLeases,
  recordJobFailure: RecordJobFailure,
  background: BackgroundWork,
  clock,
  renewInterval,
  lockRetryDelay,
  wakeSignal,
  eventLoop,
};
