import type { AuthenticateProject } from '../../../application/access/authenticate-project.ts';
import type { ReadCatalog } from '../../../application/catalog/read-catalog.ts';
import type { CheckHealth } from '../../../application/check-health.ts';
import type { SendMessages } from '../../../application/messages/send-messages.ts';
import type { TrackMessage } from '../../../application/messages/track-message.ts';

/** The use cases behind the interface. Every one of them throws `Rejected` for what it refuses. */
export interface Api {
  readonly authenticate: Pick<AuthenticateProject, 'execute'>;
  readonly sendMessages: Pick<SendMessages, 'execute'>;
  readonly trackMessage: Pick<TrackMessage, 'execute'>;
  readonly catalog: Pick<ReadCatalog, 'info' | 'senderIds' | 'internationalPrices' | 'whatsappResources'>;
  readonly health: Pick<CheckHealth, 'readiness'>;
}
