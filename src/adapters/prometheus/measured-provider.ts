import { delegate } from '../../application/delegate.ts';
import type { ChannelProvider } from '../../application/ports/channel-provider.ts';
import type { Metrics } from './metrics.ts';
import { timed } from './timed.ts';

/** A provider whose attempts are counted and timed. */
export function measuredProvider(inner: ChannelProvider, { submissions }: Metrics): ChannelProvider {
  return delegate(inner, {
    submit: (submission) =>
      timed(
        () => inner.submit(submission),
        (seconds, done) => {
          const result = done?.result.kind ?? 'failed';
          submissions.observe({ channel: submission.channel, provider: inner.name, result }, seconds);
        },
      ),
  });
}
