import { expect, it } from 'vitest';
import type {
  PlatformAccountResult,
  WhatsappPlatform,
} from '../../../src/application/ports/whatsapp-platform.ts';
import { WhatsappPlatforms } from '../../../src/application/whatsapp/whatsapp-platforms.ts';

const ACCOUNT: PlatformAccountResult = { kind: 'account', account: { phoneNumbers: [], templates: [] } };
const asked: string[] = [];

const platform = (name: string, result: PlatformAccountResult): WhatsappPlatform => ({
  async accountOf(id) {
    asked.push(`${name} ${id}`);
    return result;
  },
});
const without = (name: string) =>
  platform(name, { kind: 'unavailable', reason: `${name} has no such account` });

it('the platforms are asked in their order, and none after the one that gives the account', async () => {
  asked.length = 0;
  const platforms = [without('first'), platform('second', ACCOUNT), without('third')];
  expect(await new WhatsappPlatforms({ platforms }).accountOf('waba-1')).toEqual(ACCOUNT);
  expect(asked).toEqual(['first waba-1', 'second waba-1']);
});

it('an account that no platform gives is unavailable for the reasons of all', async () => {
  const platforms = new WhatsappPlatforms({ platforms: [without('first'), without('second')] });
  expect(await platforms.accountOf('waba-1')).toEqual({
    kind: 'unavailable',
    reason: 'first has no such account; second has no such account',
  });
  expect(platforms.isEmpty).toBe(false);
});

it('an account is unavailable, with a reason, when there is no platform', async () => {
  const platforms = new WhatsappPlatforms({ platforms: [] });
  expect(await platforms.accountOf('waba-1')).toEqual({
    kind: 'unavailable',
    reason: 'No provider can read whatsapp accounts',
  });
  expect(platforms.isEmpty).toBe(true);
});
