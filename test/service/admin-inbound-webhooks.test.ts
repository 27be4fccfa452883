import { describe, expect, it } from 'vitest';
import { inboundEventsOf } from '../../src/bootstrap/commands/webhooks-command.ts';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { verifyWebhook } from '../../src/bootstrap/verify-webhook.ts';
import { ADMIN_TOKEN, admin, codeOf, done } from '../support/admin.ts';
import { HttpsReceiver, respondWith } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { startService } from '../support/running-service.ts';
import { seedWith } from '../support/seeds.ts';

const NUMBER_ID = '664def456abc789012345678';
const UNKNOWN_ID = '664def456abc789012345600';
const URL = 'https://shop.example/inbound?token=s3cr3t';
const SECRET_FORM = /^svc_live_sk[0-9a-f]{64}$/;
const PATH = '/projects/demo/inbound-webhooks';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const withReceiver = hasOpenssl ? describe : describe.skip;
const named = (title: string) => (hasOpenssl ? title : `${title} (skipped: ${OPENSSL_MISSING})`);

const start = () => startService({ adminToken: ADMIN_TOKEN });

const create = (service: Harness, url = URL) =>
  done<{ secret: string }>(service, PATH, { body: { whatsappPhoneId: NUMBER_ID, url } });
const rotate = (service: Harness, overlapMinutes?: number) =>
  done<{ secret: string; overlapEndsAt: string | null }>(service, `${PATH}/${NUMBER_ID}/rotate-secret`, {
    body: { overlapMinutes },
  });

describe('inbound webhooks of operators', () => {
  it('an operator makes, lists, changes and removes the inbound webhook of a number', async () => {
    const service = await start();
    const made = await create(service);
    const shown = { whatsappPhoneId: NUMBER_ID, url: URL, overlapEndsAt: null };
    expect(made).toEqual({ ...shown, secret: expect.stringMatching(SECRET_FORM) });
    expect(await done(service, PATH)).toEqual({ inboundWebhooks: [shown], next: null });
    const url = 'https://shop.example/other?token=t0k3n';
    const changed = { ...shown, url };
    const patch = { method: 'PATCH', body: { url } };
    expect(await done(service, `${PATH}/${NUMBER_ID}`, patch)).toEqual(changed);
    expect(await done(service, `${PATH}/${NUMBER_ID}`, patch)).toEqual(changed);
    expect(await done(service, `${PATH}/${NUMBER_ID}`, { method: 'DELETE' })).toEqual(changed);
    expect(await done(service, PATH)).toEqual({ inboundWebhooks: [], next: null });
    const { records } = await done<{ records: { action: string; before: unknown; after: unknown }[] }>(
      service,
      '/audit',
    );
    const fields = (path: string) => ({
      whatsappPhoneId: NUMBER_ID,
      endpoint: `shop.example/${path}`,
      overlapEndsAt: null,
    });
    expect(records.map(({ action, before, after }) => ({ action, before, after }))).toEqual([
      { action: 'inbound-webhook-removed', before: fields('other'), after: null },
      { action: 'inbound-webhook-changed', before: fields('inbound'), after: fields('other') },
      { action: 'inbound-webhook-created', before: null, after: fields('inbound') },
    ]);
  });

  it('the inbound webhooks of a project are listed in pages', async () => {
    const numbers = ['664def456abc78901234567a', '664def456abc78901234567b', '664def456abc78901234567c'];
    const secret = `svc_live_sk${'0123456789abcdef'.repeat(4)}`;
    const inboundWebhooks = numbers.map((phoneNumberId) => ({ phoneNumberId, url: URL, secret }));
    const service = await startService({
      adminToken: ADMIN_TOKEN,
      seed: seedWith({ whatsapp: { businesses: [] }, inboundWebhooks }),
    });
    const page = async (cursor: string) => {
      const { inboundWebhooks: found, next } = await done<{
        inboundWebhooks: { whatsappPhoneId: string }[];
        next: string | null;
      }>(service, `${PATH}?limit=2${cursor}`);
      return [found.map(({ whatsappPhoneId }) => whatsappPhoneId), next] as const;
    };
    const [first, next] = await page('');
    expect([first, (await page(`&cursor=${next}`)) as unknown]).toEqual([
      numbers.slice(0, 2),
      [[numbers[2]], null],
    ]);
  });

  it.each([
    [{ whatsappPhoneId: UNKNOWN_ID, url: URL }, [404, 'phone-number-not-found']],
    [{ whatsappPhoneId: NUMBER_ID, url: 'http://shop.example/' }, [400, 'validation-failed']],
    [{ whatsappPhoneId: NUMBER_ID, url: 'https://10.0.0.1/' }, [400, 'webhook-url-refused']],
    [{ whatsappPhoneId: NUMBER_ID }, [400, 'validation-failed']],
    [{ whatsappPhoneId: 'x', url: URL }, [400, 'validation-failed']],
  ])('an inbound webhook that does not fit is rejected: %j', async (body, expected) => {
    const service = await start();
    expect(codeOf(await admin(service, PATH, { body }))).toEqual(expected);
    expect(await done(service, '/audit')).toMatchObject({ records: [] });
  });

  it('an address that webhooks never go to is told with the field of the request', async () => {
    const service = await start();
    const body = {
      error:
        'url is an address that webhooks are not posted to: they go to public addresses, at port 443 or another one that the operator allows',
    };
    const forbidden = 'https://10.0.0.1/';
    const create = await admin(service, PATH, { body: { whatsappPhoneId: NUMBER_ID, url: forbidden } });
    expect(create.body).toEqual(body);
    const change = { method: 'PATCH', body: { url: forbidden } };
    expect((await admin(service, `${PATH}/${NUMBER_ID}`, change)).body).toEqual(body);
  });

  it('a number has one inbound webhook, and only its project may change it', async () => {
    const service = await start();
    await create(service);
    const body = { whatsappPhoneId: NUMBER_ID, url: URL };
    expect(codeOf(await admin(service, PATH, { body }))).toEqual([409, 'inbound-webhook-exists']);
    await done(service, '/projects', { body: { name: 'Other', slug: 'other', environment: 'dev' } });
    const foreign = `/projects/other/inbound-webhooks/${NUMBER_ID}`;
    const rejected = [404, 'inbound-webhook-not-found'];
    for (const request of [{ method: 'PATCH', body: { url: URL } }, { method: 'DELETE' }]) {
      expect(codeOf(await admin(service, foreign, request))).toEqual(rejected);
      expect(codeOf(await admin(service, `${PATH}/${UNKNOWN_ID}`, request))).toEqual(rejected);
    }
    expect(codeOf(await admin(service, `${foreign}/rotate-secret`, { body: {} }))).toEqual(rejected);
  });

  it('a rotation during an overlap is rejected, unless it has no overlap itself', async () => {
    const service = await start();
    await create(service);
    expect((await rotate(service)).overlapEndsAt).toBe('2030-01-02T00:00:00.001Z');
    const again = { body: { overlapMinutes: 1 } };
    const path = `${PATH}/${NUMBER_ID}/rotate-secret`;
    expect(codeOf(await admin(service, path, again))).toEqual([409, 'secret-in-rotation']);
    expect((await rotate(service, 0)).overlapEndsAt).toBeNull();
    expect((await rotate(service, 1)).overlapEndsAt).not.toBeNull();
    await service.advance(60_000);
    expect((await rotate(service, 1)).overlapEndsAt).not.toBeNull();
    const { records } = await done<{ records: unknown[] }>(service, '/audit?limit=1');
    expect(records).toMatchObject([
      { action: 'inbound-secret-rotated', after: { whatsappPhoneId: NUMBER_ID } },
    ]);
    const text = JSON.stringify(await service.service.roots.database.knex('audit_records').select('*'));
    expect(text).not.toMatch(/svc_live_sk|token/);
  });
});

withReceiver(named('inbound webhooks of operators and a receiver'), () => {
  async function receiving() {
    const receiver = await HttpsReceiver.open();
    const service = await startService({ adminToken: ADMIN_TOKEN, egress: receiver.egress });
    const write = () =>
      service.writeTo(NUMBER_ID, '9647709999999', { type: 'text', content: { text: 'hi' } });
    const { secret } = await create(service, receiver.url('/inbound?token=abc'));
    /** Which of the secrets the newest request fits, by both headers and by the specified one alone. */
    const fits = (...secrets: readonly string[]) => {
      const { rawBody = '', headers = {} } = receiver.requests.at(-1) ?? {};
      const specified = { ...headers, 'webhook-signature': undefined };
      const now = service.now().getTime();
      return secrets.map((each) => [
        verifyWebhook(rawBody, headers, each, { now }),
        verifyWebhook(rawBody, specified, each, { now }),
      ]);
    };
    return { receiver, service, write, secret, fits };
  }

  it('a receiver with either secret accepts every request of an overlap, and one with the old one its specified header', async () => {
    const { receiver, service, write, secret, fits } = await receiving();
    await write();
    expect(fits(secret)).toEqual([[true, true]]);
    const { secret: next } = await rotate(service, 60);
    await service.advance(2_000);
    await write();
    expect(fits(secret, next)).toEqual([
      [true, true],
      [true, false],
    ]);
    expect(receiver.requests.at(-1)?.headers['x-svc-webhook-signature']).toMatch(/^sha256=[0-9a-f]{64}$/);
    await service.advance(HOUR);
    await write();
    expect(fits(secret, next)).toEqual([
      [false, false],
      [true, true],
    ]);
  });

  it('an event that waits is signed with the secrets of its next attempt', async () => {
    const { receiver, service, write, secret, fits } = await receiving();
    receiver.respond(respondWith(500));
    await write();
    const { secret: next } = await rotate(service, 0);
    await service.advance(10_000);
    expect(receiver.requests).toHaveLength(2);
    expect(fits(secret, next)).toEqual([
      [false, false],
      [true, true],
    ]);
  });

  it('an event that waits goes to the new address of its webhook', async () => {
    const { receiver, service, write } = await receiving();
    receiver.respond(respondWith(500));
    await write();
    receiver.respond(respondWith(200));
    const url = receiver.url('/moved');
    await done(service, `${PATH}/${NUMBER_ID}`, { method: 'PATCH', body: { url } });
    await service.advance(DAY);
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/inbound?token=abc', '/moved']);
    await service.assertQuiet();
  });

  it('nothing more is sent once a webhook is removed', async () => {
    const { receiver, service, write } = await receiving();
    receiver.respond(respondWith(500));
    await write();
    await done(service, `${PATH}/${NUMBER_ID}`, { method: 'DELETE' });
    await write();
    await service.advance(3 * DAY);
    expect(receiver.requests).toHaveLength(1);
    const events = await inboundEventsOf(service.service.roots, NUMBER_ID);
    expect(events).toMatchObject([{ state: 'discarded', lastError: 'webhook-removed' }]);
    await service.assertQuiet();
  });

  it('an event is sent again to the webhook that its number has now, signed with its secret, and to none without one', async () => {
    const { receiver, service, write, fits } = await receiving();
    receiver.respond(respondWith(500));
    await write();
    await done(service, `${PATH}/${NUMBER_ID}`, { method: 'DELETE' });
    const { events } = await done<{ events: { id: string }[] }>(service, '/webhooks/events');
    const resend = () => admin(service, `/webhooks/events/${events[0]?.id}/resend`, { body: {} });
    const endpoint = `localhost:${receiver.port}/inbound`;
    const resendFailed = () => done(service, '/webhooks/resends', { body: { project: 'demo', endpoint } });
    expect(codeOf(await resend())).toEqual([409, 'webhook-event-without-webhook']);
    expect(await resendFailed()).toEqual({ resent: 0, superseded: 0, withoutWebhook: 1, next: null });
    receiver.respond(respondWith(200));
    const { secret } = await create(service, receiver.url('/moved?token=xyz'));
    expect(await resend()).toMatchObject({
      status: 200,
      body: { endpoint: `localhost:${receiver.port}/moved` },
    });
    await service.advance(1);
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/inbound?token=abc', '/moved?token=xyz']);
    expect(fits(secret)).toEqual([[true, true]]);
    await service.advance(DAY);
    expect(receiver.requests).toHaveLength(2);
    await service.assertQuiet();
  });
});
