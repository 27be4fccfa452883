import type { ProviderKey, SubmissionCapacity } from '../../src/application/attempts/submission-capacity.ts';
import type { Backlog } from '../../src/domain/jobs/fair-share.ts';

/** Counts submissions as in flight until the function it returns is called. */
export function beginAll(
  capacity: SubmissionCapacity,
  key: ProviderKey,
  submissions: readonly Backlog[],
): () => void {
  const ends = submissions.map((submission) => capacity.begin(key, submission));
  return () => {
    for (const end of ends) end();
  };
}
