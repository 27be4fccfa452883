import { z } from 'zod';
import { TEMPLATE_CATEGORIES } from '../../../../domain/billing/system-prices.ts';
import {
  COMPONENT_BUTTONS_MAX,
  COMPONENT_TEXT_CHARACTERS_MAX,
  COMPONENT_URL_CHARACTERS_MAX,
  RESOURCE_TEXT_CHARACTERS_MAX,
  TEMPLATE_COMPONENTS_MAX,
} from '../../../../domain/whatsapp/text-limits.ts';

/** A line of text that no rule of ours applies to. */
export const text = z.string().max(RESOURCE_TEXT_CHARACTERS_MAX);

const said = (description: string, example: string) => text.meta({ description, examples: [example] });
const usually = (preset: string, description: string) =>
  text.default(preset).meta({ description, examples: [preset] });
const ifAny = (description: string) => text.default('').meta({ description, examples: [''] });

const button = z.looseObject({
  type: said('The kind of the button', 'URL'),
  text: said('What the button says', 'Track').optional(),
  url: z
    .string()
    .max(COMPONENT_URL_CHARACTERS_MAX)
    .meta({ description: 'Where the button leads', examples: ['https://shop.example/{{1}}'] })
    .optional(),
});

const component = z.looseObject({
  type: said('`HEADER`, `BODY`, `FOOTER` or `BUTTONS`', 'BODY'),
  format: said('The format of a header', 'TEXT').optional(),
  text: z
    .string()
    .max(COMPONENT_TEXT_CHARACTERS_MAX)
    .meta({ description: 'Its text with placeholders', examples: ['Hello {{1}}'] })
    .optional(),
  buttons: z
    .array(button)
    .max(COMPONENT_BUTTONS_MAX)
    .meta({ description: 'The buttons', examples: [[]] })
    .optional(),
});

/**
 * The whatsapp resources of a project (specification 2.7), as a seed file and an operator write them. What a platform says of
 * them has a default; `id` and `createdAt` are the fields for our id and for the instant a resource became known.
 */
export function whatsappTreeFields<Id extends z.ZodType, CreatedAt extends z.ZodType>({
  id,
  createdAt,
}: {
  readonly id: Id;
  readonly createdAt: CreatedAt;
}) {
  const template = z.strictObject({
    id,
    name: said('The name on the platform', 'order_update'),
    category: z
      .enum(TEMPLATE_CATEGORIES)
      .meta({ description: 'It decides the price of a message', examples: ['UTILITY'] }),
    parameter_format: usually('POSITIONAL', 'How the template names its placeholders'),
    language: usually('en', 'The language of its texts'),
    status: usually('APPROVED', 'Only an `APPROVED` template can be sent'),
    reason: ifAny('Why the platform rejected it'),
    messageSendTtlSeconds: z
      .number()
      .int()
      .default(600)
      .meta({ description: 'How long the platform tries to deliver it, in seconds', examples: [600] }),
    isWhatsappFlow: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether it opens a whatsapp flow', examples: [false] }),
    createdAt,
    components: z
      .array(component)
      .max(TEMPLATE_COMPONENTS_MAX)
      .default([])
      .meta({ description: 'Its parts, as the platform has them', examples: [[]] }),
  });

  const phoneNumber = z.strictObject({
    id,
    phoneNumberId: said('The id of the platform', '104512345678903'),
    displayPhoneNumber: said('The number as whatsapp shows it', '+964 770 000 0000'),
    phoneNumber: said('The number with a plus', '+9647700000000'),
    verifiedName: ifAny('The name that whatsapp shows'),
    qualityRating: usually('GREEN', 'How the platform rates its messages'),
    messagingLimit: usually('TIER_1K', 'How many conversations it may open a day'),
    status: usually('CONNECTED', 'Whether it is connected to the platform'),
    codeVerificationStatus: usually('VERIFIED', 'Whether the owner of the number was verified'),
    nameStatus: usually('APPROVED', 'Whether the platform approved the name'),
    isOfficialBusinessAccount: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether whatsapp shows it as an official account', examples: [false] }),
    createdAt,
  });

  const whatsappAccount = z.strictObject({
    id,
    whatsappBusinessId: said('The id of the platform', '104512345678902'),
    name: said('The name of the account', 'Demo'),
    accountReviewStatus: usually('APPROVED', 'Whether the platform approved the account'),
    businessVerificationStatus: usually('verified', 'Whether the platform verified the business'),
    banState: ifAny('Empty when there is no ban'),
    banDate: ifAny('Empty when there is no ban'),
    violationType: ifAny('Empty when there is no violation'),
    createdAt,
    phoneNumbers: z.array(phoneNumber).default([]).meta({ description: 'The numbers of the account' }),
    templates: z.array(template).default([]).meta({ description: 'The templates of the account' }),
  });

  const business = z.strictObject({
    id,
    businessId: said('The id of the platform', '104512345678901'),
    name: said('The name of the business', 'Demo Trading'),
    createdAt,
    whatsappAccounts: z
      .array(whatsappAccount)
      .default([])
      .meta({ description: 'The accounts of the business' }),
  });

  return {
    businesses: z.array(business).meta({ description: 'Every business with all that belongs to it' }),
  };
}
