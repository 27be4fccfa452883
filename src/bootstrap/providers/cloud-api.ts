import { z } from 'zod';
import { CloudApiCallback } from '../../adapters/cloud-api/cloud-api-callback.ts';
import { CloudApiPlatform } from '../../adapters/cloud-api/cloud-api-platform.ts';
import { CloudApiProvider } from '../../adapters/cloud-api/cloud-api-provider.ts';
import { GraphApi } from '../../adapters/cloud-api/graph-api.ts';
import { TEMPLATE_NAME_CHARACTERS_MAX } from '../../domain/whatsapp/text-limits.ts';
import { baseUrl } from './base-url.ts';
import { hasMembers } from './has-members.ts';
import type { ProviderKind } from './provider-kind.ts';
import { type SecretSchema, tokenOf } from './secret.ts';

/** The newest version of the Graph API that this service was written against. */
const GRAPH_VERSION = 'v25.0';
const GRAPH_URL = 'https://graph.facebook.com';

const LANGUAGE_CHARACTERS_MAX = 15;

const settings = (secret: SecretSchema) =>
  z
    .strictObject({
      accessToken: tokenOf(secret),
      appSecret: secret,
      verifyToken: secret,
      phoneNumberId: z
        .string()
        .regex(/^[0-9]{1,32}$/, 'must be the id that Meta gave the number, in digits')
        .optional(),
      verificationTemplate: z
        .strictObject({
          name: z.string().min(1).max(TEMPLATE_NAME_CHARACTERS_MAX),
          language: z.string().min(1).max(LANGUAGE_CHARACTERS_MAX),
        })
        .optional(),
      version: z
        .string()
        .regex(/^v[0-9]{1,3}\.[0-9]$/, `must be a version of the Graph API, such as ${GRAPH_VERSION}`)
        .default(GRAPH_VERSION),
      baseUrl: baseUrl.default(GRAPH_URL),
    })
    .refine(
      ({ verificationTemplate, phoneNumberId }) =>
        verificationTemplate === undefined || phoneNumberId !== undefined,
      {
        when: hasMembers,
        path: ['verificationTemplate'],
        message: 'needs phoneNumberId: the template belongs to the account of that number',
      },
    );

/** Meta's Cloud API: whatsapp, with receipts and inbound messages as callbacks. */
export const cloudApiKind: ProviderKind<ReturnType<typeof settings>> = {
  channels: ['whatsapp'],
  settings,
  make(given, { name, clock, eventLoop, logger, hmac, whatsappDirectory, http }) {
    const { accessToken, appSecret, verifyToken, version } = given;
    const graph = new GraphApi({ baseUrl: given.baseUrl, version, accessToken });
    const defaults = {
      phoneNumberId: given.phoneNumberId ?? null,
      verificationTemplate: given.verificationTemplate ?? null,
    };
    const client = http();
    return {
      provider: new CloudApiProvider({
        name,
        graph,
        http: client,
        whatsappDirectory,
        clock,
        logger,
        defaults,
      }),
      whatsappPlatform: new CloudApiPlatform({ graph, http: client, eventLoop }),
      callback: new CloudApiCallback({ hmac, whatsappDirectory, appSecret, verifyToken, accessToken }),
    };
  },
};
