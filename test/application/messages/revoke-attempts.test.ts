import { expect, it } from 'vitest';
import { BackgroundWork } from '../../../src/application/background-work.ts';
import type { PendingRevocation } from '../../../src/application/messages/advance-messages.ts';
import { RevokeAttempts } from '../../../src/application/messages/revoke-attempts.ts';
import type { ChannelProvider, ChannelProviders } from '../../../src/application/ports/channel-provider.ts';
import type { Stores } from '../../../src/application/ports/stores.ts';
import type { UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import type { Project } from '../../../src/domain/access/project.ts';
import type { Channel } from '../../../src/domain/shared/channel.ts';
import { aPhoneNumber, aProject, PROJECT_ID } from '../../support/builders.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const HERE = aPhoneNumber('9647712345678');
const ABROAD = aPhoneNumber('905551234567');

const aRevocation = (given: Partial<PendingRevocation> = {}): PendingRevocation => ({
  projectId: PROJECT_ID,
  channel: 'telegram',
  phoneNumber: HERE,
  providerMessageIds: ['tg:1'],
  ...given,
});

/** A provider that logs what it is told to take back; `isAway` makes it break its promise. */
function aProvider(
  name: string,
  log: string[],
  given: { readonly revokes?: boolean; readonly isAway?: boolean } = {},
) {
  const { revokes = true, isAway = false } = given;
  const provider: ChannelProvider = {
    name,
    async start() {},
    submit: async () => [],
    health: () => ({ ok: true, detail: 'sound' }),
    check: async () => ({ ok: true, detail: 'sound' }),
    async close() {},
  };
  if (!revokes) return provider;
  return {
    ...provider,
    async revoke(ids: readonly string[]) {
      log.push(`${name} ${ids.join(' ')}`);
      if (isAway) throw new Error('away');
    },
  };
}

/** Telegram has a route of two providers here and one abroad; sms has one that cannot revoke. */
function world({ projects = [aProject()] as readonly Project[], isFirstAway = false } = {}) {
  const log: string[] = [];
  const first = aProvider('first', log, { isAway: isFirstAway });
  const second = aProvider('second', log);
  const sms = aProvider('sms', log, { revokes: false });
  const live: readonly { readonly channel: Channel; readonly provider: ChannelProvider }[] = [
    { channel: 'telegram', provider: first },
    { channel: 'telegram', provider: second },
    { channel: 'sms', provider: sms },
  ];
  const channelProviders: ChannelProviders = {
    route(channel, environment, phoneNumber) {
      if (environment === 'dev') return [];
      if (channel !== 'telegram') return [sms];
      return phoneNumber === HERE ? [first, second] : [second];
    },
    channelsFor: () => ['telegram', 'sms'],
    live: () => live,
    all: () => [first, second, sms],
  };
  let reads = 0;
  const stores = {
    projects: {
      byIds: async (ids: readonly string[]) => {
        reads += 1;
        return projects.filter(({ id }) => ids.includes(id));
      },
    },
  } as unknown as Stores;
  const logger = new RecordingLogger();
  const background = new BackgroundWork({ logger });
  const unitOfWork = { read: (work) => work(stores) } as UnitOfWork;
  const revokeAttempts = new RevokeAttempts({ unitOfWork, channelProviders, background });
  return { revokeAttempts, background, log, logger, reads: () => reads };
}

it('every provider of the route that can revoke gets the ids, each once for all messages', async () => {
  const { revokeAttempts, background, log, reads } = world();
  revokeAttempts.start([
    aRevocation(),
    aRevocation({ phoneNumber: ABROAD, providerMessageIds: ['tg:2', 'tg:3'] }),
  ]);
  await background.idle();
  expect(log.toSorted()).toEqual(['first tg:1', 'second tg:1 tg:2 tg:3']);
  expect(reads()).toBe(1);
});

it('nothing is read or begun for a channel whose providers cannot revoke', async () => {
  const { revokeAttempts, background, log, reads } = world();
  revokeAttempts.start([]);
  revokeAttempts.start([aRevocation({ channel: 'sms' }), aRevocation({ channel: 'whatsapp' })]);
  await background.idle();
  expect({ log, reads: reads(), starts: background.starts }).toEqual({ log: [], reads: 0, starts: 0 });
});

it('messages of a dev project, or of a project that is gone, revoke nothing at live providers', async () => {
  const { revokeAttempts, background, log } = world({ projects: [aProject({ environment: 'dev' })] });
  revokeAttempts.start([aRevocation(), aRevocation({ projectId: '664abc0000000000000000ff' })]);
  await background.idle();
  expect(log).toEqual([]);
});

it('a provider that fails keeps no other from revoking, and nobody gets its error', async () => {
  const { revokeAttempts, background, log, logger } = world({ isFirstAway: true });
  revokeAttempts.start([aRevocation()]);
  await background.idle();
  expect(log.toSorted()).toEqual(['first tg:1', 'second tg:1']);
  expect(logger.count('background_work_failed')).toBe(1);
});
