import { describe, expect, it } from 'vitest';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { barid } from '../support/barid.ts';
import { freePort } from '../support/private-server.ts';
import { startService } from '../support/running-service.ts';
import { LIVE_KEY, seedWith } from '../support/seeds.ts';

/** Runs `barid send` while the clock of the service goes on, as it does outside of tests. */
async function send(service: Harness, ...given: readonly string[]) {
  let ended = false;
  const url = await service.url;
  const command = barid(['send', ...given, '--url', url], {
    environment: { BARID_KEY: DEMO_API_KEY },
  }).finally(() => {
    ended = true;
  });
  while (!ended) {
    await service.advance(1_000);
    await new Promise(setImmediate);
  }
  return command;
}

describe('barid send', () => {
  it('barid send shows the chain of a message that is delivered, and ends with 0', async () => {
    const service = await startService({ seed: seedWith({}) });
    const { code, printed, errors } = await send(service, '9647701234567', '--code', '123456');
    expect([code, errors]).toEqual([0, []]);
    expect(printed[0]).toMatch(/^ +\d+\.\d s {2}accepted {2}sms-[0-9a-f]{24} {2}\d+ IQD$/);
    expect(printed.join('\n')).toMatch(/ whatsapp {2}took it$/m);
    expect(printed.at(-1)).toMatch(/ message {3}delivered, final, \d+ IQD$/);
  });

  it('barid send prints a JSON line for each change with --json', async () => {
    const service = await startService({ seed: seedWith({}) });
    const given = ['9647701234567', '--text', 'Hello', '--provider', 'sms', '--json'];
    const { code, printed } = await send(service, ...given);
    const lines = printed.map((line) => JSON.parse(line));
    expect(code).toBe(0);
    expect(lines[0]).toEqual({ smsId: lines.at(-1).smsId, cost: lines.at(-1).cost });
    expect(lines.at(-1)).toMatchObject({
      status: 'delivered',
      isFinalStatus: true,
      channelFlow: [{ channel: 'sms', tried: true, success: true }],
    });
  });

  it('barid send ends with 1 and one line when the service rejects the message', async () => {
    const service = await startService({ seed: seedWith({}) });
    const wrong = await send(service, 'nobody', '--code', '1');
    expect([wrong.code, wrong.errors.length]).toEqual([1, 1]);
    expect(wrong.errors[0]).toContain('(validation-failed)');
    const key = await send(service, '9647701234567', '--code', '1', '--key', `${DEMO_API_KEY.slice(0, -1)}x`);
    expect([key.code, key.errors[0]]).toEqual([1, expect.stringContaining('(unauthorized)')]);
  });

  it('barid send finds the service by BARID_URL, and tells that it does not know the key of the demo project', async () => {
    const service = await startService({ seed: seedWith({ environment: 'live', apiKeys: [LIVE_KEY] }) });
    const environment = { BARID_URL: await service.url };
    const { code, errors } = await barid(['send', '9647701234567', '--code', '1'], { environment });
    expect([code, errors]).toEqual([
      1,
      [
        expect.stringContaining(
          'does not know the key of the demo project: give one with --key or BARID_KEY',
        ),
      ],
    ]);
  });

  it('barid send ends with 1 when the message is not final in time', async () => {
    const service = await startService({ seed: seedWith({}) });
    const given = ['send', '9647701234567', '--code', '123456', '--seconds', '0', '--url', await service.url];
    const { code, errors } = await barid(given, { environment: { BARID_KEY: DEMO_API_KEY } });
    expect([code, errors[0]]).toEqual([
      1,
      expect.stringMatching(/^sms-\w+ is .+ not final after 0 seconds$/),
    ]);
  });

  it.each([
    [['9647701234567']],
    [['--code', '1']],
    [['9647701234567', '--code', '1', '--text', 'x']],
    [['9647701234567', '--code', '1', '--seconds', 'many']],
    [['9647701234567', '--code', '1', '--url', 'ftp://x']],
  ])('barid send ends with 2 when its words are wrong: %j', async (given) => {
    const { code, printed, errors } = await barid(['send', ...given]);
    expect([code, printed, errors.length > 0]).toEqual([2, [], true]);
  });

  it.each(['sk_live_0\nsk_live_1', 'sk_live_0 1', ''])(
    'barid send ends with 2, and does not print it, when the API key %j is none',
    async (key) => {
      const environment = { BARID_KEY: key };
      const { code, printed, errors } = await barid(['send', '9647701234567', '--code', '1'], {
        environment,
      });
      expect([code, printed, errors]).toEqual([
        2,
        [],
        ['the API key is none: it is one line without spaces, in --key or BARID_KEY'],
      ]);
    },
  );

  it('barid send ends with 69 when nothing replies', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, errors } = await barid(['send', '9647701234567', '--code', '1', '--url', url]);
    expect([code, errors]).toEqual([
      69,
      [
        `${url} cannot be reached: ECONNREFUSED; start the service, or name its address with --url or BARID_URL`,
      ],
    ]);
  });
});
