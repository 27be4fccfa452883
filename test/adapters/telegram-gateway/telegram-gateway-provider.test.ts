import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UndiciProviderHttp } from '../../../src/adapters/egress/providers/undici-provider-http.ts';
import {
  REVOCATION_WAIT_MAX_MS,
  REVOCATIONS_IN_FLIGHT_MAX,
  REVOCATIONS_WAITING_MAX,
} from '../../../src/adapters/telegram-gateway/revocations.ts';
import { TelegramGatewayProvider } from '../../../src/adapters/telegram-gateway/telegram-gateway-provider.ts';
import { MINUTE_LOG_INTERVAL_MS } from '../../../src/application/minute-log.ts';
import type { Submission } from '../../../src/application/ports/channel-provider.ts';
import { PROVIDER_RESPONSE_MEMBERS_MAX } from '../../../src/application/ports/provider-http.ts';
import {
  aCode,
  aPhoneNumber,
  aSubmission,
  aText,
  MINUTE_MS,
  NOW,
  SECOND_MS,
} from '../../support/builders.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { submitAll } from '../../support/submit-all.ts';
import {
  BAD_GATEWAY,
  HTML_RESPONSE,
  HUGE_RESPONSE,
  type Mischief,
  TelegramPeer,
} from '../../support/telegram-peer.ts';
import { until } from '../../support/until.ts';

const TOKEN = 'AAEFAAAAQKI_example';
const PHONE = '+9647712345678';
/** For a stand-in that is known to say nothing. */
const SHORT_MS = 100;
const NO_SERVER = 'http://127.0.0.1:1';

const clock = { at: NOW, now: () => clock.at };
let peer: TelegramPeer;
let logger: RecordingLogger;
const opened: TelegramGatewayProvider[] = [];

beforeAll(async () => {
  peer = new TelegramPeer(clock);
  await peer.open();
  peer.allow(TOKEN);
});

afterAll(() => peer.close());

beforeEach(() => {
  clock.at = NOW;
  logger = new RecordingLogger();
  peer.calls.length = 0;
  peer.requests.clear();
  peer.fees = 0;
  peer.behaveAgain();
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((provider) => provider.close()));
});

type Given = Partial<ConstructorParameters<typeof TelegramGatewayProvider>[0]> & {
  readonly timeoutMs?: number;
};

function aProvider({ timeoutMs, ...given }: Given = {}): TelegramGatewayProvider {
  const provider = new TelegramGatewayProvider({
    name: 'telegram',
    http: new UndiciProviderHttp(timeoutMs === undefined ? {} : { timeoutMs }),
    clock,
    logger,
    token: TOKEN,
    baseUrl: peer.url,
    senderUsername: null,
    callbackUrl: null,
    checkSendAbility: false,
    ...given,
  });
  opened.push(provider);
  return provider;
}

const aCodeByTelegram = (given: Partial<Submission> = {}): Submission =>
  aSubmission({ channel: 'telegram', environment: 'live', ...given });

async function resultOf(provider: TelegramGatewayProvider, given: Partial<Submission> = {}) {
  const result = await provider.submit(aCodeByTelegram(given));
  return result;
}

describe('what the Telegram Gateway provider sends', () => {
  it('the Telegram Gateway provider sends the code with its own id, for as long as the attempt lasts', async () => {
    const callbackUrl = 'https://barid.example/callbacks/telegram';
    const provider = aProvider({ senderUsername: 'example', callbackUrl });
    expect(
      await resultOf(provider, {
        content: aCode('482913'),
        attemptNumber: 2,
        attemptTimeoutMs: 90 * SECOND_MS,
      }),
    ).toEqual({ kind: 'accepted', providerMessageIds: [[...peer.requests.keys()][0]] });
    expect(peer.calls).toEqual([
      {
        method: 'sendVerificationMessage',
        authorization: `Bearer ${TOKEN}`,
        parameters: {
          phone_number: PHONE,
          code: '482913',
          ttl: 90,
          payload: 'sms-000000000000000000000001-2',
          sender_username: 'example',
          callback_url: callbackUrl,
        },
      },
    ]);
  });

  it('the Telegram Gateway provider names neither sender nor callback when it has none', async () => {
    await resultOf(aProvider(), { attemptTimeoutMs: 45 * SECOND_MS });
    expect(peer.calls[0]?.parameters).toEqual({
      phone_number: PHONE,
      code: '123456',
      ttl: 45,
      payload: 'sms-000000000000000000000001-0',
    });
  });

  it.each([
    [10 * SECOND_MS, 30],
    [30 * SECOND_MS, 30],
    [30_999, 30],
    [31 * SECOND_MS, 31],
    [60 * MINUTE_MS, 3_600],
    [61 * MINUTE_MS, 3_600],
  ])('an attempt of %i ms is %i s at Telegram', async (attemptTimeoutMs, ttl) => {
    await resultOf(aProvider(), { attemptTimeoutMs });
    expect(peer.calls[0]?.parameters.ttl).toBe(ttl);
  });

  it.each([
    ['a text', aText()],
    ['a code of letters', aCode('AB12')],
    ['a code of three digits', aCode('123')],
    ['a code of nine digits', aCode('123456789')],
  ])('the Telegram Gateway provider rejects %s without asking Telegram', async (_, content) => {
    expect(await resultOf(aProvider(), { content })).toEqual({
      kind: 'rejected',
      reason: 'Telegram carries codes of 4 to 8 digits only',
      endsChain: false,
    });
    expect(peer.calls).toEqual([]);
  });

  it('the Telegram Gateway provider gives many results in the order of the messages, and no id twice', async () => {
    peer.misbehave('+9647712345602', { kind: 'error', code: 'PHONE_NUMBER_NOT_FOUND' });
    const numbers = ['9647712345601', '9647712345602', '9647712345603'];
    const results = await submitAll(
      aProvider(),
      Array.from({ length: 150 }, (_, index) =>
        aCodeByTelegram({ phoneNumber: aPhoneNumber(numbers[index % 3]), attemptNumber: index }),
      ),
    );
    expect(results.map(({ kind }) => kind)).toEqual(
      Array.from({ length: 50 }, () => ['accepted', 'rejected', 'accepted']).flat(),
    );
    const ids = results.flatMap((result) => (result.kind === 'accepted' ? result.providerMessageIds : []));
    expect(new Set(ids).size).toBe(100);
  });
});

describe('checking the ability to send', () => {
  it('the Telegram Gateway provider asks first when it is told to, and pays one fee', async () => {
    expect(await resultOf(aProvider({ checkSendAbility: true }))).toEqual({
      kind: 'accepted',
      providerMessageIds: [[...peer.requests.keys()][0]],
    });
    expect(peer.calls.map(({ method }) => method)).toEqual(['checkSendAbility', 'sendVerificationMessage']);
    expect(peer.calls[0]?.parameters).toEqual({ phone_number: PHONE });
    expect(peer.calls[1]?.parameters.request_id).toBe([...peer.requests.keys()][0]);
    expect(peer.fees).toBe(1);
  });

  it.each<[what: string, mischief: Mischief, cause: 'busy' | undefined]>([
    ['a number that Telegram cannot reach', { kind: 'error', code: 'PHONE_NUMBER_NOT_AVAILABLE' }, undefined],
    ['a token that is not good', { kind: 'error', code: 'ACCESS_TOKEN_INVALID' }, 'busy'],
    ['a check that fails', BAD_GATEWAY, 'busy'],
    ['a check that is cut off', { kind: 'reset' }, 'busy'],
    ['a check without an id', { kind: 'result', result: {} }, 'busy'],
  ])('the Telegram Gateway provider sends nothing after %s', async (_, mischief, cause) => {
    peer.misbehave('checkSendAbility', mischief);
    const result = await resultOf(aProvider({ checkSendAbility: true }));
    expect(result).toMatchObject({ kind: 'rejected', endsChain: false });
    expect(result).toHaveProperty('reason');
    expect((result as { cause?: string }).cause).toBe(cause);
    expect(peer.calls.map(({ method }) => method)).toEqual(['checkSendAbility']);
  });

  it('a try after Telegram took no more goes under the request that is paid, and pays no second fee', async () => {
    const provider = aProvider({ checkSendAbility: true });
    peer.misbehave('sendVerificationMessage', { kind: 'error', code: 'FLOOD_WAIT_3' });
    expect(await resultOf(provider)).toMatchObject({ kind: 'rejected', cause: 'throttled' });
    expect(await resultOf(provider)).toMatchObject({ kind: 'rejected', cause: 'throttled' });
    expect(await resultOf(provider, { attemptNumber: 1 })).toMatchObject({ kind: 'rejected' });
    peer.behaveAgain();
    const [first = '', second = ''] = peer.requests.keys();
    expect(await resultOf(provider)).toEqual({ kind: 'accepted', providerMessageIds: [first] });
    expect(await resultOf(provider, { attemptNumber: 1 })).toMatchObject({ providerMessageIds: [second] });
    expect(peer.fees).toBe(2);
    expect(await resultOf(provider)).toMatchObject({ kind: 'accepted' });
    expect(peer.fees).toBe(3);
  });

  it('an unclear end of a checked request keeps the id that its reports will name', async () => {
    peer.misbehave('sendVerificationMessage', BAD_GATEWAY);
    expect(await resultOf(aProvider({ checkSendAbility: true }))).toEqual({
      kind: 'unknown',
      reason: 'Telegram responded with HTTP 502 and no clear result',
      providerMessageIds: [[...peer.requests.keys()][0]],
    });
  });

  it('a message is unknown when Telegram responds to the request of another number', async () => {
    const result = { request_id: '1140000000001', phone_number: '+9647701234599' };
    peer.misbehave('sendVerificationMessage', { kind: 'result', result });
    const reason = 'Telegram responded to another request';
    expect(await resultOf(aProvider())).toEqual({ kind: 'unknown', reason, providerMessageIds: [] });
  });

  it('a message is unknown when Telegram responds to another attempt to the same number', async () => {
    const other = {
      request_id: '1140000000001',
      phone_number: PHONE,
      payload: 'sms-000000000000000000000002-0',
    };
    peer.misbehave('sendVerificationMessage', { kind: 'result', result: other });
    const reason = 'Telegram responded to another request';
    expect(await resultOf(aProvider())).toEqual({ kind: 'unknown', reason, providerMessageIds: [] });
    const own = { ...other, payload: 'sms-000000000000000000000001-0' };
    peer.misbehave('sendVerificationMessage', { kind: 'result', result: own });
    expect(await resultOf(aProvider())).toEqual({
      kind: 'accepted',
      providerMessageIds: ['1140000000001'],
    });
  });

  it('a message is unknown when Telegram took it under another id than the one that it can send', async () => {
    const other = { request_id: '1140000000001', phone_number: PHONE };
    peer.misbehave('sendVerificationMessage', { kind: 'result', result: other });
    expect(await resultOf(aProvider({ checkSendAbility: true }))).toEqual({
      kind: 'unknown',
      reason: 'Telegram responded to another request',
      providerMessageIds: [[...peer.requests.keys()][0]],
    });
  });

  it('a message may be sent later when Telegram responds for another number that it can send', async () => {
    const result = { request_id: '1140000000001', phone_number: '+9647701234599' };
    peer.misbehave('checkSendAbility', { kind: 'result', result });
    expect(await resultOf(aProvider({ checkSendAbility: true }))).toMatchObject({
      kind: 'rejected',
      cause: 'busy',
      reason: 'Telegram responded to another request',
    });
  });

  it('a request that was used before counts as unknown, since its message may have gone out', async () => {
    peer.misbehave('sendVerificationMessage', { kind: 'error', code: 'MESSAGE_ALREADY_SENT' });
    expect(await resultOf(aProvider({ checkSendAbility: true }))).toEqual({
      kind: 'unknown',
      reason: 'Telegram responded with MESSAGE_ALREADY_SENT',
      providerMessageIds: [[...peer.requests.keys()][0]],
    });
  });
});

describe('the errors of the Telegram Gateway', () => {
  it.each([
    ['ACCESS_TOKEN_INVALID', 'busy'],
    ['ACCESS_TOKEN_REQUIRED', 'busy'],
    ['BALANCE_NOT_ENOUGH', 'busy'],
    ['CALLBACK_URL_INVALID', 'busy'],
    ['FLOOD_WAIT', 'throttled'],
    ['FLOOD_WAIT_30', 'throttled'],
    ['UNKNOWN_METHOD', 'busy'],
    ['SENDER_USERNAME_INVALID', 'sender'],
    ['SENDER_NOT_VERIFIED', 'sender'],
    ['SENDER_NOT_OWNED', 'sender'],
    ['PHONE_NUMBER_INVALID', undefined],
    ['PHONE_NUMBER_NOT_AVAILABLE', undefined],
    ['PHONE_NUMBER_NOT_FOUND', undefined],
    ['PHONE_NUMBER_MISMATCH', undefined],
    ['CODE_INVALID', undefined],
    ['TTL_INVALID', undefined],
    ['PAYLOAD_INVALID', undefined],
    ['REQUEST_ID_INVALID', undefined],
    ['FLOOD_WAIT_LONG', undefined],
    ['SOMETHING_NEW', undefined],
  ])('the error %s rejects a message with the cause %s', async (code, cause) => {
    peer.misbehave(PHONE, { kind: 'error', code });
    expect(await resultOf(aProvider())).toEqual({
      kind: 'rejected',
      reason: `Telegram responded with ${code}`,
      endsChain: false,
      ...(cause === undefined ? {} : { cause }),
    });
  });

  it('a token that Telegram does not take is in the log, once a minute', async () => {
    const provider = aProvider({ token: 'other' });
    await resultOf(provider);
    await resultOf(provider);
    expect(logger.entries).toEqual([
      {
        level: 'warn',
        event: 'provider_credentials_rejected',
        fields: { provider: provider.name, count: 1, code: 'ACCESS_TOKEN_INVALID' },
      },
    ]);
  });

  it('an error with HTTP 400 is read like one with HTTP 200', async () => {
    peer.misbehave(PHONE, { kind: 'error', code: 'BALANCE_NOT_ENOUGH', status: 400 });
    expect(await resultOf(aProvider())).toMatchObject({ kind: 'rejected', cause: 'busy' });
  });

  it.each([
    ['a sentence that quotes the number', `The number ${PHONE} is not good`],
    ['an object', { code: 1 }],
    ['a very long word', 'A'.repeat(65)],
    ['nothing', null],
  ])('an error that is %s is not passed on', async (_, code) => {
    peer.misbehave(PHONE, { kind: 'error', code });
    expect(await resultOf(aProvider())).toEqual({
      kind: 'rejected',
      reason: 'Telegram responded with UNNAMED_ERROR',
      endsChain: false,
    });
  });
});

describe('a Telegram Gateway that misbehaves', () => {
  const json = (body: unknown, status = 200): Mischief => ({
    kind: 'response',
    status,
    body: JSON.stringify(body),
  });

  it.each<[what: string, mischief: Mischief, reason: RegExp]>([
    ['HTML', HTML_RESPONSE, /HTTP 200 and no clear result/],
    ['HTML with HTTP 502', BAD_GATEWAY, /HTTP 502 and no clear result/],
    ['an error with HTTP 500', { kind: 'error', code: 'PHONE_NUMBER_INVALID', status: 500 }, /HTTP 500/],
    ['HTTP 408', json({}, 408), /HTTP 408/],
    ['HTTP 409', json({ ok: false, error: 'CODE_INVALID' }, 409), /HTTP 409/],
    ['HTTP 425', json({}, 425), /HTTP 425/],
    ['a redirect', { kind: 'response', status: 302, body: '' }, /HTTP 302/],
    ['a bad request without a reason', json({}, 400), /HTTP 400/],
    ['a success with HTTP 400', json({ ok: true, result: { request_id: '1' } }, 400), /HTTP 400/],
    ['nothing', { kind: 'response', status: 200, body: '' }, /HTTP 200/],
    ['an array', json([]), /HTTP 200/],
    ['half a response', { kind: 'response', status: 200, body: '{"ok":true,"result":{"requ' }, /HTTP 200/],
    ['ok as a word', json({ ok: 'true', result: { request_id: '1' } }), /HTTP 200/],
    [
      'more members than are read',
      json({ ok: true, result: { request_id: '1' }, more: Array(PROVIDER_RESPONSE_MEMBERS_MAX).fill(1) }),
      /HTTP 200/,
    ],
    ['10 MB', HUGE_RESPONSE, /more than 65536 bytes/],
    ['a reset connection', { kind: 'reset' }, /The connection failed/],
    ['no result', { kind: 'result', result: null }, /named no id/],
    ['an id that is a number', { kind: 'result', result: { request_id: 1_140 } }, /named no id/],
    ['an empty id', { kind: 'result', result: { request_id: '' } }, /named no id/],
    ['an id with a line end', { kind: 'result', result: { request_id: '1\n2' } }, /named no id/],
    ['an id of 129 characters', { kind: 'result', result: { request_id: '1'.repeat(129) } }, /named no id/],
  ])('a message is unknown after %s', async (_, mischief, reason) => {
    peer.misbehave('sendVerificationMessage', mischief);
    const provider = aProvider();
    expect(await resultOf(provider)).toEqual({
      kind: 'unknown',
      reason: expect.stringMatching(reason),
      providerMessageIds: [],
    });
    expect(peer.calls).toHaveLength(1);
  });

  it('a message is unknown when Telegram does not respond in time', async () => {
    peer.misbehave('sendVerificationMessage', { kind: 'silence' });
    expect(await resultOf(aProvider({ timeoutMs: SHORT_MS }))).toEqual({
      kind: 'unknown',
      reason: 'No response within 100 ms',
      providerMessageIds: [],
    });
  });

  it.each([
    [401, 'busy'],
    [403, 'busy'],
    [404, 'busy'],
    [429, 'throttled'],
  ])('HTTP %i in place of Telegram rejects a message with the cause %s', async (status, cause) => {
    peer.misbehave('sendVerificationMessage', {
      kind: 'response',
      status,
      body: '<html>',
      mediaType: 'text/html',
    });
    expect(await resultOf(aProvider())).toEqual({
      kind: 'rejected',
      reason: `Telegram responded with HTTP_${status}`,
      endsChain: false,
      cause,
    });
  });

  it.each([
    ['"RETRY_LATER"', 'HTTP_429', { cause: 'throttled' }],
    ['{}', 'HTTP_429', { cause: 'throttled' }],
    ['"PHONE_NUMBER_NOT_FOUND"', 'PHONE_NUMBER_NOT_FOUND', {}],
  ])('HTTP 429 with the error %s rejects a message as %s', async (error, code, cause) => {
    peer.misbehave('sendVerificationMessage', {
      kind: 'response',
      status: 429,
      body: `{"ok":false,"error":${error}}`,
      mediaType: 'application/json',
    });
    expect(await resultOf(aProvider())).toEqual({
      kind: 'rejected',
      reason: `Telegram responded with ${code}`,
      endsChain: false,
      ...cause,
    });
  });

  it.each([
    ['FLOOD_WAIT_3', 0],
    ['HTTP_429', 0],
    ['BALANCE_NOT_ENOUGH', undefined],
  ])('a project has a rate after the error %s: %s', async (code, ofRate) => {
    peer.misbehave('sendVerificationMessage', { kind: 'error', code });
    const provider = aProvider();
    await resultOf(provider);
    const { projectId } = aSubmission();
    expect(provider.capacity({ priority: 'code', projectId }).ofRate).toBe(ofRate);
  });

  it('a message is rejected as busy when there is no connection to Telegram', async () => {
    expect(await resultOf(aProvider({ baseUrl: NO_SERVER }))).toEqual({
      kind: 'rejected',
      reason: expect.stringContaining('ECONN'),
      endsChain: false,
      cause: 'busy',
    });
  });

  it('a provider that is closed rejects a message as busy', async () => {
    const provider = aProvider();
    await provider.close();
    expect(await resultOf(provider)).toMatchObject({ kind: 'rejected', cause: 'busy' });
  });

  it('neither a token nor a code nor a number is in any reason, detail or log line', async () => {
    const provider = aProvider();
    const said: unknown[] = [];
    const mischiefs: readonly Mischief[] = [
      { kind: 'error', code: `${TOKEN} ${PHONE} 123456` },
      { kind: 'response', status: 400, body: `${TOKEN} ${PHONE} 123456` },
      { kind: 'result', result: { request_id: `${TOKEN} ${PHONE} 123456` } },
      { kind: 'reset' },
    ];
    for (const mischief of mischiefs) {
      peer.misbehave('sendVerificationMessage', mischief);
      peer.misbehave('checkVerificationStatus', mischief);
      peer.misbehave('revokeVerificationMessage', mischief);
      said.push(await resultOf(provider), provider.health(), await provider.check());
      await provider.revoke(['1']);
    }
    const text = JSON.stringify([said, logger.entries]);
    for (const word of [TOKEN, PHONE, PHONE.slice(1), '123456']) expect(text).not.toContain(word);
  });
});

describe('the health of the Telegram Gateway provider', () => {
  it('the Telegram Gateway provider is well before its first request', () => {
    expect(aProvider().health()).toEqual({ ok: true, detail: 'Telegram Gateway, nothing sent yet' });
  });

  it.each<[what: string, mischief: Mischief | null, ok: boolean, detail: string]>([
    ['a message that was taken', null, true, 'Telegram Gateway took the last request'],
    [
      'a number that cannot be reached',
      { kind: 'error', code: 'PHONE_NUMBER_NOT_FOUND' },
      true,
      'Telegram responded with PHONE_NUMBER_NOT_FOUND',
    ],
    [
      'an empty account',
      { kind: 'error', code: 'BALANCE_NOT_ENOUGH' },
      false,
      'Telegram responded with BALANCE_NOT_ENOUGH',
    ],
    [
      'a sender that is not verified',
      { kind: 'error', code: 'SENDER_NOT_VERIFIED' },
      false,
      'Telegram responded with SENDER_NOT_VERIFIED',
    ],
    ['an unclear response', BAD_GATEWAY, false, 'Telegram responded with HTTP 502 and no clear result'],
  ])('the health after %s is that of the last request', async (_, mischief, ok, detail) => {
    const provider = aProvider();
    peer.misbehave('sendVerificationMessage', { kind: 'error', code: ok ? 'FLOOD_WAIT_5' : 'TTL_INVALID' });
    await resultOf(provider);
    expect(provider.health().ok).toBe(!ok);
    peer.misbehave('sendVerificationMessage', mischief);
    await resultOf(provider);
    expect(provider.health()).toEqual({ ok, detail });
  });
});

describe('checking the token', () => {
  it('a good token is known by an unknown request, which sends and costs nothing', async () => {
    expect(await aProvider().check()).toEqual({ ok: true, detail: 'Telegram takes the token' });
    expect(peer.calls.map(({ method }) => method)).toEqual(['checkVerificationStatus']);
    expect([peer.fees, peer.requests.size]).toEqual([0, 0]);
  });

  it('a token that Telegram does not take fails the check', async () => {
    expect(await aProvider({ token: 'other' }).check()).toEqual({
      ok: false,
      detail: 'Telegram responded with ACCESS_TOKEN_INVALID',
    });
  });

  it('a check is without a result while Telegram is throttled, unclear or away', async () => {
    const provider = aProvider();
    peer.misbehave('checkVerificationStatus', { kind: 'error', code: 'FLOOD_WAIT_5' });
    expect(await provider.check()).toEqual({ ok: false, detail: 'Telegram responded with FLOOD_WAIT_5' });
    peer.misbehave('checkVerificationStatus', BAD_GATEWAY);
    expect(await provider.check()).toMatchObject({ ok: false });
    expect(await aProvider({ baseUrl: NO_SERVER }).check()).toMatchObject({ ok: false });
  });
});

describe('revoking at the Telegram Gateway', () => {
  const manyIds = (count: number) => Array.from({ length: count }, (_, index) => `unknown-${index}`);

  it('the Telegram Gateway provider revokes each message by the id of its request', async () => {
    const provider = aProvider();
    const results = await submitAll(provider, [aCodeByTelegram(), aCodeByTelegram({ attemptNumber: 1 })]);
    await provider.revoke(
      results.flatMap((result) => (result.kind === 'accepted' ? result.providerMessageIds : [])),
    );
    expect([...peer.requests.values()].map(({ isRevoked }) => isRevoked)).toEqual([true, true]);
    expect(logger.entries).toEqual([]);
  });

  it.each<[what: string, mischief: Mischief, reason: string]>([
    ['an error', { kind: 'error', code: 'REQUEST_ID_INVALID' }, 'REQUEST_ID_INVALID'],
    ['no clear result', { kind: 'result', result: false }, 'Telegram responded without a clear result'],
    ['a failure', BAD_GATEWAY, 'Telegram responded with HTTP 502 and no clear result'],
  ])('a revocation that ends with %s is logged, and changes nothing', async (_, mischief, reason) => {
    peer.misbehave('revokeVerificationMessage', mischief);
    const provider = aProvider();
    const health = provider.health();
    await provider.revoke(['1']);
    expect(logger.entries).toEqual([
      {
        level: 'warn',
        event: 'provider_revocation_failed',
        fields: { provider: 'telegram', count: 1, reason },
      },
    ]);
    expect(provider.health()).toEqual(health);
  });

  it('failed revocations are logged once a minute, with how many there were', async () => {
    const provider = aProvider();
    await provider.revoke(manyIds(1));
    await provider.revoke(manyIds(20));
    clock.at += MINUTE_LOG_INTERVAL_MS;
    await provider.revoke(manyIds(1));
    expect(logger.entries.map(({ fields }) => fields.count)).toEqual([1, 21]);
  });

  it('eight revocations are in flight at a time, and 1,000 more wait', async () => {
    peer.misbehave('revokeVerificationMessage', { kind: 'silence' });
    const provider = aProvider({ timeoutMs: 60_000 });
    const revoked = provider.revoke(manyIds(REVOCATIONS_IN_FLIGHT_MAX));
    await until(() => peer.silences === REVOCATIONS_IN_FLIGHT_MAX);
    void provider.revoke(manyIds(REVOCATIONS_WAITING_MAX + 5));
    expect(logger.entries).toMatchObject([{ fields: { count: 5, reason: 'Too many revocations wait' } }]);
    clock.at += REVOCATION_WAIT_MAX_MS + 1;
    peer.hangUp();
    await revoked;
    // Those that waited too long were dropped without a call.
    expect(peer.calls).toHaveLength(REVOCATIONS_IN_FLIGHT_MAX);
  });

  it('revocations that wait are done as soon as others end, by the call that began those', async () => {
    const provider = aProvider();
    await Promise.all([provider.revoke(manyIds(12)), provider.revoke(manyIds(30))]);
    expect(peer.calls).toHaveLength(42);
  });

  it('a closed provider revokes nothing more', async () => {
    peer.misbehave('revokeVerificationMessage', { kind: 'silence' });
    const provider = aProvider();
    const revoked = provider.revoke(manyIds(100));
    await until(() => peer.silences === REVOCATIONS_IN_FLIGHT_MAX);
    await provider.close();
    await revoked;
    expect(peer.calls).toHaveLength(REVOCATIONS_IN_FLIGHT_MAX);
    clock.at += MINUTE_LOG_INTERVAL_MS;
    await provider.revoke(manyIds(1));
    // Those that were in flight failed, and the one after the close: none of those that waited was tried.
    expect(logger.entries.map(({ fields }) => fields.count)).toEqual([1, REVOCATIONS_IN_FLIGHT_MAX]);
  });
});
