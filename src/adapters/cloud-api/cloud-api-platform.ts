import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import { EventLoopShare } from '../../application/concurrency/event-loop-share.ts';
import type { EventLoop } from '../../application/ports/event-loop.ts';
import type { ProviderHttp, ProviderResponse } from '../../application/ports/provider-http.ts';
import type { PlatformAccountResult, WhatsappPlatform } from '../../application/ports/whatsapp-platform.ts';
import { membersOfJson } from '../../domain/shared/json-text.ts';
import type { GraphApi } from './graph-api.ts';
import { errorText } from './graph-response.ts';
import {
  NUMBER_LIMIT_FIELD,
  PORTFOLIO_LIMIT_FIELD,
  PORTFOLIO_LIMIT_VERSION,
  phoneNumberRow,
  templateRow,
} from './platform-rows.ts';

interface PlatformOptions {
  readonly graph: GraphApi;
  readonly http: ProviderHttp;
  readonly eventLoop: EventLoop;
}

/** Numbers of one account. */
export const ACCOUNT_NUMBERS_MAX = 500;

/** Templates of one account; Meta allows 6,000, each language of a name for itself. */
const ACCOUNT_TEMPLATES_MAX = 10_000;

/** The most rows of one page: so many carousels of ten cards in Arabic fit into `PAGE_BYTES_MAX`. */
const PAGE_ROWS = 15;

/** A page is read in one piece of the event loop. */
const PAGE_BYTES_MAX = 524_288;
const PAGE_MEMBERS_MAX = 15_000;

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

interface Unavailable {
  readonly kind: 'unavailable';
  readonly reason: string;
}

type Rows<Row> = { readonly kind: 'rows'; readonly rows: readonly Row[] } | Unavailable;

/** The rows of one edge of an account. */
interface Wanted<Row> {
  readonly row: z.ZodType<Row>;
  readonly rowsMax: number;
  readonly budget: Budget;
}

/** The accounts, numbers and templates of Meta's platform, read with the credentials of one provider. */
export class CloudApiPlatform implements WhatsappPlatform {
  readonly #options: PlatformOptions;
  /** The event loop's share for parsing pages, one at a time. */
  readonly #share: EventLoopShare;

  constructor(options: PlatformOptions) {
    this.#options = options;
    this.#share = new EventLoopShare(options.eventLoop);
  }

  async accountOf(whatsappBusinessId: string): Promise<PlatformAccountResult> {
    const budget: Budget = {
      bytesLeft: ACCOUNT_BYTES_MAX,
      membersLeft: ACCOUNT_MEMBERS_MAX,
      endsAt: performance.now() + ACCOUNT_READING_MS_MAX,
    };
    const numbers = await this.#all(`${whatsappBusinessId}/phone_numbers`, this.#numberFields(), {
      row: phoneNumberRow,
      rowsMax: ACCOUNT_NUMBERS_MAX,
      budget,
    });
    if (numbers.kind === 'unavailable') return numbers;
    const templates = await this.#all(`${whatsappBusinessId}/message_templates`, TEMPLATE_FIELDS, {
      row: templateRow,
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
  async #all<Row>(path: string, fields: readonly string[], wanted: Wanted<Row>): Promise<Rows<Row>> {
    const { http, graph } = this.#options;
    const { row, rowsMax, budget } = wanted;
    const page = z.object({ data: z.array(row).max(PAGE_ROWS), paging });
    const rows: Row[] = [];
    let after: string | null = null;
    for (let pages = 0; pages < PAGES_MAX; pages += 1) {
      if (performance.now() >= budget.endsAt)
        return unavailable(`Reading the account took more than ${ACCOUNT_READING_MS_MAX} ms`);
      const query = { fields: fields.join(','), limit: `${PAGE_ROWS}`, ...(after === null ? {} : { after }) };
      const response = await http.send({ ...graph.get(path, query), responseBytesMax: PAGE_BYTES_MAX });
      const read = await this.#share.run(async () => this.#page(response, page, { path, budget }));
      if (read.kind === 'unavailable') return read;
      rows.push(...read.data);
      if (rows.length > rowsMax) return unavailable(`${path} has more than ${rowsMax} rows`);
      if (read.paging?.next === undefined) return { kind: 'rows', rows };
      const cursor: string | undefined = read.paging.cursors?.after;
      if (cursor === undefined || cursor === after)
        return unavailable(`${path} has no cursor to its next page`);
      after = cursor;
    }
    return unavailable(`${path} has more than ${PAGES_MAX} pages`);
  }

  /** One page, taken from the budget. */
  #page<Page extends { readonly data: readonly unknown[] }>(
    providerResponse: ProviderResponse,
    page: z.ZodType<Page>,
    { path, budget }: { readonly path: string; readonly budget: Budget },
  ): (Page & { readonly kind: 'page' }) | Unavailable {
    const bytes = providerResponse.kind === 'responded' ? Buffer.byteLength(providerResponse.body) : 0;
    budget.bytesLeft -= bytes;
    if (budget.bytesLeft < 0) return unavailable(TOO_MANY_BYTES);
    const response = this.#options.graph.read(providerResponse, PAGE_MEMBERS_MAX);
    if (response.kind === 'error') return unavailable(errorText(response.error));
    if (response.kind !== 'json') return unavailable(response.reason);
    const read = page.safeParse(response.json);
    if (!read.success) return unavailable(`A page of ${path} cannot be read`);
    // A component is stored with all its fields, and a number of a few characters may have twenty when it is written out.
    budget.bytesLeft -= Math.max(0, Buffer.byteLength(JSON.stringify(read.data.data)) - bytes);
    if (budget.bytesLeft < 0) return unavailable(TOO_MANY_BYTES);
    budget.membersLeft -= membersOfJson(read.data.data);
    if (budget.membersLeft < 0) return unavailable(TOO_MANY_MEMBERS);
    return { ...read.data, kind: 'page' };
  }
}

function unavailable(reason: string): Unavailable {
  return { kind: 'unavailable', reason };
}
