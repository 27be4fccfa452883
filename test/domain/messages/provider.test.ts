import { expect, test } from 'vitest';
import { channelsOfProvider, type Provider } from '../../../src/domain/messages/provider.ts';
import type { Channel } from '../../../src/domain/shared/channel.ts';

test.each<[Exclude<Provider, 'auto'>, readonly Channel[]]>([
  ['whatsapp-sms', ['whatsapp', 'sms']],
  ['telegram-sms', ['telegram', 'sms']],
  ['whatsapp-telegram-sms', ['whatsapp', 'telegram', 'sms']],
  ['sms', ['sms']],
  ['whatsapp', ['whatsapp']],
  ['telegram', ['telegram']],
])('provider %s tries the channels %j', (provider, channels) => {
  expect(channelsOfProvider(provider)).toEqual(channels);
});
