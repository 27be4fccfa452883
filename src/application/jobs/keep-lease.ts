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
 * Renews the lease of a job. Resolves to false when another process has the job, or nobody. Without a database nothing is known
 * of it: then nothing can be done in its name either, and it counts as held.
 */
export function isHeld(renewLeases: Pick<RenewLeases, 'execute'>, job: LeasedJob): Promise<boolean> {
  return renewLeases.execute(job).then(
    (lease) => lease !== null,
    () => true,
  );
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
    const isStillHeld = await isHeld(renewLeases, job);
    if (!isStillHeld) onLost();
    if (!isOver && isStillHeld) cancel = renewInterval(renew);
  };
  cancel = renewInterval(renew);
  return () => {
    isOver = true;
    cancel();
  };
}
