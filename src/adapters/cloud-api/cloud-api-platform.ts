import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import type { ProviderHttp } from '../../application/ports/provider-http.ts';
import type { PlatformAccountResult, WhatsappPlatform } from '../../application/ports/whatsapp-platform.ts';
import { JSON_MEMBERS_READ_MAX, membersOfJson } from '../../domain/shared/json-text.ts';
import { toStorableLine } from '../../domain/shared/storable-text.ts';
import type { PlatformPhoneNumber, PlatformTemplate } from '../../domain/whatsapp/merge-account.ts';
import {
  COMPONENT_BUTTONS_MAX,
  COMPONENT_TEXT_CHARACTERS_MAX,
  COMPONENT_URL_CHARACTERS_MAX,
  RESOURCE_TEXT_CHARACTERS_MAX,
  TEMPLATE_COMPONENTS_MAX,
} from '../../domain/whatsapp/text-limits.ts';
import type { GraphApi } from './graph-api.ts';
import { errorText } from './graph-response.ts';

interface PlatformOptions {
  readonly graph: GraphApi;
  readonly http: ProviderHttp;
}

/** Numbers of one account. */
export const ACCOUNT_NUMBERS_MAX = 500;

/** Templates of one account; Meta allows 6,000, each language of a name for itself. */
const ACCOUNT_TEMPLATES_MAX = 10_000;

/** The most rows of one page: as many templates have to fit into `PAGE_BYTES_MAX`. */
const PAGE_ROWS = 50;

const PAGE_BYTES_MAX = 1_048_576;

/** All pages of one account together, as they come and as they are stored: they are held until the last one is there. */
export const ACCOUNT_BYTES_MAX = 12 * 1_048_576;
/** Objects, lists and their members of one account together: each takes memory and time wherever the account is read. */
const ACCOUNT_MEMBERS_MAX = 600_000;
const TOO_MANY_MEMBERS = `The account has more than ${ACCOUNT_MEMBERS_MAX} members of JSON`;
const TOO_MANY_BYTES = `The account has more than ${ACCOUNT_BYTES_MAX} bytes`;

/** Reading one account takes so long at most: the accounts behind it wait. */
export const ACCOUNT_READING_MS_MAX = 300_000;

/** Meta may put fewer rows into a page than it was asked for. */
const PAGES_MAX = 1_000;

const CURSOR_CHARACTERS_MAX = 2_000;

/** The first version that names the limit of a number after its portfolio. */
const PORTFOLIO_LIMIT_VERSION = 24;
const PORTFOLIO_LIMIT_FIELD = 'whatsapp_business_manager_messaging_limit';
const NUMBER_LIMIT_FIELD = 'messaging_limit_tier';

const NUMBER_FIELDS = [
  'id',
  'display_phone_number',
  'verified_name',
  'quality_rating',
  'status',
  'code_verification_status',
  'name_status',
  'is_official_business_account',
];
const TEMPLATE_FIELDS = [
  'id',
  'name',
  'language',
  'category',
  'status',
  'parameter_format',
  'rejected_reason',
  'message_send_ttl_seconds',
  'components',
];

const NO_REASON = 'NONE';

const anyText = z.string().max(RESOURCE_TEXT_CHARACTERS_MAX);
/** As every database can store it. */
const text = anyText.transform(toStorableLine);
const requiredText = anyText.min(1).transform(toStorableLine);
/** What an older version, or a number that is new, does not have. */
const said = text.nullish().transform((value) => value ?? null);

const phoneNumber = z
  .object({
    id: z.string().regex(/^[0-9]{1,32}$/),
    display_phone_number: text,
    verified_name: said,
    quality_rating: said,
    status: said,
    code_verification_status: said,
    name_status: said,
    is_official_business_account: z
      .boolean()
      .nullish()
      .transform((value) => value ?? null),
    [PORTFOLIO_LIMIT_FIELD]: said,
    [NUMBER_LIMIT_FIELD]: said,
  })
  .transform(
    (given): PlatformPhoneNumber => ({
      phoneNumberId: given.id,
      displayPhoneNumber: given.display_phone_number,
      verifiedName: given.verified_name,
      qualityRating: given.quality_rating,
      messagingLimit: given[PORTFOLIO_LIMIT_FIELD] ?? given[NUMBER_LIMIT_FIELD],
      status: given.status,
      codeVerificationStatus: given.code_verification_status,
      nameStatus: given.name_status,
      isOfficialBusinessAccount: given.is_official_business_account,
    }),
  );

const component = z.looseObject({
  type: text,
  format: text.optional(),
  text: z.string().max(COMPONENT_TEXT_CHARACTERS_MAX).optional(),
  buttons: z
    .array(
      z.looseObject({
        type: text,
        text: text.optional(),
        url: z.string().max(COMPONENT_URL_CHARACTERS_MAX).optional(),
      }),
    )
    .max(COMPONENT_BUTTONS_MAX)
    .optional(),
});

const template = z
  .object({
    name: requiredText,
    language: requiredText,
    category: text,
    status: text,
    parameter_format: said,
    rejected_reason: said,
    message_send_ttl_seconds: z
      .int()
      .nullish()
      .transform((value) => value ?? null),
    components: z.array(component).max(TEMPLATE_COMPONENTS_MAX).default([]),
  })
  .transform(
    (given): PlatformTemplate => ({
      name: given.name,
      language: given.language,
      category: given.category,
      parameterFormat: given.parameter_format,
      status: given.status,
      reason: given.rejected_reason === NO_REASON ? '' : (given.rejected_reason ?? ''),
      messageSendTtlSeconds: given.message_send_ttl_seconds,
      components: given.components,
    }),
  );

/** Meta goes on with a cursor; its own `next` URL holds the token, and is not followed. */
const paging = z
  .object({
    cursors: z.object({ after: z.string().max(CURSOR_CHARACTERS_MAX).optional() }).optional(),
    next: z.string().optional(),
  })
  .optional();

/** What the pages of one account may still take. */
interface Budget {
  bytesLeft: number;
  membersLeft: number;
  /** By the clock of `performance`, in milliseconds. */
  readonly endsAt: number;
}

type Rows<Row> =
  | { readonly kind: 'rows'; readonly rows: readonly Row[] }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** The accounts, numbers and templates of Meta's platform, read with the credentials of one provider. */
export class CloudApiPlatform implements WhatsappPlatform {
  readonly #options: PlatformOptions;

  constructor(options: PlatformOptions) {
    this.#options = options;
  }

  async accountOf(whatsappBusinessId: string): Promise<PlatformAccountResult> {
    const budget: Budget = {
      bytesLeft: ACCOUNT_BYTES_MAX,
      membersLeft: ACCOUNT_MEMBERS_MAX,
      endsAt: performance.now() + ACCOUNT_READING_MS_MAX,
    };
    const numbers = await this.#all(`${whatsappBusinessId}/phone_numbers`, this.#numberFields(), {
      row: phoneNumber,
      rowsMax: ACCOUNT_NUMBERS_MAX,
      budget,
    });
    if (numbers.kind === 'unavailable') return numbers;
    const templates = await this.#all(`${whatsappBusinessId}/message_templates`, TEMPLATE_FIELDS, {
      row: template,
      rowsMax: ACCOUNT_TEMPLATES_MAX,
      budget,
    });
    if (templates.kind === 'unavailable') return templates;
    return { kind: 'account', account: { phoneNumbers: numbers.rows, templates: templates.rows } };
  }

  /** A field that the version does not have fails the whole request. */
  #numberFields(): readonly string[] {
    const version = Number.parseInt(this.#options.graph.version.slice(1), 10);
    return [
      ...NUMBER_FIELDS,
      version >= PORTFOLIO_LIMIT_VERSION ? PORTFOLIO_LIMIT_FIELD : NUMBER_LIMIT_FIELD,
    ];
  }

  /** Every page, or none: a row that cannot be read would seem to be deleted. */
  async #all<Row>(
    path: string,
    fields: readonly string[],
    {
      row,
      rowsMax,
      budget,
    }: { readonly row: z.ZodType<Row>; readonly rowsMax: number; readonly budget: Budget },
  ): Promise<Rows<Row>> {
    const { http, graph } = this.#options;
    const page = z.object({ data: z.array(row), paging });
    const rows: Row[] = [];
    let after: string | null = null;
    for (let pages = 0; pages < PAGES_MAX; pages += 1) {
      if (performance.now() >= budget.endsAt)
        return unavailable(`Reading the account took more than ${ACCOUNT_READING_MS_MAX} ms`);
      const query = { fields: fields.join(','), limit: `${PAGE_ROWS}`, ...(after === null ? {} : { after }) };
      const providerResponse = await http.send({
        ...graph.get(path, query),
        responseBytesMax: PAGE_BYTES_MAX,
      });
      const bytes = providerResponse.kind === 'responded' ? Buffer.byteLength(providerResponse.body) : 0;
      budget.bytesLeft -= bytes;
      if (budget.bytesLeft < 0) return unavailable(TOO_MANY_BYTES);
      const response = graph.read(providerResponse, JSON_MEMBERS_READ_MAX);
      if (response.kind === 'error') return unavailable(errorText(response.error));
      if (response.kind !== 'json') return unavailable(response.reason);
      const read = page.safeParse(response.json);
      if (!read.success) return unavailable(`A page of ${path} cannot be read`);
      // A component is stored with all its fields, and a number of a few characters may have twenty when it is written out.
      budget.bytesLeft -= Math.max(0, Buffer.byteLength(JSON.stringify(read.data.data)) - bytes);
      if (budget.bytesLeft < 0) return unavailable(TOO_MANY_BYTES);
      budget.membersLeft -= membersOfJson(read.data.data);
      if (budget.membersLeft < 0) return unavailable(TOO_MANY_MEMBERS);
      rows.push(...read.data.data);
      if (rows.length > rowsMax) return unavailable(`${path} has more than ${rowsMax} rows`);
      if (read.data.paging?.next === undefined) return { kind: 'rows', rows };
      const cursor: string | undefined = read.data.paging.cursors?.after;
      if (cursor === undefined || cursor === after)
        return unavailable(`${path} has no cursor to its next page`);
      after = cursor;
    }
    return unavailable(`${path} has more than ${PAGES_MAX} pages`);
  }
}

function unavailable(reason: string): { readonly kind: 'unavailable'; readonly reason: string } {
  return { kind: 'unavailable', reason };
}
