import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { verification } from './seeds.ts';

const NUMBER = '9647701234567';
/** Longer than a message waits for anything. */
const WAIT_MS_MAX = 15 * 60_000;

/**
 * Sends a message whose job of this kind is dead-lettered; resolves with its smsId and the id of the job. No worker leases the
 * job before: it comes due later, and the clock of a harness stands still.
 */
export async function deadLettered(service: Harness, kind: 'start-attempt' | 'attempt-deadline') {
  // An attempt whose provider is busy starts again two seconds later.
  if (kind === 'start-attempt')
    service.script(() => ({ result: 'rejected', reason: 'Slow down', cause: 'busy' }));
  const sent = await service.request('/sms', { body: verification(NUMBER, { provider: 'sms' }) });
  const { smsId } = sent.body as { smsId: string };
  await service.settle();
  service.script(() => null);
  const at = service.now().getTime();
  const until = at + WAIT_MS_MAX;
  const [job] = await service.service.roots.unitOfWork.run(async ({ jobs }) => {
    const leased = await jobs.lease({ workerId: 'test', now: until, until: until + 1, limit: 10 });
    const chosen = leased.filter(({ work }) => work.kind === kind);
    return jobs.fail(chosen, { reason: 'broken', at, retryAt: at, failuresMax: 1 });
  });
  if (job === undefined) throw new Error(`There was no job of the kind ${kind}`);
  return { smsId, jobId: job.id };
}
