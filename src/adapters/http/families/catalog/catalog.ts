import type { z } from 'zod';
import type { AuthenticateProject } from '../../../../application/access/authenticate-project.ts';
import type { ReadCatalog } from '../../../../application/catalog/read-catalog.ts';
import type { InternationalPrice } from '../../../../domain/billing/pricing.ts';
import type { SenderId } from '../../../../domain/senders/sender-id.ts';
import { toIqd } from '../../../../domain/shared/money.ts';
import { pageCount } from '../../../../domain/shared/page.ts';
import { usualEnvelope } from '../../replies/http-error.ts';
import { ok } from '../../replies/http-reply.ts';
import { projectKey } from '../../routing/admission.ts';
import type { Tag } from '../../routing/documented.ts';
import { route } from '../../routing/route.ts';
import type { RouteFamily } from '../../routing/route-declaration.ts';
import { LOW_CREDIT_WEBHOOK } from '../webhooks/low-credit-webhook.ts';
import {
  CURRENCY,
  priceList,
  type priceRow,
  pricingQuery,
  projectInfo,
  type senderIdItem,
  senderIdList,
} from './catalog-schemas.ts';

const TAG: Tag = {
  name: 'Project and prices',
  description: 'The project itself, its sender IDs, and prices.',
};

export interface CatalogUseCases {
  readonly authenticateProject: Pick<AuthenticateProject, 'execute'>;
  readonly readCatalog: Pick<ReadCatalog, 'info' | 'senderIds' | 'internationalPrices'>;
}

/** Specification 4.3, 4.6 and 4.7: prices, sender IDs and the project itself. */
export function catalogRoutes({ authenticateProject, readCatalog }: CatalogUseCases): RouteFamily {
  const admission = projectKey(authenticateProject);

  const info = route({
    method: 'get',
    path: '/info',
    operationId: 'projectInfo',
    summary: 'Read the name and credit of the project',
    description:
      'The credit is what new messages can be sent with: the balance less what is held for messages on their way.',
    admission,
    ok: { description: 'The project', schema: projectInfo },
    async handle({ caller }) {
      const { projectName, credit } = await readCatalog.info(caller);
      return ok({ projectName, credit: toIqd(credit) });
    },
  });

  const senderIds = route({
    method: 'get',
    path: '/sender-ids',
    operationId: 'listSenderIds',
    summary: 'List the sender IDs of the project',
    description: 'Sender IDs can only be read here. A send may name one whose status is `accepted`.',
    admission,
    ok: { description: 'All sender IDs, whatever their status', schema: senderIdList },
    async handle({ caller }) {
      const found = await readCatalog.senderIds(caller);
      return ok({ success: true as const, data: found.map(presentSenderId) });
    },
  });

  const prices = route({
    method: 'get',
    path: '/international-sms-pricing',
    operationId: 'listInternationalPrices',
    summary: 'List the international prices per sms segment',
    description:
      'One row for each network of a country. A text of more than 140 characters is sent in several segments.',
    admission,
    query: pricingQuery,
    ok: { description: 'One page of the price list', schema: priceList },
    async handle({ query: { page, limit, countryIso: country } }) {
      const countryIso = country?.toUpperCase() ?? null;
      const { total, rows } = await readCatalog.internationalPrices({ countryIso }, { page, limit });
      return ok({
        currency: CURRENCY,
        page,
        limit,
        total,
        pages: pageCount(total, limit),
        filter: countryIso === null ? {} : { countryIso },
        items: rows.map(presentPrice),
      });
    },
  });

  return {
    tag: TAG,
    envelope: usualEnvelope,
    routes: [info, senderIds, prices],
    webhooks: [LOW_CREDIT_WEBHOOK],
  };
}

function presentSenderId({ id, senderId, status, pricePerSms }: SenderId): z.input<typeof senderIdItem> {
  return {
    _id: id,
    senderId,
    status,
    pricePerSms: {
      korekTelecom: toIqd(pricePerSms.korekTelecom),
      asiaCell: toIqd(pricePerSms.asiaCell),
      zainIraq: toIqd(pricePerSms.zainIraq),
      others: toIqd(pricePerSms.others),
    },
  };
}

/** The sort key `mccMnc` is no field of the reply (specification 2.6). */
function presentPrice({ mccMnc: _, price: amount, ...row }: InternationalPrice): z.input<typeof priceRow> {
  return { ...row, price: toIqd(amount) };
}
