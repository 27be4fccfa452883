import type { Channel } from '../shared/channel.ts';

/** What a caller may ask for (specification 4.1). */
export const PROVIDERS = [
  'auto',
  'whatsapp-sms',
  'telegram-sms',
  'whatsapp-telegram-sms',
  'sms',
  'whatsapp',
  'telegram',
] as const;
export type Provider = (typeof PROVIDERS)[number];

const CHANNELS_OF_PROVIDER: Readonly<Record<Exclude<Provider, 'auto'>, readonly Channel[]>> = {
  'whatsapp-sms': ['whatsapp', 'sms'],
  'telegram-sms': ['telegram', 'sms'],
  'whatsapp-telegram-sms': ['whatsapp', 'telegram', 'sms'],
  sms: ['sms'],
  whatsapp: ['whatsapp'],
  telegram: ['telegram'],
};

/** The channels a named provider value stands for, in the order they are tried. */
export function channelsOfProvider(provider: Exclude<Provider, 'auto'>): readonly Channel[] {
  return CHANNELS_OF_PROVIDER[provider];
}
