import { z } from 'zod';
import { TelegramGatewayCallback } from '../../adapters/telegram-gateway/telegram-gateway-callback.ts';
import { TelegramGatewayProvider } from '../../adapters/telegram-gateway/telegram-gateway-provider.ts';
import { baseUrl, plainUrl } from './base-url.ts';
import type { ProviderKind } from './provider-kind.ts';
import { type SecretSchema, tokenOf } from './secret.ts';

const BASE_URL = 'https://gatewayapi.telegram.org';

/** Telegram takes no longer one. */
const CALLBACK_URL_BYTES_MAX = 256;

/** With or without the @ that people write before it. */
const USERNAME_PATTERN = /^@?[A-Za-z][A-Za-z0-9_]{3,31}$/;

const settings = (secret: SecretSchema) =>
  z.strictObject({
    token: tokenOf(secret),
    senderUsername: z
      .string()
      .regex(USERNAME_PATTERN, 'must be the username of a Telegram channel')
      .transform((username) => username.replace(/^@/, ''))
      .optional(),
    checkSendAbility: z.boolean().default(false),
    callbackUrl: z
      .string()
      .refine(
        isCallbackUrl,
        `must be an https URL without credentials, ${CALLBACK_URL_BYTES_MAX} bytes at most`,
      )
      .optional(),
    baseUrl: baseUrl.default(BASE_URL),
  });

/** Verification codes over the Telegram Gateway. Receipts come when `callbackUrl` names this service's callback. */
export const telegramGatewayKind: ProviderKind<ReturnType<typeof settings>> = {
  channels: ['telegram'],
  settings,
  make(
    { token, senderUsername, checkSendAbility, callbackUrl, baseUrl: url },
    { name, clock, logger, hmac, http },
  ) {
    const provider = new TelegramGatewayProvider({
      name,
      http: http(),
      clock,
      logger,
      token,
      baseUrl: url,
      senderUsername: senderUsername ?? null,
      callbackUrl: callbackUrl ?? null,
      checkSendAbility,
    });
    return {
      provider,
      callback: new TelegramGatewayCallback({ token, hmac, clock }),
      whatsappPlatform: null,
    };
  },
};

function isCallbackUrl(text: string): boolean {
  return plainUrl(text)?.protocol === 'https:' && Buffer.byteLength(text) <= CALLBACK_URL_BYTES_MAX;
}
