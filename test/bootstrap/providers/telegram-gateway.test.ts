import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { UndiciProviderHttp } from '../../../src/adapters/egress/providers/undici-provider-http.ts';
import { nodeHmac } from '../../../src/adapters/node/node-hmac.ts';
import type { WhatsappDirectory } from '../../../src/application/ports/whatsapp-directory.ts';
import { secretIn } from '../../../src/bootstrap/providers/secret.ts';
import { telegramGatewayKind } from '../../../src/bootstrap/providers/telegram-gateway.ts';
import { aSubmission, NOW } from '../../support/builders.ts';
import { IDLE_EVENT_LOOP } from '../../support/idle-event-loop.ts';
import { providerTls } from '../../support/provider-tls.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { signReport, TelegramPeer } from '../../support/telegram-peer.ts';

const TOKEN = 'AAEFAAAAQKI_example';
const VARIABLE = 'TEST_TELEGRAM_GATEWAY_TOKEN';
const CALLBACK_URL = 'https://barid.example/callbacks/telegram';

const token = { env: VARIABLE };
const settings = (given: object = {}, value = TOKEN) =>
  telegramGatewayKind.settings(secretIn({ [VARIABLE]: value })).safeParse({ token, ...given });

const clock = { now: () => NOW };
const peer = new TelegramPeer(clock);

beforeAll(async () => {
  await peer.open();
  peer.allow(TOKEN);
});

afterAll(async () => {
  await peer.close();
});

describe('the kind telegram-gateway', () => {
  it('the kind telegram-gateway carries telegram, and needs a token only', () => {
    expect(telegramGatewayKind.channels).toEqual(['telegram']);
    expect(settings().data).toEqual({
      token: TOKEN,
      checkSendAbility: false,
      baseUrl: 'https://gatewayapi.telegram.org',
    });
  });

  it('the kind telegram-gateway takes every setting', () => {
    const all = {
      senderUsername: '@example_channel',
      checkSendAbility: true,
      callbackUrl: CALLBACK_URL,
      baseUrl: 'http://127.0.0.1:8080/telegram/',
    };
    expect(settings(all).data).toEqual({
      token: TOKEN,
      ...all,
      senderUsername: 'example_channel',
      baseUrl: 'http://127.0.0.1:8080/telegram',
    });
  });

  it.each<[setting: string, value: unknown]>([
    ['token', TOKEN],
    ['token', { env: 'TEST_TELEGRAM_GATEWAY_NOT_SET' }],
    ['token', undefined],
    ['senderUsername', ''],
    ['senderUsername', 'a b'],
    ['senderUsername', 'abc'],
    ['checkSendAbility', 'yes'],
    ['callbackUrl', 'http://barid.example/callbacks/telegram'],
    ['callbackUrl', '/callbacks/telegram'],
    ['callbackUrl', 'https://user:word@barid.example/'],
    ['callbackUrl', ` ${CALLBACK_URL}`],
    ['callbackUrl', `https://barid.example/${'a'.repeat(256)}`],
    ['baseUrl', 'http://gatewayapi.telegram.org'],
    ['baseUrl', 'https://gatewayapi.telegram.org?x=1'],
    ['baseUrl', 'https://gatewayapi.telegram.org#x'],
    ['baseUrl', 'https://user@gatewayapi.telegram.org'],
    ['baseUrl', 'ftp://gatewayapi.telegram.org'],
    ['unknown', true],
  ])('the setting %s cannot be %j', (setting, value) => {
    const { error } = settings({ [setting]: value });
    expect(error?.issues).toHaveLength(1);
    expect(z.prettifyError(error as z.ZodError)).toContain(setting);
  });

  it('a token that no header can carry is a mistake, and is not printed', () => {
    const { error } = settings({}, 'secret\nword');
    const text = JSON.stringify(error?.issues) + z.prettifyError(error as z.ZodError);
    expect(text).toContain('printable characters');
    expect(text).not.toContain('word');
  });

  it('the provider and the callback of the kind work with its settings', async () => {
    const data = settings({ baseUrl: peer.url, callbackUrl: CALLBACK_URL }).data;
    if (data === undefined) throw new Error('The settings are sound');
    const { provider, callback } = telegramGatewayKind.make(data, {
      name: 'tg',
      clock,
      eventLoop: IDLE_EVENT_LOOP,
      logger: new RecordingLogger(),
      hmac: nodeHmac,
      whatsappDirectory: {} as WhatsappDirectory,
      timedTls: providerTls,
      http: () => new UndiciProviderHttp(),
    });
    expect(provider.name).toBe('tg');
    expect(await provider.check()).toMatchObject({ ok: true });
    const result = await provider.submit(aSubmission({ channel: 'telegram' }));
    const [requestId] = peer.requests.keys();
    expect(result).toEqual({ kind: 'accepted', providerMessageIds: [requestId] });
    expect(peer.calls.at(-1)?.parameters).toMatchObject({ callback_url: CALLBACK_URL });
    const body = JSON.stringify({ request_id: requestId, delivery_status: { status: 'read' } });
    const report = {
      method: 'POST',
      query: new URLSearchParams(),
      headers: signReport(TOKEN, body, NOW).headers,
      body: Buffer.from(body),
    } as const;
    expect(await callback?.read(report)).toMatchObject({
      events: [{ receipt: { providerMessageId: requestId, receipt: { kind: 'read' } } }],
    });
    await provider.close();
  });
});
