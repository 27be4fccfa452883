import { expect, test } from 'vitest';
import { channelsOfProviderValue, type ProviderValue } from '../../../src/domain/messages/provider-value.ts';
import type { Channel } from '../../../src/domain/shared/channel.ts';

test.each<[Exclude<ProviderValue, 'auto'>, readonly Channel[]]>([
  ['whatsapp-sms', ['whatsapp', 'sms']],
  ['telegram-sms', ['telegram', 'sms']],
  ['whatsapp-telegram-sms', ['whatsapp', 'telegram', 'sms']],
  ['sms', ['sms']],
  ['whatsapp', ['whatsapp']],
  ['telegram', ['telegram']],
])('provider %s tries the channels %j', (provider, channels) => {
  expect(channelsOfProviderValue(provider)).toEqual(channels);
});
