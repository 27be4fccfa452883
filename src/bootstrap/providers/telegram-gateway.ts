import { z } from 'zod';
import { TelegramGatewayCallback } from '../../adapters/telegram-gateway/telegram-gateway-callback.ts';
import { TelegramGatewayProvider } from '../../adapters/telegram-gateway/telegram-gateway-provider.ts';
import type { ProviderKind } from './provider-kind.ts';
import type { SecretSchema } from './secret.ts';

const BASE_URL = 'https://gatewayapi.telegram.org';

/** Telegram takes no longer one. */
const CALLBACK_URL_BYTES_MAX = 256;

/** A header carries it: no spaces and no line ends. */
const TOKEN_PATTERN = /^[\x21-\x7e]{1,256}$/;

/** With or without the @ that people write before it. */
const USERNAME_PATTERN = /^@?[A-Za-z][A-Za-z0-9_]{3,31}$/;

/** A program on the same machine that stands in for Telegram needs no certificate. */
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

const settings = (secret: SecretSchema) =>
  z.strictObject({
    token: secret.pipe(
      z.string().regex(TOKEN_PATTERN, 'must be printable characters without spaces, 256 at most'),
    ),
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
    baseUrl: z
      .string()
      .refine(isBaseUrl, 'must be an https URL without credentials, query and fragment')
      .transform((url) => url.replace(/\/+$/, ''))
      .default(BASE_URL),
  });

/** Verification codes over the Telegram Gateway. Receipts come when `callbackUrl` names this service's callback. */
export const telegramGatewayKind: ProviderKind<ReturnType<typeof settings>> = {
  channels: ['telegram'],
  settings,
  make(
    { token, senderUsername, checkSendAbility, callbackUrl, baseUrl },
    { name, clock, logger, hmac, http },
  ) {
    const provider = new TelegramGatewayProvider({
      name,
      http: http(),
      clock,
      logger,
      token,
      baseUrl,
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
  const url = urlOf(text);
  return (
    url?.protocol === 'https:' && !hasCredentials(url) && Buffer.byteLength(text) <= CALLBACK_URL_BYTES_MAX
  );
}

function isBaseUrl(text: string): boolean {
  const url = urlOf(text);
  if (url === null || hasCredentials(url) || /[?#]/.test(text)) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK_HOSTS.has(url.hostname));
}

function urlOf(text: string): URL | null {
  return URL.canParse(text) && !/\s/.test(text) ? new URL(text) : null;
}

function hasCredentials({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}
