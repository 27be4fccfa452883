import { digitsOf } from '../shared/phone-number.ts';
import type {
  TemplateComponent,
  WhatsappAccount,
  WhatsappPhoneNumber,
  WhatsappTemplate,
} from './whatsapp-resources.ts';

/** A number as the platform describes it; null for what it did not say. */
export interface PlatformPhoneNumber {
  readonly phoneNumberId: string;
  readonly displayPhoneNumber: string;
  readonly verifiedName: string | null;
  readonly qualityRating: string | null;
  readonly messagingLimit: string | null;
  readonly status: string | null;
  readonly codeVerificationStatus: string | null;
  readonly nameStatus: string | null;
  readonly isOfficialBusinessAccount: boolean | null;
}

/** A template as the platform describes it; null for what it did not say. */
export interface PlatformTemplate {
  readonly name: string;
  readonly language: string;
  readonly category: string;
  readonly parameterFormat: string | null;
  readonly status: string;
  /** Why the platform rejected it; empty when there is none. */
  readonly reason: string;
  readonly messageSendTtlSeconds: number | null;
  readonly components: readonly TemplateComponent[];
}

/** Everything that an account has on the platform. */
export interface PlatformAccount {
  readonly phoneNumbers: readonly PlatformPhoneNumber[];
  readonly templates: readonly PlatformTemplate[];
}

/** The status of a number or template that the platform does not have any more. */
const STATUS_DELETED = 'DELETED';

const FLOW_BUTTON = 'FLOW';

/** What new numbers and templates get: 24-hex ids, one for each, and the instant (ISO 8601) they became known. */
export interface NewRows {
  readonly ids: readonly string[];
  readonly createdAt: string;
}

/** How many ids `mergeAccount` needs at the most. */
export function newIdsNeeded({ phoneNumbers, templates }: PlatformAccount): number {
  return phoneNumbers.length + templates.length;
}

/**
 * The stored account with what the platform says of its numbers and templates now. What is known keeps our id; a number is known
 * by the platform's id, a template by name and language. What the platform does not name stays with the status `DELETED`,
 * because a campaign may refer to it. Throws when there are too few ids.
 */
export function mergeAccount(
  stored: WhatsappAccount,
  platform: PlatformAccount,
  { ids, createdAt }: NewRows,
): WhatsappAccount {
  const free = [...ids];
  const newRow = () => {
    const id = free.shift();
    if (id === undefined) throw new Error('There are too few ids for the new numbers and templates');
    return { id, createdAt };
  };
  return {
    ...stored,
    phoneNumbers: merged(stored.phoneNumbers, platform.phoneNumbers, numberKey, (known, given) =>
      numberOf(known, given, newRow),
    ),
    templates: merged(stored.templates, platform.templates, templateKey, (known, given) =>
      templateOf(known, given, newRow),
    ),
  };
}

/**
 * What the platform says of the numbers and templates that are stored already. For an account that several projects have: a new
 * number or template is for the project that an operator gives it to.
 */
export function withoutNewRows(stored: WhatsappAccount, platform: PlatformAccount): PlatformAccount {
  const numbers = new Set(stored.phoneNumbers.map(numberKey));
  const templates = new Set(stored.templates.map(templateKey));
  return {
    phoneNumbers: platform.phoneNumbers.filter((each) => numbers.has(numberKey(each))),
    templates: platform.templates.filter((each) => templates.has(templateKey(each))),
  };
}

/**
 * Numbers, and templates, of an account that are kept when the platform has them no more: campaigns may refer to them. Of more
 * rows, or more characters as JSON, the first ones are forgotten, so that an account cannot grow with every reading.
 */
const VANISHED_ROWS_KEPT_MAX = 1_000;
const VANISHED_CHARACTERS_KEPT_MAX = 1_000_000;

/** Known rows first, in the order they have; then new ones, in the platform's order. */
function merged<Row extends { readonly status: string }, Given>(
  stored: readonly Row[],
  platform: readonly Given[],
  keyOf: (row: Row | Given) => string,
  rowOf: (known: Row | null, given: Given) => Row,
): readonly Row[] {
  const given = new Map(platform.map((each) => [keyOf(each), each]));
  const known = new Set(stored.map(keyOf));
  const kept = lastOf(stored.filter((row) => !given.has(keyOf(row))));
  return [
    ...stored.flatMap((row) => {
      const now = given.get(keyOf(row));
      if (now !== undefined) return [rowOf(row, now)];
      return kept.has(row) ? [{ ...row, status: STATUS_DELETED }] : [];
    }),
    ...[...given].flatMap(([key, each]) => (known.has(key) ? [] : [rowOf(null, each)])),
  ];
}

/** The last of the vanished rows, as many as are kept. */
function lastOf<Row>(vanished: readonly Row[]): ReadonlySet<Row> {
  const kept = new Set<Row>();
  let characters = 0;
  for (const row of vanished.slice(-VANISHED_ROWS_KEPT_MAX).reverse()) {
    characters += JSON.stringify(row).length;
    if (characters > VANISHED_CHARACTERS_KEPT_MAX) break;
    kept.add(row);
  }
  return kept;
}

function numberKey({ phoneNumberId }: Pick<WhatsappPhoneNumber, 'phoneNumberId'>): string {
  return phoneNumberId;
}

/** No language has a space in its code. */
function templateKey({ name, language }: Pick<WhatsappTemplate, 'name' | 'language'>): string {
  return `${language} ${name}`;
}

type NewRow = () => { readonly id: string; readonly createdAt: string };

function numberOf(
  known: WhatsappPhoneNumber | null,
  given: PlatformPhoneNumber,
  newRow: NewRow,
): WhatsappPhoneNumber {
  const { id, createdAt } = known ?? newRow();
  return {
    id,
    phoneNumberId: given.phoneNumberId,
    displayPhoneNumber: given.displayPhoneNumber,
    phoneNumber: `+${digitsOf(given.displayPhoneNumber)}`,
    verifiedName: given.verifiedName ?? known?.verifiedName ?? '',
    qualityRating: given.qualityRating ?? known?.qualityRating ?? '',
    messagingLimit: given.messagingLimit ?? known?.messagingLimit ?? '',
    status: given.status ?? statusOf(known),
    codeVerificationStatus: given.codeVerificationStatus ?? known?.codeVerificationStatus ?? '',
    nameStatus: given.nameStatus ?? known?.nameStatus ?? '',
    isOfficialBusinessAccount: given.isOfficialBusinessAccount ?? known?.isOfficialBusinessAccount ?? false,
    createdAt,
  };
}

/** A number that is there again is not deleted, also when the platform does not say what it is. */
function statusOf(known: WhatsappPhoneNumber | null): string {
  return known === null || known.status === STATUS_DELETED ? '' : known.status;
}

function templateOf(
  known: WhatsappTemplate | null,
  given: PlatformTemplate,
  newRow: NewRow,
): WhatsappTemplate {
  const { id, createdAt } = known ?? newRow();
  return {
    id,
    name: given.name,
    category: given.category,
    parameter_format: given.parameterFormat ?? known?.parameter_format ?? 'POSITIONAL',
    language: given.language,
    status: given.status,
    reason: given.reason,
    messageSendTtlSeconds: given.messageSendTtlSeconds ?? known?.messageSendTtlSeconds ?? 0,
    isWhatsappFlow: given.components.some(({ buttons = [] }) =>
      buttons.some(({ type }) => type === FLOW_BUTTON),
    ),
    createdAt,
    components: given.components,
  };
}
