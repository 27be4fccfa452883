import { z } from 'zod';
import { RECEIPT_STATES, receiptReader } from '../../adapters/http-gateway/gateway-receipts.ts';
import { replyReader } from '../../adapters/http-gateway/gateway-reply.ts';
import { requestMaker } from '../../adapters/http-gateway/gateway-request.ts';
import { HttpGatewayCallback } from '../../adapters/http-gateway/http-gateway-callback.ts';
import { HttpGatewayProvider } from '../../adapters/http-gateway/http-gateway-provider.ts';
import { type Mistake, under } from '../../adapters/http-gateway/mistake.ts';
import { REJECTION_CLASSES } from '../../domain/shared/rejection-class.ts';
import type { ProviderKind } from './provider-kind.ts';
import type { SecretSchema } from './secret.ts';

const STATUS_MIN = 100;
const STATUS_MAX = 599;

const text = z.string().min(1);
const texts = z.record(text, z.string());
const path = z.string();
const status = z.int().min(STATUS_MIN).max(STATUS_MAX);
const statuses = z.array(status).min(1);
const scalar = z.union([z.string(), z.number(), z.boolean()]);
const basic = z.strictObject({ user: text, password: text });

const request = z.strictObject({
  method: z.enum(['GET', 'POST']),
  url: text,
  headers: texts.optional(),
  basic: basic.optional(),
  query: texts.optional(),
  json: z.json().optional(),
  form: texts.optional(),
  text: text.optional(),
});

const reply = z.discriminatedUnion('format', [
  z.strictObject({ format: z.literal('json') }),
  z.strictObject({ format: z.literal('text'), pattern: text }),
]);

const success = z.strictObject({
  status: statuses.optional(),
  path: path.optional(),
  values: z.array(scalar).min(1).optional(),
  id: path.optional(),
  ids: z
    .union([z.strictObject({ items: path, id: path.optional() }), z.strictObject({ path, separator: text })])
    .optional(),
});

const error = z.strictObject({
  status: z.union([status, statuses]).optional(),
  path: path.optional(),
  equals: z.union([scalar, z.array(scalar).min(1)]).optional(),
  matches: text.optional(),
  class: z.enum(REJECTION_CLASSES),
  reason: path.optional(),
});

const authorization = z.union(
  [
    z.strictObject({ query: text, value: text }),
    z.strictObject({ header: text, value: text }),
    z.strictObject({ basic }),
    z.strictObject({
      hmac: z.strictObject({
        header: text,
        algorithm: z.literal('sha256'),
        secret: text,
        over: z.literal('body'),
        encoding: z.enum(['hex', 'base64']).default('hex'),
        prefix: z.string().default(''),
      }),
    }),
  ],
  'must be { "query", "value" }, { "header", "value" }, { "basic" } or { "hmac" }',
);

const receipts = z.strictObject({
  authorization,
  method: z.enum(['GET', 'POST']),
  from: z.enum(['query', 'json', 'form']),
  items: path.optional(),
  id: path,
  status: path,
  states: z.record(text, z.enum(RECEIPT_STATES)),
  reason: path.optional(),
});

const check = z.strictObject({
  method: z.enum(['GET', 'POST']).default('GET'),
  url: text,
  headers: texts.optional(),
  basic: basic.optional(),
  query: texts.optional(),
  status: statuses.optional(),
});

/** The settings of a gateway, made into what the adapter works with. */
const settings = (secret: SecretSchema) =>
  z
    .strictObject({
      secrets: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), secret).default({}),
      senderId: text.optional(),
      encodings: z.strictObject({ gsm7: scalar, ucs2: scalar }).default({ gsm7: 'gsm7', ucs2: 'ucs2' }),
      request,
      reply: reply.default({ format: 'json' }),
      success,
      errors: z.array(error).default([]),
      receipts: receipts.optional(),
      check: check.optional(),
    })
    .transform((given, context) => {
      const mistake: Mistake = (at, message) =>
        context.addIssue({ code: 'custom', path: [...at], message, input: given });
      const secrets = new Map(Object.entries(given.secrets));
      const namesNoId = given.success.id === undefined && given.success.ids === undefined;
      if (namesNoId && given.receipts !== undefined && !JSON.stringify(given.request).includes('{id}')) {
        mistake(
          ['success'],
          'needs id or ids: without them receipts come under {id}, which the request lacks',
        );
      }
      return {
        sending: { defaultSenderId: given.senderId ?? null, encodings: given.encodings },
        request: requestMaker(given.request, secrets, under(mistake, 'request')),
        reply: replyReader(given, secrets, mistake),
        receipts:
          given.receipts === undefined
            ? null
            : receiptReader(given.receipts, secrets, under(mistake, 'receipts')),
        check:
          given.check === undefined
            ? null
            : {
                request: requestMaker(given.check, secrets, under(mistake, 'check'), []),
                status: given.check.status ?? null,
              },
      };
    });

/** An sms gateway with an HTTP interface of its own, which the settings describe. */
export const httpGatewayKind: ProviderKind<ReturnType<typeof settings>> = {
  channels: ['sms'],
  settings,
  make({ receipts, ...parts }, { name, http, hmac }) {
    return {
      provider: new HttpGatewayProvider({ name, http: http(), ...parts }),
      callback: receipts === null ? null : new HttpGatewayCallback({ receipts, hmac }),
      whatsappPlatform: null,
    };
  },
};
