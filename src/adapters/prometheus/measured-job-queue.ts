import { delegate } from '../../application/delegate.ts';
import { isJobKind } from '../../application/jobs/job-kinds.ts';
import type { JobHandler, JobQueue } from '../../application/ports/job-queue.ts';
import type { Metrics } from './metrics.ts';
import { timed } from './timed.ts';

/** Of a job that another version has made. */
const UNKNOWN_KIND = 'unknown';

/** A queue whose batches are counted and timed in the process that takes them. */
export function measuredJobQueue(inner: JobQueue, { jobs, jobsTaken }: Metrics): JobQueue {
  return delegate(inner, {
    consume: (handler: JobHandler) =>
      inner.consume((batch) => {
        const given = batch[0]?.work.kind ?? UNKNOWN_KIND;
        const kind = isJobKind(given) ? given : UNKNOWN_KIND;
        jobsTaken.inc({ kind }, batch.length);
        return timed(
          () => handler(batch),
          (seconds) => jobs.observe({ kind }, seconds),
        );
      }),
  });
}
