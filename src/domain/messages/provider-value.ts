import type { Channel } from '../shared/channel.ts';

/** What a caller may ask for (specification 4.1). */
export const PROVIDER_VALUES = [
  'auto',
  'whatsapp-sms',
  'telegram-sms',
  'whatsapp-telegram-sms',
  'sms',
  'whatsapp',
  'telegram',
] as const;
export type ProviderValue = (typeof PROVIDER_VALUES)[number];

const CHANNELS_OF_VALUE: Readonly<Record<Exclude<ProviderValue, 'auto'>, readonly Channel[]>> = {
  'whatsapp-sms': ['whatsapp', 'sms'],
  'telegram-sms': ['telegram', 'sms'],
  'whatsapp-telegram-sms': ['whatsapp', 'telegram', 'sms'],
  sms: ['sms'],
  whatsapp: ['whatsapp'],
  telegram: ['telegram'],
};

/** The channels a named provider value stands for, in the order they are tried. */
export function channelsOfProviderValue(provider: Exclude<ProviderValue, 'auto'>): readonly Channel[] {
  return CHANNELS_OF_VALUE[provider];
}
