import type { LeasedJob } from '../../domain/jobs/job.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { RenewLeases } from './renew-leases.ts';

/** What `keepLease` needs. */
export interface LeasePorts {
  readonly renewLeases: RenewLeases;
  /** How often the lease of long work is renewed. */
  readonly renewInterval: Timeout;
}

/**
 * Renews the lease of a job after each interval, while its work goes on. Calls `onLost` once another process has the job, and
 * renews it no more. Returns what ends the renewals.
 */
export function keepLease(
  { renewLeases, renewInterval }: LeasePorts,
  job: LeasedJob,
  onLost: () => void,
): () => void {
  let isOver = false;
  let cancel: () => void;
  const renew = async () => {
    // Without a database nothing can be renewed, nor finished: the lease decides at the end.
    const isHeld = await renewLeases.execute(job).then(
      (lease) => lease !== null,
      () => true,
    );
    if (!isHeld) onLost();
    if (!isOver && isHeld) cancel = renewInterval(renew);
  };
  cancel = renewInterval(renew);
  return () => {
    isOver = true;
    cancel();
  };
}
