import type { Container } from 'inversify';
import { catalogRoutes } from '../../adapters/http/families/catalog.ts';
import { healthRoutes } from '../../adapters/http/families/health.ts';
import { messageRoutes } from '../../adapters/http/families/messages.ts';
import { whatsappResourceRoutes } from '../../adapters/http/families/whatsapp-resources.ts';
import type { RouteFamily } from '../../adapters/http/routing/route.ts';
import { AuthenticateProject } from '../../application/access/authenticate-project.ts';
import { ReadCatalog } from '../../application/catalog/read-catalog.ts';
import { CheckHealth } from '../../application/check-health.ts';
import { SendMessages } from '../../application/messages/send-messages.ts';
import { TrackMessage } from '../../application/messages/track-message.ts';

/** Every family of routes with its use cases, the busiest first: paths are matched in this order. */
export function routeFamilies(container: Container): readonly RouteFamily[] {
  const authenticate = container.get(AuthenticateProject);
  const catalog = container.get(ReadCatalog);
  return [
    messageRoutes({
      authenticate,
      sendMessages: container.get(SendMessages),
      trackMessage: container.get(TrackMessage),
    }),
    catalogRoutes({ authenticate, catalog }),
    whatsappResourceRoutes({ authenticate, catalog }),
    healthRoutes({ health: container.get(CheckHealth) }),
  ];
}
