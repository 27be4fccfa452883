import { adminAuditRoutes } from '../../adapters/http/families/admin/audit.ts';
import { adminJobRoutes } from '../../adapters/http/families/admin/jobs.ts';
import { adminMessageRoutes } from '../../adapters/http/families/admin/messages/messages.ts';
import { adminCreditRoutes } from '../../adapters/http/families/admin/money/credit.ts';
import { adminPriceRoutes } from '../../adapters/http/families/admin/money/prices.ts';
import { adminKeyRoutes } from '../../adapters/http/families/admin/projects/keys.ts';
import { adminProjectRoutes } from '../../adapters/http/families/admin/projects/projects.ts';
import { adminSenderRoutes } from '../../adapters/http/families/admin/projects/senders.ts';
import { adminInboundWebhookRoutes } from '../../adapters/http/families/admin/webhooks/inbound-webhooks.ts';
import { adminListenRoutes } from '../../adapters/http/families/admin/webhooks/listen.ts';
import { adminWebhookRoutes } from '../../adapters/http/families/admin/webhooks/webhooks.ts';
import { adminWhatsappRoutes } from '../../adapters/http/families/admin/whatsapp.ts';
import type { AdminInterface } from '../../adapters/http/http-server.ts';
import { operatorToken } from '../../adapters/http/routing/admission.ts';
import type { Role } from '../config/config.ts';
import type { Roots } from '../roots.ts';

/** The admin interface of a role; undefined without a token, and for a worker: every path of it is then unknown. */
export function adminInterface(
  roots: Roots,
  { role, adminToken = null }: { readonly role: Role; readonly adminToken?: string | null },
): AdminInterface | undefined {
  if (role === 'worker' || adminToken === null) return undefined;
  const admission = operatorToken(adminToken);
  const families = [
    adminProjectRoutes(roots, admission),
    adminKeyRoutes(roots, admission),
    adminCreditRoutes(roots, admission),
    adminSenderRoutes(roots, admission),
    adminWhatsappRoutes(roots, admission),
    adminInboundWebhookRoutes(roots, admission),
    adminJobRoutes(roots, admission),
    adminMessageRoutes(roots, admission),
    adminWebhookRoutes(roots, admission),
    adminListenRoutes(roots, admission),
    adminPriceRoutes(roots, admission),
    adminAuditRoutes(roots, admission),
  ];
  return { families, admission };
}
