import { delegate } from '../../application/delegate.ts';
import type { ChannelProvider, Submission } from '../../application/ports/channel-provider.ts';
import type { SubmitResult } from '../../domain/messages/chain-event.ts';
import type { Metrics } from './metrics.ts';

const MS_PER_SECOND = 1_000;

/** A provider whose attempts are counted and timed, those that share a call alike. */
export function measuredProvider(inner: ChannelProvider, { submissions }: Metrics): ChannelProvider {
  return delegate(inner, {
    async submit(given: readonly Submission[]): Promise<readonly SubmitResult[]> {
      const startedAt = performance.now();
      const count = (resultOf: (index: number) => SubmitResult['kind'] | 'failed'): void => {
        const seconds = (performance.now() - startedAt) / MS_PER_SECOND;
        for (const [index, { channel }] of given.entries()) {
          submissions.observe({ channel, provider: inner.name, result: resultOf(index) }, seconds);
        }
      };
      try {
        const results = await inner.submit(given);
        count((index) => results[index]?.kind ?? 'failed');
        return results;
      } catch (error) {
        count(() => 'failed');
        throw error;
      }
    },
  });
}
