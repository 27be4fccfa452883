import { z } from 'zod';
import { errorCode } from '../../replies/error-bodies.ts';
import { idOfTemplate } from './campaign-requests.ts';

const text = z.string();
const count = z.int().min(0);
const amount = z.number().min(0);
const success = z.literal(true).meta({ description: 'Always true' });

const parameter = z.union([z.string(), z.number()]);
const parameters = z.record(z.string(), parameter);

export const payloadSchema = z
  .object({
    template: z
      .object({
        id: text.meta({ description: 'The `id` of the template', examples: idOfTemplate.examples }),
        name: text.meta({ description: 'Its name', examples: ['order_update'] }),
        language: text.meta({ description: 'The language of its texts', examples: ['en'] }),
        category: text.meta({ description: 'Its category', examples: ['UTILITY'] }),
      })
      .meta({ description: 'The template' }),
    fields: z
      .array(
        z
          .object({
            key: text.meta({
              description: 'The placeholder, or `imageUrl`, `videoUrl`, `documentUrl`',
              examples: ['1'],
            }),
            label: text.meta({ description: 'For people', examples: ['Body {{1}}'] }),
            required: z.boolean().meta({ description: 'Always true', examples: [true] }),
            example: text.meta({ description: 'A value that fits', examples: ['Value 1'] }),
            templateParametersPath: text.meta({
              description: 'Where the value belongs in a recipient',
              examples: ['templateParameters.body.1'],
            }),
          })
          .meta({ id: 'TemplateField', description: 'A parameter of a template' }),
      )
      .meta({ description: 'Every parameter of the template' }),
    exampleRecipient: z
      .object({
        phoneNumber: text.meta({ description: 'A phone number', examples: ['9647701234567'] }),
        templateParameters: z
          .object({
            body: parameters.meta({ description: 'The values of the text', examples: [{ 1: 'Value 1' }] }),
            header: parameters.meta({ description: 'The value of the header', examples: [{}] }),
            buttons: z
              .record(z.string(), parameters)
              .meta({ description: 'The values of each button', examples: [{ 0: { 1: 'Value 1' } }] }),
          })
          .meta({ description: 'All parameters of the template, with values that fit' }),
      })
      .meta({ description: 'A recipient with all of them' }),
  })
  .meta({ id: 'RecipientPayload', description: 'Which parameters a template needs' });

export const payloadReply = z
  .object({ success, data: payloadSchema })
  .meta({ id: 'RecipientPayloadReply', description: 'Which parameters a template needs' });

/** What `POST /whatsapp/campaigns/{_id}/preflight` tells. */
export const preflightSchema = z
  .object({
    canStart: z.boolean().meta({ description: 'Whether there are no `problems`', examples: [false] }),
    problems: z
      .array(
        z
          .object({
            code: errorCode,
            error: text.meta({
              description: 'Its text, for people',
              examples: ['Insufficient credit, please add more credit'],
            }),
            phoneNumbers: z
              .array(text)
              .meta({
                description: 'The recipients it is about, when it is about some',
                examples: [['9647701234567']],
              })
              .optional(),
          })
          .meta({
            id: 'PreflightProblem',
            description: 'What would reject the start',
            examples: [{ code: 'insufficient-credit', error: 'Insufficient credit, please add more credit' }],
          }),
      )
      .meta({ description: 'Everything that would reject the start' }),
    totalRecipients: count.meta({ description: 'How many recipients the campaign has', examples: [2] }),
    estimatedTotalCost: amount.meta({ description: 'IQD: what the start would hold', examples: [120] }),
    credit: amount.meta({ description: 'IQD: the credit now', examples: [100] }),
    creditAfterStart: amount.meta({
      description: 'IQD: the credit after the start, never below 0',
      examples: [0],
    }),
    messagesPerSecond: count
      .meta({
        description:
          'The sending rate; absent when nothing limits it, or the template or number cannot be used',
        examples: [80],
      })
      .optional(),
    dailyLimit: count
      .meta({ description: 'The daily limit of new conversations; absent likewise', examples: [1000] })
      .optional(),
    durationSeconds: amount.meta({
      description:
        'From now until the last message may start at this rate; whole days when the daily limit does not suffice',
      examples: [0],
    }),
  })
  .meta({ id: 'Preflight', description: 'What a start of a campaign would do now' });

export const preflightReply = z
  .object({ success, data: preflightSchema })
  .meta({ id: 'PreflightReply', description: 'What a start of a campaign would do now' });
