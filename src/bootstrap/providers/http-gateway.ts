import { z } from 'zod';
import { receiptReader } from '../../adapters/http-gateway/gateway-receipts.ts';
import {
  type RequestMaker,
  requestMaker,
  type SendingOptions,
} from '../../adapters/http-gateway/gateway-request.ts';
import { responseReader } from '../../adapters/http-gateway/gateway-response.ts';
import {
  areIdsOurs,
  checkSettings,
  encodingSettings,
  errorSettings,
  receiptSettings,
  requestSettings,
  responseSettings,
  successSettings,
} from '../../adapters/http-gateway/gateway-settings.ts';
import { HttpGatewayCallback } from '../../adapters/http-gateway/http-gateway-callback.ts';
import { HttpGatewayProvider } from '../../adapters/http-gateway/http-gateway-provider.ts';
import { type Mistake, under } from '../../adapters/http-gateway/mistake.ts';
import { NO_MESSAGE, type PlaceholderValues, type Secrets } from '../../adapters/http-gateway/template.ts';
import type { ProviderKind } from './provider-kind.ts';
import type { SecretSchema } from './secret.ts';

const shapeOf = (secret: SecretSchema) =>
  z.strictObject({
    secrets: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), secret).default({}),
    senderId: z.string().min(1).optional(),
    encodings: encodingSettings.default({ gsm7: 'gsm7', ucs2: 'ucs2' }),
    request: requestSettings,
    reply: responseSettings.default({ format: 'json' }),
    success: successSettings,
    errors: z.array(errorSettings).default([]),
    receipts: receiptSettings.optional(),
    check: checkSettings.optional(),
  });

type Shape = ReturnType<typeof shapeOf>;
type Given = z.output<Shape>;

/** A message whose number and text no request of a gateway holds by chance. */
const EXAMPLE = { phoneNumber: '964770123456789', text: 'example-of-the-text' };

/** The settings of a gateway, made into what the adapter works with. Every mistake is told, also when some parts have none. */
const settings = (secret: SecretSchema) =>
  z.unknown().transform((raw, context) => {
    const mistake: Mistake = (path, message) =>
      context.addIssue({ code: 'custom', path: [...path], message, input: raw });
    const shape = shapeOf(secret);
    const { data: given, error } = shape.safeParse(raw);
    for (const { path, message } of error?.issues ?? []) mistake(path, message);
    const parts = partsOf(given ?? soundParts(shape, raw), secretsIn(raw, secret), mistake);
    return given === undefined || parts.request === null ? z.NEVER : { ...parts, request: parts.request };
  });

/** The members that are sound by themselves. */
function soundParts(shape: Shape, raw: unknown): Partial<Given> {
  const members = membersOf(raw);
  return Object.fromEntries(
    Object.entries(shape.shape).flatMap(([name, schema]) => {
      const { data } = schema.safeParse(members[name]);
      return data === undefined ? [] : [[name, data]];
    }),
  );
}

/** A credential that is missing is told by its own place: what names it is no mistake. */
function secretsIn(raw: unknown, secret: SecretSchema): Secrets {
  const entries = Object.entries(membersOf(membersOf(raw).secrets));
  return new Map(entries.map(([name, place]) => [name, secret.safeParse(place).data ?? '']));
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return z.record(z.string(), z.unknown()).safeParse(value).data ?? {};
}

function partsOf(given: Partial<Given>, secrets: Secrets, mistake: Mistake) {
  const { request, receipts, check, success = {}, errors = [], reply = { format: 'json' } } = given;
  const sending = {
    defaultSenderId: given.senderId ?? null,
    encodings: given.encodings ?? { gsm7: '', ucs2: '' },
  };
  if (receipts !== undefined && request !== undefined && given.success !== undefined) {
    checkId(request, success, mistake);
  }
  return {
    sending,
    request:
      request === undefined ? null : sendingRequest(request, sending, secrets, under(mistake, 'request')),
    response: responseReader({ reply, success, errors }, secrets, mistake),
    receipts:
      receipts === undefined
        ? null
        : receiptReader(receipts, secrets, under(mistake, 'receipts'), areIdsOurs(success)),
    check:
      check === undefined
        ? null
        : {
            request: requestMaker(check, secrets, under(mistake, 'check'), []),
            status: check.status ?? null,
          },
  };
}

function checkId(request: Given['request'], success: Given['success'], mistake: Mistake): void {
  if (!areIdsOurs(success) || JSON.stringify(request).includes('{id}')) return;
  mistake(['success'], 'needs id or ids: without them receipts come under {id}, which the request lacks');
}

/** The request of a message: without its number and its text it would send nothing to nobody. */
function sendingRequest(
  request: Given['request'],
  sending: SendingOptions,
  secrets: Secrets,
  mistake: Mistake,
): RequestMaker {
  let mistakes = 0;
  const make = requestMaker(request, secrets, (path, message) => {
    mistakes += 1;
    mistake(path, message);
  });
  if (mistakes > 0) return make;
  const sample = JSON.stringify(make(exampleValues(sending)));
  if (!sample.includes(EXAMPLE.phoneNumber)) mistake([], 'needs {to} or {+to}: nobody would get the message');
  if (!sample.includes(EXAMPLE.text)) mistake([], 'needs {text}: the message would be empty');
  return make;
}

function exampleValues({ encodings }: SendingOptions): PlaceholderValues {
  const { phoneNumber, text } = EXAMPLE;
  return { ...NO_MESSAGE, to: phoneNumber, '+to': `+${phoneNumber}`, text, encoding: encodings.gsm7 };
}

/** An sms gateway with an HTTP interface of its own, which the settings describe. */
export const httpGatewayKind: ProviderKind<ReturnType<typeof settings>> = {
  channels: ['sms'],
  settings,
  make({ receipts, ...parts }, { name, clock, logger, http, hmac }) {
    return {
      provider: new HttpGatewayProvider({ name, clock, logger, http: http(), ...parts }),
      callback: receipts === null ? null : new HttpGatewayCallback({ receipts, hmac }),
      whatsappPlatform: null,
    };
  },
};
