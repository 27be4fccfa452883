import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { barid } from '../../support/barid.ts';
import { TelegramPeer } from '../../support/telegram-peer.ts';

const TOKEN = 'token-of-the-gateway';

let folder: string;
let telegram: TelegramPeer;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'channels-command-'));
  telegram = new TelegramPeer({ now: () => 0 });
  await telegram.open();
  telegram.allow(TOKEN);
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await telegram.close();
});

/** The exit code and the lines of a check with this channels file; the token of Telegram is in a file beside it. */
async function check(channels: unknown, token = TOKEN, ...more: readonly string[]) {
  writeFileSync(join(folder, 'token'), token);
  const file = join(folder, 'channels.json');
  writeFileSync(file, JSON.stringify(channels));
  const { code, printed, errors } = await barid(['channels', 'check', ...more], {
    environment: { CHANNELS_FILE: file, LOG_LEVEL: 'silent' },
  });
  return { exitCode: code, lines: [...printed, ...errors] };
}

const gateway = () => ({
  telegram: {
    providers: {
      gateway: {
        kind: 'telegram-gateway',
        token: { file: join(folder, 'token') },
        baseUrl: telegram.url,
      },
    },
  },
});

it('the check of channels tries every credential and sends nothing', async () => {
  expect(await check({ ...gateway(), sms: { providers: { simulator: { kind: 'simulator' } } } })).toEqual({
    exitCode: 0,
    lines: [
      'sms simulator: ok, simulator, nothing is sent',
      'telegram gateway: ok, Telegram takes the token',
    ],
  });
  expect(telegram.calls.map(({ method }) => method)).toEqual(['checkVerificationStatus']);
  expect(telegram.fees).toBe(0);
});

it('the check of channels ends with 1 when a provider does not take its credentials, and does not show them', async () => {
  const { exitCode, lines } = await check(gateway(), 'another-token');
  expect([exitCode, lines]).toEqual([
    1,
    ['telegram gateway: NOT OK, Telegram responded with ACCESS_TOKEN_INVALID'],
  ]);
});

it('the check of channels says that live projects have none', async () => {
  expect(await check({})).toEqual({
    exitCode: 0,
    lines: ['channels: live projects have none; set CHANNELS_FILE, see docs/channels.md'],
  });
});

it('the check of channels ends with 78 when the channels file is wrong', async () => {
  const { exitCode, lines } = await check({
    telegram: { providers: { gateway: { kind: 'telegram-gateway' } } },
  });
  expect(exitCode).toBe(78);
  expect(lines.join('\n')).toContain('channels.json: telegram.providers.gateway.token: ');
});

it('the check of channels prints a JSON array with --json', async () => {
  const { exitCode, lines } = await check(gateway(), 'another-token', '--json');
  expect(exitCode).toBe(1);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    [
      {
        channel: 'telegram',
        provider: 'gateway',
        ok: false,
        detail: 'Telegram responded with ACCESS_TOKEN_INVALID',
      },
    ],
  ]);
  expect(await check({}, TOKEN, '--json')).toEqual({ exitCode: 0, lines: ['[]'] });
});

it('the command channels says what it takes', async () => {
  const { code, printed, errors } = await barid(['channels', 'check', 'sms']);
  expect([code, printed]).toEqual([2, []]);
  expect(errors[0]).toContain('too many arguments');
  expect((await barid(['channels'])).errors[0]).toMatch(/^Usage: barid channels .*check/s);
});
