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

/** The number with our 24-hex id, wherever in the tree it stands. */
export function findPhoneNumber(
  businesses: readonly WhatsappBusiness[],
  phoneId: string,
): WhatsappPhoneNumber | null {
  for (const account of businesses.flatMap((business) => business.whatsappAccounts)) {
    const number = account.phoneNumbers.find((candidate) => candidate.id === phoneId);
    if (number !== undefined) return number;
  }
  return null;
}

/** The account with our 24-hex id, wherever in the tree it stands. */
export function findAccount(
  businesses: readonly WhatsappBusiness[],
  accountId: string,
): WhatsappAccount | null {
  for (const business of businesses) {
    const account = business.whatsappAccounts.find((candidate) => candidate.id === accountId);
    if (account !== undefined) return account;
  }
  return null;
}

/** The business that has the number with our 24-hex id: its numbers share one daily limit. */
export function findPortfolio(
  businesses: readonly WhatsappBusiness[],
  phoneId: string,
): WhatsappBusiness | null {
  return (
    businesses.find(({ whatsappAccounts }) =>
      whatsappAccounts.some(({ phoneNumbers }) => phoneNumbers.some(({ id }) => id === phoneId)),
    ) ?? null
  );
}
