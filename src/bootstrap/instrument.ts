import type { ChannelProvider } from '../application/ports/channel-provider.ts';
import type { JobQueue } from '../application/ports/job-queue.ts';
import type { Logger } from '../application/ports/logger.ts';
import type { RequestObserver } from '../application/ports/request-observer.ts';
import type { UnitOfWork } from '../application/ports/unit-of-work.ts';
import type { WebhookTransport } from '../application/ports/webhook-transport.ts';
import type { Roots } from './roots.ts';

/**
 * Sees what a process does by standing around its ports: no use case knows of it. A port that it leaves out stays as it is.
 * Each decorated port keeps every promise of the port.
 */
export interface Instrument {
  readonly unitOfWork?: (inner: UnitOfWork) => UnitOfWork;
  /** Around a provider itself, inside its circuit: what is not called is not seen. */
  readonly channelProvider?: (inner: ChannelProvider) => ChannelProvider;
  readonly webhookTransport?: (inner: WebhookTransport) => WebhookTransport;
  readonly jobQueue?: (inner: JobQueue) => JobQueue;
  readonly logger?: (inner: Logger) => Logger;
  readonly requests?: RequestObserver;
  /** Called once the tables are there. Rejects with `ConfigError` when it cannot work as it is configured. */
  start?(roots: Roots): Promise<void>;
  /** Called last. May be called twice, and without a start. */
  close?(): Promise<void>;
}

type Decorated = 'unitOfWork' | 'channelProvider' | 'webhookTransport' | 'jobQueue' | 'logger';
type PortOf<Name extends Decorated> = Parameters<NonNullable<Instrument[Name]>>[0];

/** The port with every instrument around it, the first one innermost. */
export function instrumented<Name extends Decorated>(
  instruments: readonly Instrument[],
  name: Name,
  inner: PortOf<Name>,
): PortOf<Name> {
  return instruments.reduce((port, instrument) => {
    const decorate = instrument[name] as ((port: PortOf<Name>) => PortOf<Name>) | undefined;
    return decorate === undefined ? port : decorate.call(instrument, port);
  }, inner);
}
