import type { z } from 'zod';
import type { TimedTls } from '../../adapters/egress/tls/timed-tls.ts';
import type { ChannelProvider } from '../../application/ports/channel-provider.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { EventLoop } from '../../application/ports/event-loop.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { ProviderCallback } from '../../application/ports/provider-callback.ts';
import type { ProviderHttp } from '../../application/ports/provider-http.ts';
import type { WhatsappDirectory } from '../../application/ports/whatsapp-directory.ts';
import type { WhatsappPlatform } from '../../application/ports/whatsapp-platform.ts';
import type { Channel } from '../../domain/shared/channel.ts';
import type { Hmac } from '../../domain/webhooks/signer.ts';
import type { SecretSchema } from './secret.ts';

/** What an adapter of a provider is made of, beside its settings. */
export interface ProviderTools {
  /** The provider's name in the configuration. */
  readonly name: string;
  readonly clock: Clock;
  readonly eventLoop: EventLoop;
  readonly logger: Logger;
  readonly hmac: Hmac;
  readonly whatsappDirectory: WhatsappDirectory;
  /** A client of its own: the provider closes it. */
  readonly http: () => ProviderHttp;
  /** TLS for a protocol that is not HTTP. */
  readonly timedTls: TimedTls;
}

/** A provider as it is made, and what reads its callbacks; null when it sends none. */
export interface MadeProvider {
  readonly provider: ChannelProvider;
  readonly callback: ProviderCallback | null;
  /** Reads the whatsapp accounts of the provider's credentials; null when it has none. Ends with the provider. */
  readonly whatsappPlatform: WhatsappPlatform | null;
}

/** A provider of live projects with its channel. */
export interface LiveProvider extends MadeProvider {
  readonly channel: Channel;
}

/** A kind of provider that a channels file can name: its settings, and how its adapter is made of them. */
export interface ProviderKind<Schema extends z.ZodType = z.ZodType> {
  /** What it can carry. */
  readonly channels: readonly Channel[];
  /** The settings beside `kind`; a credential in them is a `secret`. */
  settings(secret: SecretSchema): Schema;
  make(settings: z.output<Schema>, tools: ProviderTools): MadeProvider;
}
