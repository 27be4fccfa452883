import { z } from 'zod';
import { truthValue } from '../../input/query-fields.ts';

const text = z.string();
const count = z.int().min(0);
const createdAt = text.meta({ description: 'ISO 8601', examples: ['2024-01-01T00:00:00.000Z'] });

/** Specification 4.8. */
export const resourcesQuery = z.object({
  includeTemplateComponents: truthValue('includeTemplateComponents')
    .default(false)
    .meta({
      description:
        'Whether templates carry their `components`: `true`, `false`, `1` or `0` in any case. Start without.',
      examples: ['true'],
      default: 'false',
    }),
});

const templateComponent = z
  .looseObject({
    type: text.meta({ description: '`HEADER`, `BODY`, `FOOTER` or `BUTTONS`', examples: ['BODY'] }),
  })
  .meta({
    id: 'WhatsappTemplateComponent',
    description: 'A part of a template, with all fields that the platform gives it',
    examples: [{ type: 'BODY', text: 'Hello {{1}}, your order {{2}} is on its way.' }],
  });

export const template = z
  .object({
    id: text.meta({ description: 'Our id, 24 hex characters', examples: ['664def456abc789012345603'] }),
    name: text.meta({ description: 'The `templateName` of a send', examples: ['order_update'] }),
    category: text.meta({
      description: '`AUTHENTICATION`, `UTILITY` or `MARKETING`; it decides the price',
      examples: ['UTILITY'],
    }),
    parameter_format: text.meta({
      description: 'How the template names its placeholders',
      examples: ['POSITIONAL'],
    }),
    language: text.meta({ description: 'The language of its texts', examples: ['en'] }),
    status: text.meta({ description: 'Only an `APPROVED` template can be sent', examples: ['APPROVED'] }),
    reason: text.meta({
      description: 'Why the platform rejected it; empty when there is none',
      examples: [''],
    }),
    messageSendTtlSeconds: z
      .number()
      .meta({ description: 'How long the platform tries to deliver it, in seconds', examples: [600] }),
    isWhatsappFlow: z.boolean().meta({ description: 'Whether it opens a whatsapp flow', examples: [false] }),
    createdAt,
    components: z
      .array(templateComponent)
      .meta({ description: 'Its parts; present when the request asked for them' })
      .optional(),
  })
  .meta({ id: 'WhatsappTemplate', description: 'A template of a whatsapp account' });

export const phoneNumber = z
  .object({
    id: text.meta({
      description: 'Our id: the `whatsappPhoneId` of a send',
      examples: ['664def456abc789012345678'],
    }),
    phoneNumberId: text.meta({ description: 'The id of the platform', examples: ['104512345678903'] }),
    displayPhoneNumber: text.meta({
      description: 'The number as whatsapp shows it',
      examples: ['+964 770 000 0000'],
    }),
    phoneNumber: text.meta({ description: 'The number with a plus', examples: ['+9647700000000'] }),
    verifiedName: text.meta({ description: 'The name that whatsapp shows', examples: ['Demo'] }),
    qualityRating: text.meta({ description: 'How the platform rates its messages', examples: ['GREEN'] }),
    messagingLimit: text.meta({
      description: 'How many conversations it may open a day',
      examples: ['TIER_1K'],
    }),
    status: text.meta({ description: 'Whether it is connected to the platform', examples: ['CONNECTED'] }),
    codeVerificationStatus: text.meta({
      description: 'Whether the owner of the number was verified',
      examples: ['VERIFIED'],
    }),
    nameStatus: text.meta({ description: 'Whether the platform approved the name', examples: ['APPROVED'] }),
    isOfficialBusinessAccount: z
      .boolean()
      .meta({ description: 'Whether whatsapp shows it as an official account', examples: [false] }),
    createdAt,
  })
  .meta({ id: 'WhatsappPhoneNumber', description: 'A number of a whatsapp account' });

export const account = z
  .object({
    id: text.meta({
      description: 'Our id: the `whatsappAccountId` of a send',
      examples: ['664def456abc789012345602'],
    }),
    whatsappBusinessId: text.meta({ description: 'The id of the platform', examples: ['104512345678902'] }),
    name: text.meta({ description: 'The name of the account', examples: ['Demo'] }),
    accountReviewStatus: text.meta({
      description: 'Whether the platform approved the account',
      examples: ['APPROVED'],
    }),
    businessVerificationStatus: text.meta({
      description: 'Whether the platform verified the business',
      examples: ['verified'],
    }),
    banState: text.meta({ description: 'Empty when there is no ban', examples: [''] }),
    banDate: text.meta({ description: 'Empty when there is no ban', examples: [''] }),
    violationType: text.meta({ description: 'Empty when there is no violation', examples: [''] }),
    createdAt,
    phoneNumbers: z.array(phoneNumber).meta({ description: 'The numbers of the account' }),
    templates: z.array(template).meta({ description: 'The templates of the account' }),
  })
  .meta({ id: 'WhatsappAccount', description: 'A whatsapp business account' });

export const business = z
  .object({
    id: text.meta({ description: 'Our id, 24 hex characters', examples: ['664def456abc789012345601'] }),
    businessId: text.meta({ description: 'The id of the platform', examples: ['104512345678901'] }),
    name: text.meta({ description: 'The name of the business', examples: ['Demo Trading'] }),
    createdAt,
    whatsappAccounts: z.array(account).meta({ description: 'The accounts of the business' }),
  })
  .meta({ id: 'WhatsappBusiness', description: 'A business on whatsapp' });

/** Specification 2.7. */
export const resourceTree = z
  .object({
    success: z.literal(true).meta({ description: 'Always true' }),
    data: z
      .object({
        project: z
          .object({
            id: text.meta({ description: 'The id of the project', examples: ['1888ad8b145368b77b4f9dcf'] }),
            slug: text.meta({ description: 'Its short name', examples: ['demo'] }),
            name: text.meta({ description: 'Its name', examples: ['Demo'] }),
          })
          .meta({ description: 'The project that the key belongs to' }),
        summary: z
          .object({
            businessCount: count.meta({ description: 'Businesses', examples: [1] }),
            accountCount: count.meta({ description: 'Accounts of all businesses', examples: [1] }),
            phoneNumberCount: count.meta({ description: 'Numbers of all accounts', examples: [1] }),
            templateCount: count.meta({ description: 'Templates of all accounts', examples: [1] }),
          })
          .meta({ description: 'How many there are' }),
        businesses: z.array(business).meta({ description: 'Every business with all that belongs to it' }),
      })
      .meta({ description: 'The resource tree' }),
  })
  .meta({ id: 'WhatsappResources', description: 'Everything of whatsapp that is linked to the project' });

/** Specification 7: a failure to read the resource tree. */
export const resourcesFailedBody = z
  .object({
    success: z.literal(false).meta({ description: 'Always false' }),
    message: text.meta({
      description: 'What happened, for people',
      examples: ['Failed to fetch whatsapp resources'],
    }),
  })
  .meta({ id: 'ResourcesErrorBody', description: 'The resource tree could not be read' });
