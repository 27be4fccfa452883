/** Meta's template component, as far as this service reads it (specification 2.7). */
export interface TemplateComponent {
  readonly type: string;
  readonly format?: string | undefined;
  readonly text?: string | undefined;
  readonly buttons?:
    | readonly {
        readonly type: string;
        readonly text?: string | undefined;
        readonly url?: string | undefined;
      }[]
    | undefined;
  readonly [more: string]: unknown;
}

export interface WhatsappTemplate {
  readonly id: string;
  readonly name: string;
  readonly category: string;
  readonly parameter_format: string;
  readonly language: string;
  readonly status: string;
  readonly reason: string;
  readonly messageSendTtlSeconds: number;
  readonly isWhatsappFlow: boolean;
  readonly createdAt: string;
  readonly components: readonly TemplateComponent[];
}

export interface WhatsappPhoneNumber {
  readonly id: string;
  readonly phoneNumberId: string;
  readonly displayPhoneNumber: string;
  readonly phoneNumber: string;
  readonly verifiedName: string;
  readonly qualityRating: string;
  readonly messagingLimit: string;
  readonly status: string;
  readonly codeVerificationStatus: string;
  readonly nameStatus: string;
  readonly isOfficialBusinessAccount: boolean;
  readonly createdAt: string;
}

export interface WhatsappAccount {
  readonly id: string;
  readonly whatsappBusinessId: string;
  readonly name: string;
  readonly accountReviewStatus: string;
  readonly businessVerificationStatus: string;
  readonly banState: string;
  readonly banDate: string;
  readonly violationType: string;
  readonly createdAt: string;
  readonly phoneNumbers: readonly WhatsappPhoneNumber[];
  readonly templates: readonly WhatsappTemplate[];
}

export interface WhatsappBusiness {
  readonly id: string;
  readonly businessId: string;
  readonly name: string;
  readonly createdAt: string;
  readonly whatsappAccounts: readonly WhatsappAccount[];
}

export const TEMPLATE_STATUS_APPROVED = 'APPROVED';

export interface ResourceCounts {
  readonly businessCount: number;
  readonly accountCount: number;
  readonly phoneNumberCount: number;
  readonly templateCount: number;
}

/** The summary line of the resource tree. */
export function countResources(
  businesses: readonly {
    readonly whatsappAccounts: readonly {
      readonly phoneNumbers: readonly unknown[];
      readonly templates: readonly unknown[];
    }[];
  }[],
): ResourceCounts {
  const accounts = businesses.flatMap((business) => business.whatsappAccounts);
  return {
    businessCount: businesses.length,
    accountCount: accounts.length,
    phoneNumberCount: accounts.reduce((count, account) => count + account.phoneNumbers.length, 0),
    templateCount: accounts.reduce((count, account) => count + account.templates.length, 0),
  };
}

/** A number with the account that has it, and the business whose numbers share one daily limit. */
export interface FoundPhoneNumber {
  readonly business: WhatsappBusiness;
  readonly account: WhatsappAccount;
  readonly phoneNumber: WhatsappPhoneNumber;
}

/** All accounts of the tree, in its order. */
export function accountsIn(businesses: readonly WhatsappBusiness[]): readonly WhatsappAccount[] {
  return businesses.flatMap(({ whatsappAccounts }) => whatsappAccounts);
}

/** The account with our 24-hex id, wherever in the tree it stands. */
export function findAccount(
  businesses: readonly WhatsappBusiness[],
  accountId: string,
): WhatsappAccount | null {
  return accountsIn(businesses).find(({ id }) => id === accountId) ?? null;
}

/** The number with our 24-hex id, wherever in the tree it stands. */
export function findPhoneNumber(
  businesses: readonly WhatsappBusiness[],
  phoneId: string,
): FoundPhoneNumber | null {
  for (const business of businesses) {
    for (const account of business.whatsappAccounts) {
      const phoneNumber = account.phoneNumbers.find(({ id }) => id === phoneId);
      if (phoneNumber !== undefined) return { business, account, phoneNumber };
    }
  }
  return null;
}

/** The template with our 24-hex id, whatever account has it. */
export function findTemplate(
  businesses: readonly WhatsappBusiness[],
  templateId: string,
): WhatsappTemplate | null {
  const templates = accountsIn(businesses).flatMap((account) => account.templates);
  return templates.find(({ id }) => id === templateId) ?? null;
}
