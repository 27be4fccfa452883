import { z } from 'zod';
import { PREVIEW_ROWS_MAX } from '../../../../../application/operators/prices/plan-prices.ts';
import { PRICE_MISTAKES_MAX } from '../../../../../application/operators/prices/price-mistakes.ts';
import { PRICE_ACTORS, PRICE_VERSION_STATUSES } from '../../../../../domain/billing/price-version.ts';
import { TEMPLATE_CATEGORIES } from '../../../../../domain/billing/system-prices.ts';
import { byName } from '../../../../../domain/shared/by-name.ts';
import { MOBILE_OPERATORS } from '../../../../../domain/shared/phone-number.ts';
import { ADMIN_CURSOR_CHARACTERS_MAX, LATEST_INSTANT_MS } from '../../../limits.ts';
import { countryIsoQuery, priceRow } from '../../catalog/catalog-schemas.ts';
import { ID_EXAMPLE, INSTANT_EXAMPLE, id, instant, next, pageQuery } from '../shared-schemas.ts';

const DIGEST_EXAMPLE = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const FROM_ERROR = 'effectiveFrom must be an instant in ISO 8601 with a time zone';

const price = z.number().meta({ description: 'In IQD', examples: [80] });

const effectiveFrom = z.iso
  .datetime({ offset: true, error: FROM_ERROR })
  .refine((text) => Date.parse(text) <= LATEST_INSTANT_MS, { error: FROM_ERROR })
  .meta({ description: 'From when on the prices are in force; at once without', examples: [INSTANT_EXAMPLE] })
  .optional();

/** POST /admin/prices/previews. */
export const previewQuery = z.object({ effectiveFrom });

/** POST /admin/prices/versions. */
export const applyQuery = z.object({
  effectiveFrom,
  preview: z
    .string({ error: 'preview is required: preview the import first' })
    .max(ADMIN_CURSOR_CHARACTERS_MAX, { error: 'preview is not one of a preview' })
    .meta({ description: '`preview` of the preview of the same import', examples: [DIGEST_EXAMPLE] }),
});

/** The query of a list with its rows. */
export const pricePageQuery = pageQuery.extend({
  countryIso: countryIsoQuery('Only rows of this country: two letters of any case'),
});

export const versionParams = z.object({
  version: z.string().meta({ description: 'The `id` of a version', examples: [ID_EXAMPLE] }),
});

/** A version without its prices. */
export const priceVersion = z
  .object({
    id,
    status: z
      .enum(PRICE_VERSION_STATUSES)
      .meta({ description: 'What the version is now', examples: ['in-force'] }),
    effectiveFrom: instant.meta({
      description: 'From when on it is in force; 1970-01-01 for the list of a seed file',
      examples: [INSTANT_EXAMPLE],
    }),
    createdAt: instant.meta({ description: 'When it was made', examples: [INSTANT_EXAMPLE] }),
    actor: z.enum(PRICE_ACTORS).meta({ description: 'Through what it was made', examples: ['operator'] }),
    rows: z.int().meta({ description: 'Its international rows', examples: [1_200] }),
    withdrawnAt: instant.nullable().meta({ description: 'When it was withdrawn', examples: [null] }),
  })
  .meta({ id: 'PriceVersion', description: 'A price list of the history' });

const operators = z
  .object(byName(MOBILE_OPERATORS, () => price))
  .meta({ description: 'IQD per billing unit, by mobile operator' });
const categories = z
  .object(byName(TEMPLATE_CATEGORIES, () => price))
  .meta({ description: 'IQD per message, by category' });

const row = priceRow
  .extend({ mccMnc: z.string().meta({ description: 'MCC and MNC of the network', examples: ['28601'] }) })
  .meta({ id: 'AdminPriceRow', description: 'What an sms to one network costs' });

/** GET /admin/prices. */
export const adminPriceList = z
  .object({
    version: priceVersion.nullable().meta({ description: 'Null when there is no list' }),
    sms: operators.nullable(),
    whatsapp: categories.nullable(),
    telegram: price.nullable(),
    total: z.int().meta({ description: 'International rows of all pages', examples: [1_200] }),
    international: z.array(row).meta({ description: 'By country, MCC and MNC, and network' }),
    next,
  })
  .meta({ id: 'AdminPriceList', description: 'A price list with one page of its international rows' });

/** GET /admin/prices/versions. */
export const versionPage = z
  .object({ versions: z.array(priceVersion).meta({ description: 'The newest first' }), next })
  .meta({ id: 'PriceVersionPage', description: 'One page of the history' });

const count = (description: string) => z.int().meta({ description, examples: [0] });

/** POST /admin/prices/previews. */
export const pricePreview = z
  .object({
    preview: z.string().meta({ description: 'Names the preview for the import', examples: [DIGEST_EXAMPLE] }),
    replaces: z
      .string()
      .nullable()
      .meta({
        description: 'The version it is compared with; null for the first list',
        examples: [ID_EXAMPLE],
      }),
    effectiveFrom: instant
      .nullable()
      .meta({ description: 'As asked; null for at once', examples: [INSTANT_EXAMPLE] }),
    rows: count('International rows after the import'),
    added: count('Rows that are new'),
    removed: count('Rows that are gone'),
    changed: count('Rows that differ'),
    unchanged: count('Rows that are equal'),
    system: z
      .array(
        z.object({
          name: z.string().meta({ description: 'Which price', examples: ['sms.asiaCell'] }),
          before: price.nullable(),
          after: price,
        }),
      )
      .meta({ description: 'The prices of sms in Iraq, whatsapp and telegram that differ' }),
    international: z
      .array(z.object({ before: row.nullable(), after: row.nullable() }))
      .meta({ description: `The first ${PREVIEW_ROWS_MAX} rows that are added, removed or changed` }),
  })
  .meta({ id: 'PricePreview', description: 'What an import changes' });

/** The 400 of a file with mistakes. */
export const invalidPrices = z
  .object({
    error: z
      .string()
      .meta({ description: 'What is wrong, for people', examples: ['The file of prices has mistakes'] }),
    errors: z
      .array(
        z.object({
          line: z
            .int()
            .nullable()
            .meta({ description: 'The line of the file, from 1; null for the file', examples: [2] }),
          field: z
            .string()
            .nullable()
            .meta({ description: 'The column or field; null for the row', examples: ['price'] }),
          problem: z.string().meta({ description: 'What is wrong with it', examples: ['is required'] }),
        }),
      )
      .optional()
      .meta({ description: `Up to ${PRICE_MISTAKES_MAX} mistakes` }),
  })
  .meta({ id: 'InvalidPrices', description: 'A file of prices that cannot be imported' });
