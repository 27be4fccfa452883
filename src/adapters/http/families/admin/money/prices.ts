import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { millisecondsInSecond } from 'date-fns/constants';
import { z } from 'zod';
import type { ImportPrices, PriceImport } from '../../../../../application/operators/prices/import-prices.ts';
import type {
  ListedVersion,
  ManagePrices,
  PricePage,
} from '../../../../../application/operators/prices/manage-prices.ts';
import type { PricePlan } from '../../../../../application/operators/prices/plan-prices.ts';
import type { PriceFormat } from '../../../../../application/operators/prices/read-price-file.ts';
import { WITHDRAWAL_NOTICE_MS } from '../../../../../domain/billing/price-version.ts';
import type { InternationalPrice } from '../../../../../domain/billing/pricing.ts';
import { mapSystemPrices } from '../../../../../domain/billing/system-prices.ts';
import { isoOf, isoOrNull } from '../../../../../domain/shared/instant.ts';
import { toIqd } from '../../../../../domain/shared/money.ts';
import type { Page } from '../../../../../domain/shared/page.ts';
import { cursorOf, invalidCursor, nextCursor, placeOf } from '../../../input/cursor.ts';
import { ADMIN_LIMIT_MAX, PRICES_BODY_BYTES_MAX, PRICING_PAGE_MAX } from '../../../limits.ts';
import { invalid, RequestRejected, usualEnvelope } from '../../../replies/http-error.ts';
import { ok } from '../../../replies/http-reply.ts';
import { ANY_TYPE, UNSUPPORTED_MEDIA_TYPE } from '../../../replies/known-errors.ts';
import { rejectionError } from '../../../replies/rejection-errors.ts';
import type { Admission } from '../../../routing/admission.ts';
import type { DocumentedError } from '../../../routing/documented.ts';
import { route } from '../../../routing/route.ts';
import type { RouteFamily } from '../../../routing/route-declaration.ts';
import { actorOf } from '../request-actor.ts';
import { pageQuery } from '../shared-schemas.ts';
import {
  adminPriceList,
  applyQuery,
  invalidPrices,
  previewQuery,
  pricePageQuery,
  pricePreview,
  priceVersion,
  versionPage,
  versionParams,
} from './price-schemas.ts';

/** Version, country, page and entries of a page: a list goes on in the version that it began with. */
const rowPlace = z.tuple([
  z.string(),
  z.string().nullable(),
  z.int().min(1).max(PRICING_PAGE_MAX),
  z.int().min(1).max(ADMIN_LIMIT_MAX),
]);
const versionPlace = z.tuple([z.string()]);

const INVALID: DocumentedError = {
  description: 'The file has mistakes, or the query is not valid',
  schema: invalidPrices,
};
const NO_VERSION: DocumentedError = {
  description: 'There is no such version',
  error: rejectionError({ kind: 'unknown-price-version' }),
};
const FILE = {
  description: `A csv file (\`text/csv\`) with the international rows, or JSON with \`sms\`, \`whatsapp\`, \`telegram\` and \`international\`, each of which may be left out. UTF-8, up to ${PRICES_BODY_BYTES_MAX / 1024 ** 2} MB.`,
  mediaType: ANY_TYPE,
};

export interface PriceUseCases {
  readonly importPrices: ImportPrices;
  readonly managePrices: ManagePrices;
}

/** The price list, for operators. */
export function adminPriceRoutes(
  { importPrices, managePrices }: PriceUseCases,
  admission: Admission<null>,
): RouteFamily {
  const show = route({
    method: 'get',
    path: '/admin/prices',
    operationId: 'showPrices',
    summary: 'Show the price list in force',
    description: 'Every price is null while there is no list.',
    admission,
    query: pricePageQuery,
    ok: { description: 'The list with one page of its rows', schema: adminPriceList },
    async handle({ query }) {
      const { versionId, ...place } = placeIn(query, null);
      const found =
        versionId === null ? await managePrices.inForce(place) : await managePrices.find(versionId, place);
      return ok(presentPage(found, place));
    },
  });

  const preview = route({
    method: 'post',
    path: '/admin/prices/previews',
    operationId: 'previewPrices',
    summary: 'Preview an import of prices',
    description: 'Changes nothing. The reply says what the import would change, and names the preview.',
    admission,
    query: previewQuery,
    rawBody: FILE,
    bodyBytesMax: PRICES_BODY_BYTES_MAX,
    ok: { description: 'What the import would change', schema: pricePreview },
    rejections: {
      400: INVALID,
      409: {
        description: 'Too many versions are not in force yet',
        error: rejectionError({ kind: 'too-many-scheduled-prices' }),
      },
    },
    async handle({ query, bytes, request, withoutPlace }) {
      const given = importOf(request, bytes, query);
      return ok(presentPreview(await withoutPlace(() => importPrices.preview(given)), given));
    },
  });

  const apply = route({
    method: 'post',
    path: '/admin/prices/versions',
    operationId: 'importPrices',
    summary: 'Import prices as they were previewed',
    description: 'The same file again, with `preview` of its preview: 409 when anything has changed since.',
    admission,
    query: applyQuery,
    rawBody: FILE,
    bodyBytesMax: PRICES_BODY_BYTES_MAX,
    ok: { description: 'The new version', schema: priceVersion },
    rejections: {
      400: INVALID,
      409: {
        description: 'The preview is outdated, or too many versions are not in force yet',
        error: rejectionError({ kind: 'preview-outdated' }),
      },
    },
    async handle({ query, bytes, request, withoutPlace }) {
      const given = importOf(request, bytes, query);
      const version = await withoutPlace(() => importPrices.apply(actorOf(request), given, query.preview));
      return ok(presentVersion({ version, status: given.effectiveFrom === null ? 'in-force' : 'scheduled' }));
    },
  });

  const list = route({
    method: 'get',
    path: '/admin/prices/versions',
    operationId: 'listPriceVersions',
    summary: 'List the versions of the price list',
    description: 'The newest first, withdrawn ones among them.',
    admission,
    query: pageQuery,
    ok: { description: 'One page of the history', schema: versionPage },
    async handle({ query: { limit, cursor } }) {
      const before = placeOf(cursor, versionPlace)?.[0] ?? null;
      const { rows, next } = await managePrices.list(before, limit);
      return ok({ versions: rows.map(presentVersion), next: nextCursor(next, (id) => [id]) });
    },
  });

  const read = route({
    method: 'get',
    path: '/admin/prices/versions/:version',
    operationId: 'readPriceVersion',
    summary: 'Read a version of the price list',
    description: 'Its prices never change.',
    admission,
    params: versionParams,
    query: pricePageQuery,
    ok: { description: 'The list with one page of its rows', schema: adminPriceList },
    rejections: { 404: NO_VERSION },
    async handle({ params, query }) {
      const { versionId, ...place } = placeIn(query, params.version);
      return ok(presentPage(await managePrices.find(versionId ?? '', place), place));
    },
  });

  const withdraw = route({
    method: 'post',
    path: '/admin/prices/versions/:version/withdraw',
    operationId: 'withdrawPriceVersion',
    summary: 'Withdraw a version that is not in force yet',
    description: `Until ${WITHDRAWAL_NOTICE_MS / millisecondsInSecond} seconds before it is in force. It stays in the history.`,
    admission,
    params: versionParams,
    ok: { description: 'The withdrawn version', schema: priceVersion },
    rejections: {
      404: NO_VERSION,
      409: {
        description: 'The version is in force, or was',
        error: rejectionError({ kind: 'prices-in-force' }),
      },
    },
    handle: async ({ params, request }) =>
      ok(presentVersion(await managePrices.withdraw(actorOf(request), params.version))),
  });

  const tag = { name: 'Prices', description: 'The price list, its imports and its history.' };
  return { tag, envelope: usualEnvelope, routes: [show, preview, apply, list, read, withdraw] };
}

function importOf(
  { headers }: IncomingMessage,
  bytes: Buffer,
  { effectiveFrom }: z.output<typeof previewQuery>,
): PriceImport {
  const format = formatOf(headers['content-type']);
  if (!isUtf8(bytes)) throw invalid('The request body is not valid UTF-8', 'invalid-encoding');
  return {
    format,
    bytes,
    effectiveFrom: effectiveFrom === undefined ? null : new Date(effectiveFrom).getTime(),
  };
}

function formatOf(contentType = ''): PriceFormat {
  const [essence = '', ...parameters] = contentType.toLowerCase().replace(/[\s"]/g, '').split(';');
  const isUtf8 = parameters.every((each) => !each.startsWith('charset=') || /^charset=utf-?8$/.test(each));
  if (essence === 'text/csv' && isUtf8) return 'csv';
  if (essence === 'application/json' && isUtf8) return 'json';
  const text = 'The request body must be text/csv or application/json in UTF-8, without compression';
  throw new RequestRejected({ ...UNSUPPORTED_MEDIA_TYPE, text });
}

/** A cursor goes on with its own version and country: rejects it where others are asked for. */
function placeIn(
  { cursor, limit, countryIso: given }: z.output<typeof pricePageQuery>,
  version: string | null,
) {
  const countryIso = given?.toUpperCase() ?? null;
  const [versionId, country, page, size] = placeOf(cursor, rowPlace) ?? [version, countryIso, 1, limit];
  if (country !== countryIso || (version !== null && versionId !== version)) throw invalidCursor();
  return { versionId, countryIso, page: { page, limit: size } };
}

function presentPage(
  found: PricePage | null,
  { countryIso, page: { page, limit } }: { readonly countryIso: string | null; readonly page: Page },
): z.input<typeof adminPriceList> {
  if (found === null) {
    return {
      version: null,
      sms: null,
      whatsapp: null,
      telegram: null,
      total: 0,
      international: [],
      next: null,
    };
  }
  const { listed, system, total, rows } = found;
  const hasMore = page * limit < total;
  return {
    version: presentVersion(listed),
    ...mapSystemPrices(system, toIqd),
    total,
    international: rows.map(presentRow),
    next: hasMore ? cursorOf([listed.version.id, countryIso, page + 1, limit]) : null,
  };
}

function presentVersion({ version, status }: ListedVersion): z.input<typeof priceVersion> {
  const { id, effectiveFrom, createdAt, actor, rowCount, withdrawnAt } = version;
  return {
    id,
    status,
    effectiveFrom: isoOf(effectiveFrom),
    createdAt: isoOf(createdAt),
    actor,
    rows: rowCount,
    withdrawnAt: isoOrNull(withdrawnAt),
  };
}

function presentPreview(
  { preview, replaces, rowCount, changes }: PricePlan,
  { effectiveFrom }: PriceImport,
): z.input<typeof pricePreview> {
  const { added, removed, changed, unchanged, system, rows } = changes;
  return {
    preview,
    replaces,
    effectiveFrom: isoOrNull(effectiveFrom),
    rows: rowCount,
    added,
    removed,
    changed,
    unchanged,
    system: system.map(({ name, before, after }) => ({
      name,
      before: before === null ? null : toIqd(before),
      after: toIqd(after),
    })),
    international: rows.map(({ before, after }) => ({
      before: before === null ? null : presentRow(before),
      after: after === null ? null : presentRow(after),
    })),
  };
}

function presentRow(row: InternationalPrice) {
  return { ...row, price: toIqd(row.price) };
}
