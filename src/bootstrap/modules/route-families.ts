import { catalogRoutes } from '../../adapters/http/families/catalog.ts';
import { healthRoutes } from '../../adapters/http/families/health.ts';
import { messageRoutes } from '../../adapters/http/families/messages.ts';
import { whatsappResourceRoutes } from '../../adapters/http/families/whatsapp-resources.ts';
import type { RouteFamily } from '../../adapters/http/routing/route.ts';
import type { Roots } from '../roots.ts';

/** Every family of routes with its use cases, the busiest first: paths are matched in this order. */
export function routeFamilies(roots: Roots): readonly RouteFamily[] {
  const { authenticateProject: authenticate, readCatalog: catalog, sendMessages, trackMessage } = roots;
  return [
    messageRoutes({ authenticate, sendMessages, trackMessage }),
    catalogRoutes({ authenticate, catalog }),
    whatsappResourceRoutes({ authenticate, catalog }),
    healthRoutes({ health: roots.checkHealth }),
  ];
}
