import type {
  WhatsappAccount,
  WhatsappBusiness,
  WhatsappPhoneNumber,
  WhatsappTemplate,
} from './whatsapp-resources.ts';

/** What may be left out of a given resource: our id, and the instant (ISO 8601) it became known. */
interface GivenIdentity {
  readonly id?: string | undefined;
  readonly createdAt?: string | undefined;
}

type Given<Resource> = Omit<Resource, keyof GivenIdentity> & GivenIdentity;

export type GivenPhoneNumber = Given<WhatsappPhoneNumber>;
export type GivenTemplate = Given<WhatsappTemplate>;

export interface GivenAccount extends Given<Omit<WhatsappAccount, 'phoneNumbers' | 'templates'>> {
  readonly phoneNumbers: readonly GivenPhoneNumber[];
  readonly templates: readonly GivenTemplate[];
}

/** A business as an operator gives it. */
export interface GivenBusiness extends Given<Omit<WhatsappBusiness, 'whatsappAccounts'>> {
  readonly whatsappAccounts: readonly GivenAccount[];
}

interface Identity {
  readonly id: string;
  readonly createdAt: string;
}

/** How many ids `completedTree` needs at the most. */
export function countNewIds(given: readonly GivenBusiness[]): number {
  return keyedResources(given).filter(([, { id }]) => id === undefined).length;
}

/** An id that two of the given resources have; null when each has its own. */
export function repeatedResourceId(given: readonly GivenBusiness[]): string | null {
  const seen = new Set<string>();
  for (const [, { id }] of keyedResources(given)) {
    if (id === undefined) continue;
    if (seen.has(id)) return id;
    seen.add(id);
  }
  return null;
}

/**
 * The given tree with ids and instants. A resource without an id gets that of the stored one with the same id of the platform; a
 * template that of the same name and language in the same account; a new one one of `ids`. No id is given twice, as long as
 * the ids in `given` differ. `createdAt` stays as stored, and is the given one for what is new. Throws when there are too few
 * ids.
 */
export function completedTree(
  stored: readonly WhatsappBusiness[],
  given: readonly GivenBusiness[],
  { ids, createdAt }: { readonly ids: readonly string[]; readonly createdAt: string },
): readonly WhatsappBusiness[] {
  const identities = new Identities(stored, given, ids, createdAt);
  return given.map((business) => ({
    ...business,
    ...identities.of(business, businessKey(business)),
    whatsappAccounts: business.whatsappAccounts.map((account) => ({
      ...account,
      ...identities.of(account, accountKey(account)),
      phoneNumbers: account.phoneNumbers.map((number) => ({
        ...number,
        ...identities.of(number, numberKey(number)),
      })),
      templates: account.templates.map((template) => ({
        ...template,
        ...identities.of(template, templateKey(account, template)),
      })),
    })),
  }));
}

class Identities {
  readonly #byKey = new Map<string, Identity>();
  readonly #createdAts = new Map<string, string>();
  readonly #taken: Set<string>;
  readonly #free: string[];
  readonly #now: string;

  constructor(
    stored: readonly WhatsappBusiness[],
    given: readonly GivenBusiness[],
    ids: readonly string[],
    now: string,
  ) {
    for (const [key, { id, createdAt }] of keyedResources(stored)) {
      if (id === undefined || createdAt === undefined) continue;
      if (!this.#byKey.has(key)) this.#byKey.set(key, { id, createdAt });
      this.#createdAts.set(id, createdAt);
    }
    this.#taken = new Set(keyedResources(given).flatMap(([, { id }]) => id ?? []));
    this.#free = [...ids];
    this.#now = now;
  }

  of({ id, createdAt }: GivenIdentity, key: string): Identity {
    if (id !== undefined) return { id, createdAt: createdAt ?? this.#createdAts.get(id) ?? this.#now };
    const known = this.#byKey.get(key);
    if (known === undefined || this.#taken.has(known.id)) {
      const made = this.#free.shift();
      if (made === undefined) throw new Error('There are too few ids for the new whatsapp resources');
      return { id: made, createdAt: createdAt ?? this.#now };
    }
    this.#taken.add(known.id);
    return { id: known.id, createdAt: createdAt ?? known.createdAt };
  }
}

/** Each resource, and what it is known by on the platform. */
function keyedResources(businesses: readonly GivenBusiness[]): readonly (readonly [string, GivenIdentity])[] {
  return businesses.flatMap((business) => [
    [businessKey(business), business] as const,
    ...business.whatsappAccounts.flatMap((account) => [
      [accountKey(account), account] as const,
      ...account.phoneNumbers.map((number) => [numberKey(number), number] as const),
      ...account.templates.map((template) => [templateKey(account, template), template] as const),
    ]),
  ]);
}

function businessKey({ businessId }: Pick<WhatsappBusiness, 'businessId'>): string {
  return JSON.stringify(['business', businessId]);
}

function accountKey({ whatsappBusinessId }: Pick<WhatsappAccount, 'whatsappBusinessId'>): string {
  return JSON.stringify(['account', whatsappBusinessId]);
}

function numberKey({ phoneNumberId }: Pick<WhatsappPhoneNumber, 'phoneNumberId'>): string {
  return JSON.stringify(['number', phoneNumberId]);
}

function templateKey(
  { whatsappBusinessId }: Pick<WhatsappAccount, 'whatsappBusinessId'>,
  { name, language }: Pick<WhatsappTemplate, 'name' | 'language'>,
): string {
  return JSON.stringify(['template', whatsappBusinessId, language, name]);
}
