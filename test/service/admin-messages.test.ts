import { describe, expect, it } from 'vitest';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { ADMIN_TOKEN } from '../support/admin.ts';
import { HttpsReceiver, respondWith } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

const NUMBER = '9647701234567';
const OTHER_NUMBER = '9647507654321';
const FAILING_NUMBER = '9990000000006';
const SECRET = 'customer-secret-1';
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

interface Listed {
  readonly messages: readonly { readonly id: string; readonly status: string }[];
  readonly next: string | null;
}

async function get<Body>(service: Harness, path: string): Promise<Body> {
  const { status, body } = await service.request(`/admin${path}`, { apiKey: ADMIN_TOKEN });
  expect([status, body]).toEqual([200, body]);
  return body as Body;
}

async function send(service: Harness, phoneNumber: string, more: Record<string, unknown> = {}) {
  const body = verification(phoneNumber, { provider: 'sms', ...more });
  const { status, body: sent } = await service.request('/sms', { body });
  expect(status).toBe(200);
  await service.advance(1_000);
  return (sent as { smsId: string }).smsId;
}

const idsOf = ({ messages }: Listed) => messages.map(({ id }) => id);

describe('the search of messages', () => {
  it('an operator finds messages by number, status, project and time, the newest first', async () => {
    const service = await startService({ adminToken: ADMIN_TOKEN, seed: seedWith({}) });
    const first = await send(service, NUMBER);
    await service.advance(MINUTE_MS);
    const second = await send(service, FAILING_NUMBER);
    const at = service.now().toISOString();
    await service.advance(MINUTE_MS);
    const third = await send(service, NUMBER);
    const found = async (query: string) => idsOf(await get<Listed>(service, `/messages${query}`));
    const [project] = (await get<{ projects: { id: string; slug: string }[] }>(service, '/projects'))
      .projects;
    expect(await found('')).toEqual([third, second, first]);
    for (const scope of ['', `&project=${project?.id}`, `&project=${project?.slug}`]) {
      expect(await found(`?phoneNumber=${NUMBER}${scope}`)).toEqual([third, first]);
      expect(await found(`?phoneNumber=07701234567${scope}`)).toEqual([third, first]);
      expect(await found(`?phoneNumber=${OTHER_NUMBER}${scope}`)).toEqual([]);
      expect(await found(`?status=failed${scope}`)).toEqual([second]);
      expect(await found(`?from=${at}${scope}`)).toEqual([third]);
      expect(await found(`?to=${at}${scope}`)).toEqual([second, first]);
      expect(await found(`?phoneNumber=${NUMBER}&to=${at}${scope}`)).toEqual([first]);
    }
  });

  it('an operator reads messages in pages', async () => {
    const service = await startService({ adminToken: ADMIN_TOKEN, seed: seedWith({}) });
    const sent = [
      await send(service, NUMBER),
      await send(service, OTHER_NUMBER),
      await send(service, NUMBER),
    ];
    for (const filter of ['', '&project=demo', '&status=delivered', `&phoneNumber=${NUMBER}`]) {
      const all: string[] = [];
      let next: string | null = null;
      do {
        const cursor: string = next === null ? '' : `&cursor=${next}`;
        const page: Listed = await get<Listed>(service, `/messages?limit=1${filter}${cursor}`);
        expect(page.messages.length).toBeLessThanOrEqual(1);
        all.push(...idsOf(page));
        next = page.next;
      } while (next !== null);
      const expected = filter.includes('phoneNumber') ? [sent[2], sent[0]] : sent.toReversed();
      expect(all).toEqual(expected);
    }
  });

  it('the search rejects fields that are not valid, and an unknown project', async () => {
    const service = await startService({ adminToken: ADMIN_TOKEN });
    const wrong = [
      'phoneNumber=12',
      'status=lost',
      'from=yesterday',
      'from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z',
      'cursor=WyJhIl0',
      'limit=0',
    ];
    for (const query of wrong) {
      expect(await service.request(`/admin/messages?${query}`, { apiKey: ADMIN_TOKEN })).toMatchObject({
        status: 400,
      });
    }
    const unknown = await service.request('/admin/messages?project=none', { apiKey: ADMIN_TOKEN });
    expect([unknown.status, unknown.headers.get('x-error-code')]).toEqual([404, 'project-not-found']);
  });
});

describe('the trace of a message', () => {
  it('an operator sees attempts and money of a message, and neither code nor text', async () => {
    const service = await startService({ adminToken: ADMIN_TOKEN });
    const smsId = await send(service, NUMBER, { verificationCode: '483920' });
    const trace = await get<Record<string, unknown>>(service, `/messages/${smsId}`);
    expect(trace).toMatchObject({
      id: smsId,
      phoneNumber: NUMBER,
      status: 'delivered',
      isFinal: true,
      cost: 80,
      smsType: 'verification',
      attempts: [{ channel: 'sms', provider: 'simulator', state: 'delivered', reason: null }],
      entries: [
        { id: `${smsId}/hold`, kind: 'hold', held: 80, captured: 0, released: 0 },
        { id: `${smsId}/settlement`, kind: 'settlement', held: 80, captured: 80, released: 0 },
      ],
      events: [],
    });
    expect(JSON.stringify(trace)).not.toContain('483920');
    const failed = await get<{ entries: unknown }>(
      service,
      `/messages/${await send(service, FAILING_NUMBER, { verificationCode: '483920' })}`,
    );
    expect(failed).toMatchObject({ status: 'failed', attempts: [{ state: expect.any(String) }] });
    expect(failed.entries).toMatchObject([
      { kind: 'hold', held: 100 },
      { kind: 'settlement', held: 100, captured: 0, released: 100 },
    ]);
  });

  it('a trace of an unknown message is rejected', async () => {
    const service = await startService({ adminToken: ADMIN_TOKEN });
    for (const id of ['sms-000000000000000000000000', 'sms-1', '%00']) {
      const { status, headers } = await service.request(`/admin/messages/${id}`, { apiKey: ADMIN_TOKEN });
      expect([status, headers.get('x-error-code')]).toEqual([404, 'message-not-found']);
    }
  });

  const title = 'an operator sees every webhook event of a message with every delivery attempt';
  it.skipIf(!hasOpenssl)(hasOpenssl ? title : `${title} (skipped: ${OPENSSL_MISSING})`, async () => {
    const receiver = await HttpsReceiver.open();
    const service = await startService({ adminToken: ADMIN_TOKEN, egress: receiver.egress });
    receiver.respond(respondWith(500));
    const deliveryReport = { webhookUrl: `${receiver.url()}?token=hidden`, webhookSecret: SECRET };
    const smsId = await send(service, NUMBER, { deliveryReport });
    receiver.respond(respondWith(200));
    await service.advance(DAY_MS);
    const trace = await get<{ events: { attemptLog: unknown[] }[] }>(service, `/messages/${smsId}`);
    const delivered = trace.events.at(-1);
    expect(delivered).toMatchObject({
      kind: 'delivery',
      message: smsId,
      state: 'delivered',
      status: 'delivered',
      lastError: null,
    });
    expect(delivered?.attemptLog.at(0)).toMatchObject({ status: 200, error: null });
    const statuses = trace.events.flatMap(({ attemptLog }) => attemptLog).map((each) => Object(each).status);
    expect(statuses).toContain(500);
    expect(JSON.stringify(trace)).not.toMatch(new RegExp(`hidden|${SECRET}`));
  });
});
