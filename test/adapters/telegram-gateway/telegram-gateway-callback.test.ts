import { describe, expect, it } from 'vitest';
import { nodeHmac } from '../../../src/adapters/node/node-hmac.ts';
import {
  REPORT_AGE_MAX_MS,
  REPORT_AHEAD_MAX_MS,
  TelegramGatewayCallback,
} from '../../../src/adapters/telegram-gateway/telegram-gateway-callback.ts';
import type { CallbackRequest } from '../../../src/application/ports/provider-callback.ts';
import { NOW } from '../../support/builders.ts';
import { signReport } from '../../support/telegram-peer.ts';

const TOKEN = 'AAEFAAAAQKI_example';
const ID = '1140000000001';

/** A report and its signature as openssl makes it: `dgst -sha256 -mac HMAC` over the timestamp, a line feed and the body. */
const VECTOR = {
  timestamp: '1768478400',
  signature: '15da8ab8048548549cefec4ad6ba93fcf1ceefe3c1f52d5ef49ee0f9e46bb9ad',
  body:
    '{"request_id":"1140000000001","phone_number":"+9647712345678","request_cost":0.01,' +
    '"delivery_status":{"status":"delivered","updated_at":1768478399},"payload":"sms-000000000000000000000001/0"}',
};

const clock = { at: NOW, now: () => clock.at };
const callback = new TelegramGatewayCallback({ token: TOKEN, hmac: nodeHmac, clock });

function aRequest(given: Partial<CallbackRequest> = {}): CallbackRequest {
  return {
    method: 'POST',
    query: new URLSearchParams(),
    headers: { 'x-request-timestamp': VECTOR.timestamp, 'x-request-signature': VECTOR.signature },
    body: Buffer.from(VECTOR.body),
    ...given,
  };
}

/** What the callback makes of a body that Telegram signed at `now`. */
function readSigned(body: string, now = NOW) {
  const { headers } = signReport(TOKEN, body, now);
  return callback.read(aRequest({ headers, body: Buffer.from(body) }));
}

const readReport = (report: unknown, now = NOW) => readSigned(JSON.stringify(report), now);

const DELIVERED = {
  kind: 'receipt',
  receipt: { channel: 'telegram', providerMessageId: ID, receipt: { kind: 'delivered' } },
} as const;

describe('the callback of the Telegram Gateway', () => {
  it('a report with the signature that openssl makes is genuine', async () => {
    expect(await callback.read(aRequest())).toEqual({ kind: 'events', events: [DELIVERED], malformed: 0 });
  });

  it('a signature in capital letters is genuine too', async () => {
    const headers = {
      'x-request-timestamp': VECTOR.timestamp,
      'x-request-signature': VECTOR.signature.toUpperCase(),
    };
    expect(await callback.read(aRequest({ headers }))).toMatchObject({ kind: 'events' });
  });

  it.each<[status: string, receipt: object]>([
    ['sent', { kind: 'sent' }],
    ['delivered', { kind: 'delivered' }],
    ['read', { kind: 'read' }],
    ['expired', { kind: 'failed', reason: 'The message expired on Telegram before it was delivered' }],
    ['revoked', { kind: 'failed', reason: 'The message was revoked on Telegram' }],
  ])('the delivery status %s becomes a receipt', async (status, receipt) => {
    const report = { request_id: ID, delivery_status: { status, updated_at: 1 } };
    expect(await readReport(report)).toEqual({
      kind: 'events',
      events: [{ kind: 'receipt', receipt: { channel: 'telegram', providerMessageId: ID, receipt } }],
      malformed: 0,
    });
  });

  it.each<[payload: unknown, named: object]>([
    [
      'sms-000000000000000000000001-2',
      { attempt: { smsId: 'sms-000000000000000000000001', attemptNumber: 2 } },
    ],
    ['an order of somebody else', {}],
    [7, {}],
  ])('a report names an attempt only by a name of ours: %j', async (payload, named) => {
    const report = { request_id: ID, delivery_status: { status: 'delivered' }, payload };
    expect(await readReport(report)).toEqual({
      kind: 'events',
      events: [{ ...DELIVERED, receipt: { ...DELIVERED.receipt, ...named } }],
      malformed: 0,
    });
  });

  it('a refund is told in the reason of an expired message', async () => {
    const report = { request_id: ID, is_refunded: true, delivery_status: { status: 'expired' } };
    expect(await readReport(report)).toMatchObject({
      events: [
        {
          receipt: {
            receipt: {
              reason: 'The message expired on Telegram before it was delivered, the fee was refunded',
            },
          },
        },
      ],
    });
  });

  it('a report of the verification alone is no event, and no mistake', async () => {
    const verification = { status: 'code_valid', updated_at: 1, code_entered: '123456' };
    expect(await readReport({ request_id: ID, verification_status: verification })).toEqual({
      kind: 'events',
      events: [],
      malformed: 0,
    });
  });

  it('a report that comes twice, or after a later one, is read each time', async () => {
    for (const status of ['read', 'delivered', 'delivered', 'sent']) {
      expect(await readReport({ request_id: ID, delivery_status: { status } })).toMatchObject({
        events: [{ receipt: { providerMessageId: ID, receipt: { kind: status } } }],
      });
    }
  });

  it('fields that nobody needs spoil no report', async () => {
    const report = {
      request_id: ID,
      is_refunded: 'yes',
      delivery_status: { status: 'sent', more: {} },
      x: [],
    };
    expect(await readReport(report)).toMatchObject({ events: [{ receipt: { receipt: { kind: 'sent' } } }] });
  });
});

describe('a forged or outdated report', () => {
  const headersWith = (given: Readonly<Record<string, string | readonly string[] | undefined>>) => ({
    'x-request-timestamp': VECTOR.timestamp,
    'x-request-signature': VECTOR.signature,
    ...given,
  });

  it.each<[what: string, request: Partial<CallbackRequest>]>([
    ['with another body', { body: Buffer.from(VECTOR.body.replace('delivered', 'expired')) }],
    ['with a line end behind its body', { body: Buffer.from(`${VECTOR.body}\n`) }],
    ['with an empty body', { body: Buffer.alloc(0) }],
    ['with another timestamp', { headers: headersWith({ 'x-request-timestamp': '1768478401' }) }],
    ['with another signature', { headers: headersWith({ 'x-request-signature': '0'.repeat(64) }) }],
    [
      'with half a signature',
      { headers: headersWith({ 'x-request-signature': VECTOR.signature.slice(32) }) },
    ],
    ['without a signature', { headers: headersWith({ 'x-request-signature': undefined }) }],
    ['without a timestamp', { headers: headersWith({ 'x-request-timestamp': undefined }) }],
    [
      'with two signatures',
      { headers: headersWith({ 'x-request-signature': [VECTOR.signature, VECTOR.signature] }) },
    ],
    ['with two timestamps', { headers: headersWith({ 'x-request-timestamp': [VECTOR.timestamp] }) }],
    ['with a timestamp of words', { headers: headersWith({ 'x-request-timestamp': 'now' }) }],
    ['that is fetched', { method: 'GET' }],
    ['signed with another token', { headers: signReport('other', VECTOR.body, NOW).headers }],
  ])('a report %s is forged', async (_, given) => {
    expect(await callback.read(aRequest(given))).toEqual({ kind: 'forged' });
  });

  it('a report is read for a day, and five minutes before its time', async () => {
    const report = { request_id: ID, delivery_status: { status: 'sent' } };
    const kinds = await Promise.all(
      [REPORT_AGE_MAX_MS, REPORT_AGE_MAX_MS + 1_000, -REPORT_AHEAD_MAX_MS, -REPORT_AHEAD_MAX_MS - 1_000].map(
        async (ageMs) => (await readReport(report, NOW - ageMs)).kind,
      ),
    );
    expect(kinds).toEqual(['events', 'forged', 'events', 'forged']);
    expect([REPORT_AGE_MAX_MS, REPORT_AHEAD_MAX_MS]).toEqual([86_400_000, 300_000]);
  });
});

describe('a genuine report that makes no sense', () => {
  it.each([
    ['', 'nothing'],
    ['{"request_id":', 'half a report'],
    ['<html></html>', 'HTML'],
  ])('the body %j is unreadable: it is %s', async (body) => {
    expect(await readSigned(body)).toEqual({ kind: 'unreadable', problem: 'The report is no JSON' });
  });

  it.each<[what: string, report: unknown]>([
    ['null', null],
    ['an array', []],
    ['a word', 'sent'],
    ['no id', { delivery_status: { status: 'sent' } }],
    ['an id that is a number', { request_id: 1_140, delivery_status: { status: 'sent' } }],
    ['an id with spaces', { request_id: '1 2', delivery_status: { status: 'sent' } }],
    ['an id of 129 characters', { request_id: '1'.repeat(129), delivery_status: { status: 'sent' } }],
    ['a status that is not known', { request_id: ID, delivery_status: { status: 'lost' } }],
    ['a status of another kind', { request_id: ID, delivery_status: 'sent' }],
    ['an inherited status', { request_id: ID, delivery_status: { status: 'constructor' } }],
  ])('a report with %s is counted as malformed', async (_, report) => {
    expect(await readReport(report)).toEqual({ kind: 'events', events: [], malformed: 1 });
  });
});
