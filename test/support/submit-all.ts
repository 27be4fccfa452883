import type { ChannelProvider, Submission } from '../../src/application/ports/channel-provider.ts';
import type { SubmitResult } from '../../src/domain/providers/submit-result.ts';

/** Submits messages at once, in their order, as the service does. The results are in the same order. */
export function submitAll(
  provider: Pick<ChannelProvider, 'submit'>,
  submissions: readonly Submission[],
): Promise<readonly SubmitResult[]> {
  return Promise.all(submissions.map((submission) => provider.submit(submission)));
}
