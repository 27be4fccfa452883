import { callbackRoutes } from '../../adapters/http/families/callbacks.ts';
import { campaignRoutes } from '../../adapters/http/families/campaigns/campaigns.ts';
import { catalogRoutes } from '../../adapters/http/families/catalog/catalog.ts';
import { healthRoutes } from '../../adapters/http/families/health.ts';
import { messageRoutes } from '../../adapters/http/families/messages/messages.ts';
import { reportRoutes } from '../../adapters/http/families/reports/reports.ts';
import { whatsappResourceRoutes } from '../../adapters/http/families/whatsapp/whatsapp-resources.ts';
import type { RouteFamily } from '../../adapters/http/routing/route-declaration.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Role } from '../config/config.ts';
import type { Roots } from '../roots.ts';
import type { BuildVersion } from '../version.ts';

/**
 * The families of routes that a role serves, with their use cases. The busiest comes first: paths are matched in this
 * order. A worker serves health only.
 */
export function routeFamilies(
  roots: Roots,
  {
    role,
    publicUrl = null,
    build,
    logger,
  }: {
    readonly role: Role;
    readonly publicUrl?: string | null;
    readonly build: BuildVersion;
    readonly logger: Logger;
  },
): readonly RouteFamily[] {
  const health = healthRoutes({ ...roots, build });
  if (role === 'worker') return [health];
  return [
    messageRoutes(roots),
    catalogRoutes(roots),
    whatsappResourceRoutes(roots),
    campaignRoutes(roots),
    reportRoutes(roots, publicUrl),
    callbackRoutes({ ...roots, logger }),
    health,
  ];
}
