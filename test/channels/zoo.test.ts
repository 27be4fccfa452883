import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  accept,
  aStatus,
  callbackOf,
  failWith,
  type PeerBehaviour,
  signedCallback,
  wamidOf,
} from '../support/cloud-api-peer.ts';
import { HttpsReceiver, respondWith } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { verification } from '../support/seeds.ts';
import { SMSC_MISSING } from '../support/smsc.ts';
import { BAD_GATEWAY, HTML_RESPONSE, HUGE_RESPONSE, type Mischief } from '../support/telegram-peer.ts';
import { until } from '../support/until.ts';
import { ChannelsWorld } from './channels-world.ts';

const HOUR_MS = 3_600_000;
/** Longer than the receipt window of every channel. */
const ALL_WINDOWS_MS = 80 * HOUR_MS;
const SMS_PRICE = 80;

const MISSING = SMSC_MISSING ?? (hasOpenssl ? null : OPENSSL_MISSING);
const named = (title: string) => (MISSING === null ? title : `${title} (skipped: ${MISSING})`);

const TEN_MEGABYTES = 10 * 1_024 * 1_024;
const metaRespondsWith =
  (status: number, mediaType: string, body: string): PeerBehaviour =>
  (_, response) => {
    response.writeHead(status, { 'content-type': mediaType });
    response.end(body);
  };

/** What Meta does instead of its duty, and whether it has taken the message then. */
const META_FAULTS: readonly [fault: string, behaviour: PeerBehaviour][] = [
  ['a web page in place of JSON', metaRespondsWith(200, 'text/html', '<html>Welcome</html>')],
  ['a bad gateway', metaRespondsWith(502, 'text/html', '<html>Bad gateway</html>')],
  [
    'a response of 10 MB',
    metaRespondsWith(200, 'application/json', `{"messages":[{"id":"${'w'.repeat(TEN_MEGABYTES)}"}]}`),
  ],
  ['a connection that is reset', (_, response) => response.socket?.resetAndDestroy()],
  ['JSON that is cut off', metaRespondsWith(200, 'application/json', '{"messages":[{"id":"wamid.')],
  ['a response without an id', metaRespondsWith(200, 'application/json', '{"messages":[]}')],
  ['no account', failWith(131026)],
  ['a closed window', failWith(131047)],
  ['a rate limit', failWith(130429, 429)],
  ['an expired token', failWith(190, 401)],
  ['a paused template', failWith(132015)],
  ['a bad parameter', failWith(131009)],
  ['an unknown error', failWith(999_999)],
  ['an outage', failWith(131016, 503)],
];

const TELEGRAM_FAULTS: readonly [fault: string, mischief: Mischief][] = [
  ['a web page in place of JSON', HTML_RESPONSE],
  ['a bad gateway', BAD_GATEWAY],
  ['a response of 10 MB', HUGE_RESPONSE],
  ['a connection that is reset', { kind: 'reset' }],
  ['a wrong token', { kind: 'error', code: 'ACCESS_TOKEN_INVALID' }],
  ['no balance', { kind: 'error', code: 'BALANCE_NOT_ENOUGH' }],
  ['a flood wait', { kind: 'error', code: 'FLOOD_WAIT_30' }],
  ['an unknown error', { kind: 'error', code: 'SOMETHING_ELSE' }],
  ['an error that is no text', { kind: 'error', code: { a: 1 } }],
];

/**
 * The commands of an SMSC that responds with one of these statuses: throttled, queue full, system error, wrong number, wrong
 * sender.
 */
const SMSC_STATUSES = [0x58, 0x14, 0x08, 0x0b, 0x0a, 0x45, 0x64, 0x3ff];

describe.skipIf(MISSING !== null)(named('providers that misbehave'), () => {
  let world: ChannelsWorld;
  beforeEach(async () => {
    world = await ChannelsWorld.open();
  });
  afterEach(() => world.close());

  const numberOf = (index: number) => `96477${String(10_000_000 + index)}`;
  const send = (index: number, provider: string, more: Readonly<Record<string, unknown>> = {}) =>
    world.service
      .request('/sms', { body: verification(numberOf(index), { provider, ...more }) })
      .then(({ body }) => (body as { smsId: string }).smsId);

  /** Every message of the world is final after the longest window, no hold is open, and the credit is what the charges say. */
  async function settled(smsIds: readonly string[], creditBefore: number) {
    await world.service.advance(ALL_WINDOWS_MS);
    const tracked = await Promise.all(smsIds.map((smsId) => world.track(smsId)));
    expect(tracked.filter(({ isFinalStatus }) => isFinalStatus !== true)).toEqual([]);
    const charged = tracked.reduce(
      (sum, { status, cost }) => sum + (status === 'failed' ? 0 : Number(cost)),
      0,
    );
    expect(await world.credit()).toBe(creditBefore - charged);
    await world.service.assertQuiet();
    return tracked;
  }

  it('no fault of Meta loses a message, sends one twice or charges one that was not sent', async () => {
    const credit = await world.credit();
    const behaviours = new Map(META_FAULTS.map(([, behaviour], index) => [numberOf(index), behaviour]));
    world.meta.behave((request, response, count) =>
      (behaviours.get(String(request.body?.to)) ?? accept)(request, response, count),
    );
    const smsIds: string[] = [];
    // One after another: ten in a row would open the circuit.
    for (let index = 0; index < META_FAULTS.length; index += 1) {
      smsIds.push(await send(index, 'whatsapp-sms'), await send(100 + index, 'whatsapp-sms'));
      await world.service.advance(0);
    }
    const tracked = await settled(smsIds, credit);
    const faulty = tracked.filter((_, index) => index % 2 === 0);
    expect(faulty.map(({ lastChannel }) => lastChannel)).toEqual(META_FAULTS.map(() => 'sms'));
    const calls = world.meta.messages().map(({ to }) => String(to));
    expect(new Set(calls).size).toBe(calls.length);
    const numbers = (await world.smsc.submits()).map(({ destination_addr: number }) => number);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('no fault of Telegram loses a message, sends one twice or charges one that was not sent', async () => {
    const credit = await world.credit();
    const smsIds: string[] = [];
    for (const [index, [, mischief]] of TELEGRAM_FAULTS.entries()) {
      world.telegram.misbehave(`+${numberOf(index)}`, mischief);
      smsIds.push(await send(index, 'telegram-sms'), await send(100 + index, 'telegram-sms'));
      await world.service.advance(0);
    }
    const tracked = await settled(smsIds, credit);
    const faulty = tracked.filter((_, index) => index % 2 === 0);
    expect(faulty.map(({ lastChannel }) => lastChannel)).toEqual(TELEGRAM_FAULTS.map(() => 'sms'));
    const numbers = (await world.smsc.submits()).map(({ destination_addr: number }) => number);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('an SMSC that rejects a message by each class costs nothing, and what it takes is charged once', async () => {
    const credit = await world.credit();
    const smsIds: string[] = [];
    for (const [index, status] of SMSC_STATUSES.entries()) {
      await world.smsc.tell({ order: 'number', number_called: numberOf(index), submits: [{ status }] });
      smsIds.push(await send(index, 'sms'), await send(100 + index, 'sms'));
      await world.service.advance(0);
    }
    const tracked = await settled(smsIds, credit);
    expect(tracked.map(({ status }) => status)).toEqual(SMSC_STATUSES.flatMap(() => ['failed', 'sent']));
    expect(await world.credit()).toBe(credit - SMSC_STATUSES.length * SMS_PRICE);
  });

  it('receipts that are doubled, reversed, broken, late or first change the status upwards only, and charge once', async () => {
    const credit = await world.credit();
    const number = numberOf(1);
    const callback = async (change: Parameters<typeof callbackOf>[0]) => {
      const { headers, body } = signedCallback(JSON.stringify(callbackOf(change)));
      return world.post('meta', {
        headers: headers as Readonly<Record<string, string>>,
        body: body.toString('utf8'),
      });
    };
    const id = wamidOf(number);
    const statuses = (...names: readonly string[]) => ({ statuses: names.map((name) => aStatus(id, name)) });
    // First: the receipt comes before the response.
    world.meta.behave((request, response, count) => {
      void callback(statuses('delivered')).then(() => accept(request, response, count));
    });
    const smsId = await send(1, 'whatsapp-sms');
    await until(async () => (await world.track(smsId)).status === 'delivered');
    expect(await callback({ statuses: [{ id: 7 }, aStatus(id, 'read'), null] })).toBe(200);
    expect(await world.track(smsId)).toMatchObject({ status: 'read' });
    expect(await callback(statuses('sent', 'delivered', 'sent', 'failed'))).toBe(200);
    const price = credit - (await world.credit());
    expect(price).toBeGreaterThan(0);
    await world.service.advance(ALL_WINDOWS_MS);
    expect(await callback(statuses('read', 'failed', 'delivered'))).toBe(200);
    expect(await world.track(smsId)).toMatchObject({ status: 'read', isFinalStatus: true, cost: price });
    expect(await world.credit()).toBe(credit - price);
    expect(await world.smsc.submits()).toEqual([]);
  });

  it('a provider that hangs holds up no other channel and no webhook', async () => {
    const receiver = await HttpsReceiver.open();
    receiver.respond(respondWith(200));
    await world.close();
    world = await ChannelsWorld.open({}, { egress: receiver.egress });
    for (let index = 0; index < 100; index += 1) {
      world.telegram.misbehave(`+${numberOf(index)}`, { kind: 'silence' });
    }
    const hanging = await Promise.all(Array.from({ length: 100 }, (_, index) => send(index, 'telegram-sms')));
    await until(() => world.telegram.silences > 0);
    const deliveryReport = { webhookUrl: receiver.url('/status'), deliveryReportType: 'all' };
    const [overWhatsapp, overSms] = [
      await send(200, 'whatsapp', { deliveryReport }),
      await send(201, 'sms', { deliveryReport }),
    ];
    await receiver.arrived(2);
    expect(
      receiver
        .bodies()
        .map((body) => (body as { smsId: string }).smsId)
        .toSorted(),
    ).toEqual([overWhatsapp, overSms].toSorted());
    const pending = await Promise.all(hanging.map((smsId) => world.track(smsId)));
    expect(pending.filter(({ status }) => status !== 'pending')).toEqual([]);
    // What hangs ends with the service: its submit results are unknown.
    for (let index = 0; index < 100; index += 1) world.telegram.misbehave(`+${numberOf(index)}`, null);
    await world.telegram.close();
  });
});
