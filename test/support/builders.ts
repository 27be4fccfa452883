/**
 * Valid-by-default values for tests: each builder gives something the service would accept, and takes what the
 * test is about. Whatever a test does not name is of no matter to it.
 */

import type { Submission } from '../../src/application/ports/channel-provider.ts';
import type { NewAccount } from '../../src/application/ports/stores/billing-stores.ts';
import type { SeedPrices } from '../../src/application/seed/seed-prices.ts';
import { DEFAULT_SETTINGS, type Project, type ProjectSettings } from '../../src/domain/access/project.ts';
import type { Account } from '../../src/domain/billing/account.ts';
import type { LedgerEntry } from '../../src/domain/billing/ledger.ts';
import type {
  InternationalPrice,
  MobileOperatorPrices,
  PriceList,
} from '../../src/domain/billing/pricing.ts';
import type { Campaign } from '../../src/domain/campaigns/campaign.ts';
import type { Recipient } from '../../src/domain/campaigns/recipient.ts';
import type { ChannelAttempt, Message } from '../../src/domain/messages/message.ts';
import type { SendState } from '../../src/domain/messages/send-policy.ts';
import type {
  Content,
  DeliveryReport,
  SendRequest,
  WhatsappSender,
} from '../../src/domain/messages/send-request.ts';
import type { SenderId } from '../../src/domain/senders/sender-id.ts';
import { CHANNELS } from '../../src/domain/shared/channel.ts';
import { iqd, ZERO } from '../../src/domain/shared/money.ts';
import { isPhoneNumber, type PhoneNumber } from '../../src/domain/shared/phone-number.ts';
import type { SealedSecret } from '../../src/domain/shared/sealed-secret.ts';
import type { WebhookEvent } from '../../src/domain/webhooks/webhook-event.ts';
import type {
  PlatformAccount,
  PlatformPhoneNumber,
  PlatformTemplate,
} from '../../src/domain/whatsapp/merge-account.ts';
import type {
  WhatsappAccount,
  WhatsappBusiness,
  WhatsappPhoneNumber,
  WhatsappTemplate,
} from '../../src/domain/whatsapp/whatsapp-resources.ts';

/** 2026-01-15T12:00:00Z, the instant every built value is from. */
export const NOW = 1_768_478_400_000;
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

export const PROJECT_ID = '664abc000000000000000001';

/** A number of the mobile operator asiaCell unless another is given. Throws on what is no phone number. */
export function aPhoneNumber(digits = '9647712345678'): PhoneNumber {
  if (!isPhoneNumber(digits)) throw new Error(`not a phone number: ${digits}`);
  return digits;
}

/** The n-th test number with the outcome of these digits, for example `aTestNumber('0006')`. */
export function aTestNumber(outcomeDigits: string, n = 0): PhoneNumber {
  return aPhoneNumber(`999${String(n).padStart(6, '0')}${outcomeDigits}`);
}

/** What the secret box may have made of a secret. */
export function aSealedSecret(text = 'sealed'): SealedSecret {
  return text as SealedSecret;
}

/** The n-th of as many different smsIds as a test needs. */
export function anSmsId(n = 1): string {
  return `sms-${n.toString(16).padStart(24, '0')}`;
}

/** The defaults, in English. */
export function someProjectSettings<Secret = never>(
  given: Partial<ProjectSettings<Secret>> = {},
): ProjectSettings<Secret> {
  return {
    ...DEFAULT_SETTINGS,
    language: 'en',
    ...given,
  };
}

/** A live project without sender IDs, trial or threshold. `settings` replaces single settings. */
export function aProject(
  given: Partial<Omit<Project, 'settings'>> & { readonly settings?: Partial<ProjectSettings> } = {},
): Project {
  return {
    id: PROJECT_ID,
    name: 'Demo',
    slug: 'demo',
    environment: 'live',
    ...given,
    settings: someProjectSettings(given.settings),
  };
}

/** Prepaid, 15,000 IQD, nothing held or spent, no threshold, no trial. */
export function anAccount(given: Partial<Account> = {}): Account {
  return {
    projectId: PROJECT_ID,
    paymentType: 'prepaid',
    balance: iqd(15_000),
    held: ZERO,
    spent: ZERO,
    spendingThreshold: null,
    trialPhoneNumber: null,
    lowCreditNoticedAt: null,
    ...given,
  };
}

/** The account a store opens: every amount is zero. */
export function aNewAccount(given: Partial<NewAccount> = {}): NewAccount {
  return {
    projectId: PROJECT_ID,
    paymentType: 'prepaid',
    spendingThreshold: null,
    trialPhoneNumber: null,
    ...given,
  };
}

/** A deposit of 100 IQD. */
export function aLedgerEntry(given: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    id: 'deposit-1/deposit',
    projectId: PROJECT_ID,
    kind: 'deposit',
    reference: 'deposit-1',
    balanceDelta: iqd(100),
    heldDelta: ZERO,
    spentDelta: ZERO,
    createdAt: NOW,
    ...given,
  };
}

export function someMobileOperatorPrices(given: Partial<MobileOperatorPrices> = {}): MobileOperatorPrices {
  return { korekTelecom: iqd(80), asiaCell: iqd(80), zainIraq: iqd(80), others: iqd(100), ...given };
}

/** One network of Turkey, 120 IQD. */
export function anInternationalPrice(given: Partial<InternationalPrice> = {}): InternationalPrice {
  return {
    continent: 'Asia',
    countryIso: 'TR',
    countryCode: '90',
    country: 'Turkey',
    networkId: 'tr_all',
    network: 'All networks',
    mccMnc: '28601',
    price: iqd(120),
    ...given,
  };
}

/** The prices of the demo seed. */
export function someSeedPrices(given: Partial<SeedPrices> = {}): SeedPrices {
  return {
    sms: someMobileOperatorPrices(),
    whatsapp: { AUTHENTICATION: iqd(60), UTILITY: iqd(60), MARKETING: iqd(90) },
    telegram: iqd(40),
    international: [anInternationalPrice()],
    ...given,
  };
}

/** The prices of the demo seed as a decision reads them: sms 80 (others 100), whatsapp 60/60/90, telegram 40. */
export function somePrices(given: Partial<PriceList> = {}): PriceList {
  const { sms, whatsapp, telegram } = someSeedPrices();
  return {
    sms,
    whatsapp,
    telegram,
    internationalByCountryCode: new Map([['90', iqd(120)]]),
    ...given,
  };
}

/** An accepted sender ID `Barid` with prices of its own: 70 at home, 90 for others. */
export function aSenderId(given: Partial<SenderId> = {}): SenderId {
  return {
    id: '664abc0000000000000000a1',
    projectId: PROJECT_ID,
    senderId: 'Barid',
    status: 'accepted',
    pricePerSms: someMobileOperatorPrices({
      korekTelecom: iqd(70),
      asiaCell: iqd(70),
      zainIraq: iqd(70),
      others: iqd(90),
    }),
    ...given,
  };
}

export function aCode(verificationCode = '123456'): Content {
  return { smsType: 'verification', verificationCode };
}

export function aText(customMessage = 'Your parcel has arrived'): Content {
  return { smsType: 'custom', customMessage };
}

/** The content of a template send that fits `aWhatsappTemplate()`. */
export function aTemplateContent(
  given: Partial<Omit<Extract<Content, { smsType: 'whatsapp-template' }>, 'smsType'>> = {},
): Content {
  return {
    smsType: 'whatsapp-template',
    templateName: 'order_update',
    templateParameters: { body: { '1': 'Layla' } },
    ...given,
  };
}

export const NO_WHATSAPP_SENDER: WhatsappSender = { accountId: null, phoneId: null, templateName: null };

/** A verification code to an asiaCell number over `auto`, under no sender ID, without webhooks. */
export function aSendRequest<Secret = never>(given: Partial<SendRequest<Secret>> = {}): SendRequest<Secret> {
  return {
    phoneNumber: aPhoneNumber(),
    phoneNumberAsSent: given.phoneNumber ?? aPhoneNumber(),
    provider: 'auto',
    senderId: null,
    content: aCode(),
    whatsappSender: NO_WHATSAPP_SENDER,
    deliveryReport: null,
    ...given,
  };
}

/** A request for the template of `aWhatsappBusiness()`. */
export function aTemplateRequest<Secret = never>(
  given: Partial<SendRequest<Secret>> = {},
): SendRequest<Secret> {
  return aSendRequest({
    provider: 'whatsapp',
    content: aTemplateContent(),
    whatsappSender: {
      accountId: aWhatsappAccount().id,
      phoneId: aWhatsappPhoneNumber().id,
      templateName: 'order_update',
    },
    ...given,
  });
}

/** Told of every status, without a secret. */
export function aDeliveryReport<Secret = never>(
  given: Partial<DeliveryReport<Secret>> = {},
): DeliveryReport<Secret> {
  return {
    webhookUrl: 'https://customer.example/status',
    deliveryReportType: 'all',
    webhookSecret: null,
    ...given,
  };
}

/** The state of a decision about `aSendRequest()`, which accepts it. */
export function aSendState(given: Partial<SendState> = {}): SendState {
  return {
    project: aProject(),
    account: anAccount(),
    prices: somePrices(),
    availableChannels: CHANNELS,
    senderId: undefined,
    whatsappBusinesses: [aWhatsappBusiness()],
    acceptedAt: [],
    ...given,
  };
}

/** An attempt the channel took and that nothing more was heard of. */
export function anAttempt(given: Partial<ChannelAttempt> = {}): ChannelAttempt {
  return {
    channel: 'whatsapp',
    state: 'accepted',
    reason: null,
    providerMessageIds: [],
    deliveredIds: [],
    startedAt: NOW,
    endedAt: null,
    ...given,
  };
}

/** A verification code to an asiaCell number on its way to the sms provider of a dev project. */
export function aSubmission(given: Partial<Submission> = {}): Submission {
  return {
    smsId: anSmsId(),
    attemptNumber: 0,
    channel: 'sms',
    projectId: PROJECT_ID,
    environment: 'dev',
    phoneNumber: aPhoneNumber(),
    senderId: null,
    whatsappSender: NO_WHATSAPP_SENDER,
    content: aCode(),
    text: 'Your verification code is 123456',
    attemptTimeoutMs: 30 * SECOND_MS,
    priority: 'code',
    ...given,
  };
}

/** A verification code over whatsapp, then sms, just accepted: pending, no attempt begun. */
export function aMessage(given: Partial<Message> = {}): Message {
  return {
    smsId: anSmsId(),
    projectId: PROJECT_ID,
    campaignId: null,
    phoneNumber: aPhoneNumber(),
    phoneNumberAsSent: given.phoneNumber ?? aPhoneNumber(),
    senderId: null,
    whatsappSender: NO_WHATSAPP_SENDER,
    content: aCode(),
    channels: ['whatsapp', 'sms'],
    attempts: [],
    status: 'pending',
    isFinal: false,
    cost: iqd(80),
    prices: { whatsapp: iqd(60), sms: iqd(80) },
    settlement: 'quoted',
    attemptTimeoutMs: 30 * SECOND_MS,
    deliveryReport: null,
    createdAt: NOW,
    sentAt: null,
    finalAt: null,
    errorReason: null,
    ...given,
  };
}

/** An approved UTILITY template with one placeholder in its body. */
export function aWhatsappTemplate(given: Partial<WhatsappTemplate> = {}): WhatsappTemplate {
  return {
    id: '664def000000000000000004',
    name: 'order_update',
    category: 'UTILITY',
    parameter_format: 'POSITIONAL',
    language: 'en',
    status: 'APPROVED',
    reason: '',
    messageSendTtlSeconds: 0,
    isWhatsappFlow: false,
    createdAt: '2026-01-01T00:00:00.000Z',
    components: [{ type: 'BODY', text: 'Hello {{1}}, your order is on its way' }],
    ...given,
  };
}

/** What the platform says of the number of `aWhatsappPhoneNumber`. */
export function aPlatformPhoneNumber(given: Partial<PlatformPhoneNumber> = {}): PlatformPhoneNumber {
  return {
    phoneNumberId: aWhatsappPhoneNumber().phoneNumberId,
    displayPhoneNumber: '+964 770 000 0001',
    verifiedName: 'Demo',
    qualityRating: 'GREEN',
    messagingLimit: 'TIER_1K',
    status: 'CONNECTED',
    codeVerificationStatus: 'VERIFIED',
    nameStatus: 'APPROVED',
    isOfficialBusinessAccount: false,
    ...given,
  };
}

/** What the platform says of the template of `aWhatsappTemplate`. */
export function aPlatformTemplate(given: Partial<PlatformTemplate> = {}): PlatformTemplate {
  return {
    name: 'order_update',
    language: 'en',
    category: 'UTILITY',
    parameterFormat: 'POSITIONAL',
    status: 'APPROVED',
    reason: '',
    messageSendTtlSeconds: null,
    components: aWhatsappTemplate().components,
    ...given,
  };
}

export function aPlatformAccount(given: Partial<PlatformAccount> = {}): PlatformAccount {
  return {
    phoneNumbers: [aPlatformPhoneNumber()],
    templates: [aPlatformTemplate()],
    ...given,
  };
}

export function aWhatsappPhoneNumber(given: Partial<WhatsappPhoneNumber> = {}): WhatsappPhoneNumber {
  return {
    id: '664def000000000000000003',
    phoneNumberId: '104000000000001',
    displayPhoneNumber: '+964 770 000 0001',
    phoneNumber: '9647700000001',
    verifiedName: 'Demo',
    qualityRating: 'GREEN',
    messagingLimit: 'TIER_1K',
    status: 'CONNECTED',
    codeVerificationStatus: 'VERIFIED',
    nameStatus: 'APPROVED',
    isOfficialBusinessAccount: false,
    createdAt: '2026-01-01T00:00:00.000Z',
    ...given,
  };
}

export function aWhatsappAccount(given: Partial<WhatsappAccount> = {}): WhatsappAccount {
  return {
    id: '664def000000000000000002',
    whatsappBusinessId: '103000000000001',
    name: 'Demo account',
    accountReviewStatus: 'APPROVED',
    businessVerificationStatus: 'verified',
    banState: '',
    banDate: '',
    violationType: '',
    createdAt: '2026-01-01T00:00:00.000Z',
    phoneNumbers: [aWhatsappPhoneNumber()],
    templates: [aWhatsappTemplate()],
    ...given,
  };
}

/** A business with one account, one number and one template. */
export function aWhatsappBusiness(given: Partial<WhatsappBusiness> = {}): WhatsappBusiness {
  return {
    id: '664def000000000000000001',
    businessId: '102000000000001',
    name: 'Demo business',
    createdAt: '2026-01-01T00:00:00.000Z',
    whatsappAccounts: [aWhatsappAccount()],
    ...given,
  };
}

/** A delivery event that is due at `NOW` and was never attempted. */
export function aWebhookEvent(given: Partial<WebhookEvent> = {}): WebhookEvent {
  return {
    id: '0123456789abcdef01234567',
    kind: 'delivery',
    projectId: PROJECT_ID,
    orderingKey: anSmsId(),
    whatsappPhoneId: null,
    url: 'https://customer.example/hook',
    endpoint: 'customer.example/hook',
    secret: null,
    body: '{}',
    state: 'pending',
    attempts: 0,
    firstAttemptAt: null,
    nextAttemptAt: NOW,
    lastError: null,
    createdAt: NOW,
    version: 0,
    ...given,
  };
}

/** The n-th of as many different 24-hex ids as a test needs. */
export function anId(n = 1): string {
  return `664caa${n.toString(16).padStart(18, '0')}`;
}

/** A draft without recipients, of the template and the number of `aWhatsappBusiness()`. */
export function aCampaign(given: Partial<Campaign> = {}): Campaign {
  return {
    id: anId(),
    projectId: PROJECT_ID,
    name: 'Spring',
    category: 'UTILITY',
    templateId: aWhatsappTemplate().id,
    whatsappPhoneId: aWhatsappPhoneNumber().id,
    status: 'draft',
    scheduledFor: null,
    startedAt: null,
    completedAt: null,
    totalRecipients: 0,
    sentCount: 0,
    deliveredCount: 0,
    failedCount: 0,
    estimatedCost: ZERO,
    reserved: ZERO,
    captured: ZERO,
    released: ZERO,
    failureReason: null,
    sampleOf: null,
    createdAt: NOW,
    updatedAt: NOW,
    ...given,
  };
}

/** A recipient of `aCampaign()` before its start, with the parameters of `aWhatsappTemplate()`. */
export function aRecipient(given: Partial<Recipient> = {}): Recipient {
  return {
    id: anId(101),
    campaignId: anId(),
    position: 0,
    phoneNumber: aPhoneNumber(),
    phoneNumberAsSent: given.phoneNumber ?? aPhoneNumber(),
    templateParameters: { body: { '1': 'Layla' } },
    estimatedCost: iqd(60),
    status: 'queued',
    finalCost: null,
    billingState: 'pending',
    errorMessage: null,
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    failedAt: null,
    ...given,
  };
}
