import { z } from 'zod';
import type { AuthenticateProject } from '../../../application/access/authenticate-project.ts';
import type { ReadCatalog } from '../../../application/catalog/read-catalog.ts';
import type { InternationalPrice } from '../../../domain/billing/pricing.ts';
import { SENDER_ID_STATUSES, type SenderId } from '../../../domain/senders/sender-id.ts';
import { toIqd } from '../../../domain/shared/money.ts';
import { pageCount } from '../../../domain/shared/page.ts';
import { PRICING_LIMIT_DEFAULT, PRICING_LIMIT_MAX, PRICING_PAGE_MAX } from '../limits.ts';
import { projectKey } from '../routing/admission.ts';
import { usualEnvelope } from '../routing/http-error.ts';
import { ok } from '../routing/http-reply.ts';
import { wholeNumber } from '../routing/query-fields.ts';
import { type RouteFamily, route } from '../routing/route.ts';

const CURRENCY = 'IQD';
const COUNTRY_ERROR = 'countryIso must be two letters';
const COUNTRY_PATTERN = /^[A-Za-z]{2}$/;

const projectInfo = z.object({ projectName: z.string(), credit: z.number().min(0) });

const price = z.number().min(0);
const senderIdItem = z.object({
  _id: z.string(),
  senderId: z.string(),
  status: z.enum(SENDER_ID_STATUSES),
  pricePerSms: z.object({ korekTelecom: price, asiaCell: price, zainIraq: price, others: price }),
});
const senderIdList = z.object({ success: z.literal(true), data: z.array(senderIdItem) });

const pricingQuery = z.object({
  page: wholeNumber('page', 1, PRICING_PAGE_MAX).default(1),
  limit: wholeNumber('limit', 1, PRICING_LIMIT_MAX).default(PRICING_LIMIT_DEFAULT),
  countryIso: z.string().regex(COUNTRY_PATTERN, { error: COUNTRY_ERROR }).optional(),
});

const priceRow = z.object({
  continent: z.string(),
  countryIso: z.string(),
  countryCode: z.string(),
  country: z.string(),
  networkId: z.string(),
  network: z.string(),
  price,
});
const priceList = z.object({
  currency: z.literal(CURRENCY),
  page: z.int().min(1).max(PRICING_PAGE_MAX),
  limit: z.int().min(1).max(PRICING_LIMIT_MAX),
  total: z.int().min(0),
  pages: z.int().min(1),
  filter: z.object({ countryIso: z.string().optional() }),
  items: z.array(priceRow),
});

export interface CatalogUseCases {
  readonly authenticate: Pick<AuthenticateProject, 'execute'>;
  readonly catalog: Pick<ReadCatalog, 'info' | 'senderIds' | 'internationalPrices'>;
}

/** Specification 4.3, 4.6 and 4.7: prices, sender IDs and the project itself. */
export function catalogRoutes({ authenticate, catalog }: CatalogUseCases): RouteFamily {
  const admission = projectKey(authenticate);

  const info = route({
    method: 'get',
    path: '/info',
    operationId: 'projectInfo',
    summary: 'Read the name and credit of the project',
    admission,
    ok: { description: 'The project', schema: projectInfo },
    async handle({ caller }) {
      const { projectName, credit } = await catalog.info(caller);
      return ok({ projectName, credit: toIqd(credit) });
    },
  });

  const senderIds = route({
    method: 'get',
    path: '/sender-ids',
    operationId: 'listSenderIds',
    summary: 'List the sender IDs of the project',
    admission,
    ok: { description: 'All sender IDs, whatever their status', schema: senderIdList },
    async handle({ caller }) {
      const found = await catalog.senderIds(caller);
      return ok({ success: true as const, data: found.map(presentSenderId) });
    },
  });

  const prices = route({
    method: 'get',
    path: '/international-sms-pricing',
    operationId: 'listInternationalPrices',
    summary: 'List the international prices per sms segment',
    admission,
    query: pricingQuery,
    ok: { description: 'One page of the price list', schema: priceList },
    async handle({ query: { page, limit, countryIso: country } }) {
      const countryIso = country?.toUpperCase() ?? null;
      const { total, rows } = await catalog.internationalPrices({ countryIso }, { page, limit });
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

  return { envelope: usualEnvelope, routes: [info, senderIds, prices] };
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
