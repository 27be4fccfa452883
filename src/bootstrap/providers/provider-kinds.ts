import { cloudApiKind } from './cloud-api.ts';
import { httpGatewayKind } from './http-gateway.ts';
import type { ProviderKind } from './provider-kind.ts';
import { smppKind } from './smpp.ts';
import { telegramGatewayKind } from './telegram-gateway.ts';

/** The kinds of providers that a channels file can name, beside the simulator. A new kind is one file and one line. */
export const PROVIDER_KINDS: Readonly<Record<string, ProviderKind>> = {
  'cloud-api': cloudApiKind,
  'http-gateway': httpGatewayKind,
  smpp: smppKind,
  'telegram-gateway': telegramGatewayKind,
};
