import { performance } from 'node:perf_hooks';
import { millisecondsInSecond } from 'date-fns/constants';
import { delegate } from '../../application/delegate.ts';
import type { ChannelProvider, Submission } from '../../application/ports/channel-provider.ts';
import type { SubmitResult } from '../../domain/messages/submit-result.ts';
import type { Metrics } from './metrics.ts';

/** A provider whose attempts are counted and timed. */
export function measuredProvider(inner: ChannelProvider, { submissions }: Metrics): ChannelProvider {
  return delegate(inner, {
    async submit(submission: Submission): Promise<SubmitResult> {
      const startedAt = performance.now();
      const count = (result: SubmitResult['kind'] | 'failed'): void => {
        const seconds = (performance.now() - startedAt) / millisecondsInSecond;
        submissions.observe({ channel: submission.channel, provider: inner.name, result }, seconds);
      };
      try {
        const result = await inner.submit(submission);
        count(result.kind);
        return result;
      } catch (error) {
        count('failed');
        throw error;
      }
    },
  });
}
