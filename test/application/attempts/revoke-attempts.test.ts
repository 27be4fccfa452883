import { expect, it } from 'vitest';
import { RevokeAttempts } from '../../../src/application/attempts/revoke-attempts.ts';
import { BackgroundWork } from '../../../src/application/concurrency/background-work.ts';
import type { ChannelProvider } from '../../../src/application/ports/channel-provider.ts';
import { UNLIMITED_CAPACITY } from '../../../src/domain/providers/provider-capacity.ts';
import type { Channel } from '../../../src/domain/shared/channel.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

/** A provider that logs what it is told to take back; `isAway` makes it break its promise. */
function aProvider(
  name: string,
  log: string[],
  { revokes = true, isAway = false }: { readonly revokes?: boolean; readonly isAway?: boolean } = {},
): ChannelProvider {
  const provider: ChannelProvider = {
    name,
    async start() {},
    submit: async () => ({ kind: 'accepted', providerMessageIds: ['one'] }),
    whenHandedOver: () => {},
    capacity: () => UNLIMITED_CAPACITY,
    health: () => ({ ok: true, detail: 'sound' }),
    check: async () => ({ ok: true, detail: 'sound' }),
    async close() {},
  };
  if (!revokes) return provider;
  return {
    ...provider,
    async revoke(ids) {
      log.push(`${name} ${ids.join(' ')}`);
      if (isAway) throw new Error('away');
    },
  };
}

/** Telegram has two providers; sms has one that cannot revoke. */
function world({ isFirstAway = false } = {}) {
  const log: string[] = [];
  const live: readonly { readonly channel: Channel; readonly provider: ChannelProvider }[] = [
    { channel: 'telegram', provider: aProvider('first', log, { isAway: isFirstAway }) },
    { channel: 'telegram', provider: aProvider('second', log) },
    { channel: 'sms', provider: aProvider('sms', log, { revokes: false }) },
  ];
  const logger = new RecordingLogger();
  const background = new BackgroundWork({ logger });
  const revokeAttempts = new RevokeAttempts({ channelProviders: { live: () => live }, background });
  return { revokeAttempts, background, log, logger };
}

it('every provider of the channel that can revoke gets the ids of all messages at once', async () => {
  const { revokeAttempts, background, log } = world();
  revokeAttempts.start([
    { channel: 'telegram', providerMessageIds: ['first:1'] },
    { channel: 'telegram', providerMessageIds: ['second:2', 'second:3'] },
  ]);
  await background.idle();
  expect(log.toSorted()).toEqual(['first first:1 second:2 second:3', 'second first:1 second:2 second:3']);
});

it('nothing is begun for a channel whose providers cannot revoke', async () => {
  const { revokeAttempts, background, log } = world();
  revokeAttempts.start([]);
  revokeAttempts.start([
    { channel: 'sms', providerMessageIds: ['sms:1'] },
    { channel: 'whatsapp', providerMessageIds: ['meta:1'] },
  ]);
  await background.idle();
  expect({ log, starts: background.starts }).toEqual({ log: [], starts: 0 });
});

it('a provider that fails keeps no other from revoking, and nobody gets its error', async () => {
  const { revokeAttempts, background, log, logger } = world({ isFirstAway: true });
  revokeAttempts.start([{ channel: 'telegram', providerMessageIds: ['first:1'] }]);
  await background.idle();
  expect(log.toSorted()).toEqual(['first first:1', 'second first:1']);
  expect(logger.count('background_work_failed')).toBe(1);
});
