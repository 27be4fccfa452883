import type { Environment } from '../access/project.ts';
import { hasPrice, type PriceList } from '../billing/pricing.ts';
import { isUnsupportedInCampaigns } from '../sandbox/sandbox-send.ts';
import { isTestNumber } from '../sandbox/test-number.ts';
import { invariant } from '../shared/invariant.ts';
import { add, type Money, times } from '../shared/money.ts';
import type { PhoneNumber } from '../shared/phone-number.ts';
import { type ParameterRejection, parameterCheck, parametersBytes } from '../whatsapp/template-parameters.ts';
import type { WhatsappTemplate } from '../whatsapp/whatsapp-resources.ts';
import { type Campaign, type CampaignNotEditable, isEditable } from './campaign.ts';
import { type NewRecipient, newRecipient, type Recipient } from './recipient.ts';

export const RECIPIENTS_PER_CAMPAIGN_MAX = 1_000;

/** The parameters of all its recipients together. A start writes them in one transaction, for which others wait. */
export const PARAMETER_BYTES_PER_CAMPAIGN_MAX = 1_024 * 1_024;

export interface UnsupportedNumbers {
  readonly kind: 'unsupported-numbers';
  /** As the caller wrote them. */
  readonly phoneNumbers: readonly string[];
}

export interface RecipientParameters {
  readonly kind: 'recipient-parameters';
  readonly phoneNumber: string;
  readonly rejection: ParameterRejection;
}

export type AttachRejection =
  | CampaignNotEditable
  | { readonly kind: 'recipients-already-attached' }
  | { readonly kind: 'too-many-recipients' }
  | { readonly kind: 'recipients-too-large' }
  | UnsupportedNumbers
  | RecipientParameters;

export interface Attached {
  readonly kind: 'attached';
  /** In the order of the request. */
  readonly added: readonly NewRecipient[];
  /** How many were on the campaign already. */
  readonly skippedCount: number;
  /** How many numbers came again within the request: the first entry stays. */
  readonly duplicateCount: number;
}

/** Who is on a campaign. */
export interface AttachedRecipients {
  readonly numbers: ReadonlySet<PhoneNumber>;
  readonly parameterBytes: number;
}

export const NO_RECIPIENTS: AttachedRecipients = { numbers: new Set(), parameterBytes: 0 };

interface AttachState {
  readonly campaign: Pick<Campaign, 'status'>;
  readonly attached: AttachedRecipients;
  readonly environment: Environment;
  readonly prices: PriceList;
  readonly template: WhatsappTemplate;
}

/** Specification 4.16: which of the given recipients join the campaign. One that is not acceptable rejects them all. */
export function attachRecipients(
  { campaign, attached, environment, prices, template }: AttachState,
  given: readonly NewRecipient[],
): Attached | AttachRejection {
  if (!isEditable(campaign)) return { kind: 'campaign-not-editable' };
  const distinct = [...firstOfEach(given).values()];
  const added = distinct.filter(({ phoneNumber }) => !attached.numbers.has(phoneNumber));
  if (added.length === 0) return { kind: 'recipients-already-attached' };
  const unsupported = numbersRejection(added, environment, prices);
  if (unsupported !== null) return unsupported;
  const parameters = parametersRejection(added, template);
  if (parameters !== null) return parameters;
  if (attached.numbers.size + added.length > RECIPIENTS_PER_CAMPAIGN_MAX)
    return { kind: 'too-many-recipients' };
  if (isTooLarge(attached, added)) return { kind: 'recipients-too-large' };
  return {
    kind: 'attached',
    added,
    skippedCount: distinct.length - added.length,
    duplicateCount: given.length - distinct.length,
  };
}

function isTooLarge({ parameterBytes }: AttachedRecipients, added: readonly NewRecipient[]): boolean {
  const sizes = added.map(({ templateParameters }) => parametersBytes(templateParameters));
  return sizes.reduce((sum, bytes) => sum + bytes, parameterBytes) > PARAMETER_BYTES_PER_CAMPAIGN_MAX;
}

/** What recipients bring along when they join a campaign: an id for each of them at least, and what each costs. */
interface Joining {
  readonly ids: readonly string[];
  readonly cost: Money;
}

/** The campaign after these recipients have joined it, behind those it has. */
export function joinCampaign(
  campaign: Campaign,
  added: readonly NewRecipient[],
  { ids, cost }: Joining,
  now: number,
): { readonly campaign: Campaign; readonly recipients: readonly Recipient[] } {
  invariant(ids.length >= added.length, 'every recipient that joins has an id');
  return {
    campaign: {
      ...campaign,
      totalRecipients: campaign.totalRecipients + added.length,
      estimatedCost: add(campaign.estimatedCost, times(cost, added.length)),
      updatedAt: now,
    },
    recipients: added.map((each, index) =>
      newRecipient(each, {
        id: ids[index] as string,
        campaignId: campaign.id,
        position: campaign.totalRecipients + index,
        estimatedCost: cost,
      }),
    ),
  };
}

/** The recipients whose parameters do not fit the template, in their order. */
export function* parametersRejections(
  recipients: readonly Pick<NewRecipient, 'phoneNumberAsSent' | 'templateParameters'>[],
  template: WhatsappTemplate,
): Generator<RecipientParameters, void, undefined> {
  const check = parameterCheck(template);
  for (const { phoneNumberAsSent, templateParameters } of recipients) {
    const rejection = check(templateParameters);
    if (rejection !== null) yield { kind: 'recipient-parameters', phoneNumber: phoneNumberAsSent, rejection };
  }
}

/** The first recipient whose parameters do not fit the template; null when all fit. */
export function parametersRejection(
  recipients: readonly NewRecipient[],
  template: WhatsappTemplate,
): RecipientParameters | null {
  return parametersRejections(recipients, template).next().value ?? null;
}

/** The numbers of countries without a price; a live project may not send to test numbers either. */
export function numbersRejection(
  recipients: readonly NewRecipient[],
  environment: Environment,
  prices: PriceList,
): UnsupportedNumbers | null {
  const phoneNumbers = recipients
    .filter(({ phoneNumber }) =>
      isTestNumber(phoneNumber)
        ? environment === 'live' || isUnsupportedInCampaigns(phoneNumber)
        : !hasPrice(prices, phoneNumber),
    )
    .map(({ phoneNumberAsSent }) => phoneNumberAsSent);
  return phoneNumbers.length === 0 ? null : { kind: 'unsupported-numbers', phoneNumbers };
}

function firstOfEach(given: readonly NewRecipient[]): ReadonlyMap<PhoneNumber, NewRecipient> {
  const first = new Map<PhoneNumber, NewRecipient>();
  for (const recipient of given) {
    if (!first.has(recipient.phoneNumber)) first.set(recipient.phoneNumber, recipient);
  }
  return first;
}
