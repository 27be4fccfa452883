import { describe, expect, it, test } from 'vitest';
import { channelsOf, decideChain } from '../../../src/domain/messages/chain-channels.ts';
import type { ProviderValue } from '../../../src/domain/messages/provider-value.ts';
import type { Content } from '../../../src/domain/messages/send-request.ts';
import { CHANNELS, type Channel } from '../../../src/domain/shared/channel.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { aCode, aSendRequest, aTemplateContent, aText } from '../../support/builders.ts';

const PRICES = { whatsapp: iqd(60), telegram: iqd(40), sms: iqd(80) };
const ABROAD = { whatsapp: iqd(60), telegram: iqd(40) };
const NO_PRICE = { kind: 'unsupported-destination', missing: 'price' };

const decide = (
  provider: ProviderValue,
  content: Content,
  available: readonly Channel[] = CHANNELS,
  prices: Parameters<typeof decideChain>[2] = PRICES,
) => decideChain(aSendRequest({ provider, content }), available, prices);

describe('the channels a request asks for', () => {
  test.each<[ProviderValue, Content, senderId: string | null, readonly Channel[]]>([
    ['auto', aCode(), null, ['whatsapp', 'telegram', 'sms']],
    ['auto', aCode(), 'Barid', ['whatsapp', 'telegram', 'sms']],
    ['auto', aText(), null, ['whatsapp', 'sms']],
    ['auto', aText(), 'Barid', ['sms']],
    ['auto', aTemplateContent(), null, ['whatsapp']],
    ['whatsapp-telegram-sms', aText(), 'Barid', ['whatsapp', 'telegram', 'sms']],
    ['telegram-sms', aTemplateContent(), null, ['telegram', 'sms']],
    ['sms', aCode(), null, ['sms']],
  ])('by provider %s for %j under sender ID %s are %j', (provider, content, senderId, channels) => {
    expect(channelsOf(aSendRequest({ provider, content, senderId }))).toEqual(channels);
  });
});

describe('the chain of auto', () => {
  it('auto leaves out channels that are not available', () => {
    expect(decide('auto', aCode(), ['sms', 'telegram'])).toMatchObject({ channels: ['telegram', 'sms'] });
  });

  it('auto leaves out channels without a price', () => {
    expect(decide('auto', aCode(), CHANNELS, ABROAD)).toMatchObject({ channels: ['whatsapp', 'telegram'] });
    expect(decide('auto', aText(), CHANNELS, ABROAD)).toMatchObject({ channels: ['whatsapp'] });
  });

  it('auto keeps a channel that cannot carry the code, to be skipped', () => {
    expect(decide('auto', aCode('AB12'))).toEqual({
      kind: 'chain',
      channels: ['whatsapp', 'telegram', 'sms'],
      capable: ['whatsapp', 'sms'],
    });
  });

  it('auto is rejected as an unsupported destination when no channel is left', () => {
    const noChannel = { kind: 'unsupported-destination', missing: 'channel' };
    expect(decide('auto', aCode(), [])).toEqual(noChannel);
    expect(decide('auto', aText(), ['telegram'])).toEqual(noChannel);
    expect(decide('auto', aText(), ['sms'], ABROAD)).toEqual(NO_PRICE);
    expect(decide('auto', aCode(), CHANNELS, {})).toEqual(NO_PRICE);
  });

  it('auto is rejected for its content when the channels that are left cannot carry it', () => {
    expect(decide('auto', aCode('AB12'), ['telegram'])).toEqual({
      kind: 'unsupported-content',
      channels: ['telegram'],
    });
  });
});

describe('a named chain', () => {
  it('a named chain is rejected when a channel is not available, even one that would be skipped', () => {
    expect(decide('whatsapp-sms', aCode(), ['sms'])).toEqual({
      kind: 'channel-not-available',
      channel: 'whatsapp',
    });
    expect(decide('telegram-sms', aText(), ['sms'])).toEqual({
      kind: 'channel-not-available',
      channel: 'telegram',
    });
  });

  it('a named chain is rejected when a channel that can carry the message has no price', () => {
    expect(decide('whatsapp-sms', aCode(), CHANNELS, ABROAD)).toEqual(NO_PRICE);
    expect(decide('whatsapp', aCode(), CHANNELS, ABROAD)).toMatchObject({ channels: ['whatsapp'] });
  });

  test.each<[ProviderValue, Content, readonly Channel[]]>([
    ['telegram', aCode('123'), ['telegram']],
    ['telegram', aText(), ['telegram']],
    ['sms', aTemplateContent(), ['sms']],
    ['telegram-sms', aTemplateContent(), ['telegram', 'sms']],
  ])(
    'a named chain is rejected when none of its channels can carry the message: %s and %j',
    (provider, content, channels) => {
      expect(decide(provider, content)).toEqual({ kind: 'unsupported-content', channels });
    },
  );

  test.each<[ProviderValue, Content, capable: readonly Channel[]]>([
    ['telegram', aCode('1234'), ['telegram']],
    ['telegram-sms', aText(), ['sms']],
    ['whatsapp-sms', aTemplateContent(), ['whatsapp']],
  ])(
    'a named chain goes through the channels that can carry the message: %s and %j',
    (provider, content, capable) => {
      expect(decide(provider, content)).toMatchObject({ kind: 'chain', capable });
    },
  );
});
