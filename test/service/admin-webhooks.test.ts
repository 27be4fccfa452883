import { describe, expect, it } from 'vitest';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { ADMIN_TOKEN, admin, codeOf, done } from '../support/admin.ts';
import { HttpsReceiver, respondWith } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { startService } from '../support/running-service.ts';
import { verification } from '../support/seeds.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

interface Event {
  readonly id: string;
  readonly state: string;
  readonly message: string;
}

const withReceiver = hasOpenssl ? describe : describe.skip;
const named = (title: string) => (hasOpenssl ? title : `${title} (skipped: ${OPENSSL_MISSING})`);

async function open(messages: number, status: number) {
  const receiver = await HttpsReceiver.open(respondWith(status));
  const service = await startService({
    adminToken: ADMIN_TOKEN,
    egress: receiver.egress,
  });
  const sent: string[] = [];
  for (let index = 0; index < messages; index += 1) {
    const { body } = await service.request('/sms', {
      body: verification(`96477012345${10 + index}`, {
        provider: 'sms',
        deliveryReport: { webhookUrl: receiver.url(), deliveryReportType: 'final' },
      }),
    });
    sent.push((body as { smsId: string }).smsId);
    await service.advance(1_000);
  }
  return { receiver, service, sent, endpoint: `localhost:${receiver.port}/hook` };
}

const projectOf = async (service: Harness) =>
  (await done<{ projects: { id: string }[] }>(service, '/projects')).projects[0]?.id ?? '';
const eventsOf = async (service: Harness, query = '') =>
  (await done<{ events: Event[] }>(service, `/webhooks/events${query}`)).events;

withReceiver(named('the log of webhook events'), () => {
  it('an operator lists events by project, endpoint, state and time, and sees each attempt', async () => {
    const { service, sent, endpoint, receiver } = await open(2, 200);
    receiver.respond(respondWith(410));
    const at = service.now().toISOString();
    await service.request('/sms', {
      body: verification('9647701234599', {
        provider: 'sms',
        deliveryReport: { webhookUrl: receiver.url('/gone'), deliveryReportType: 'final' },
      }),
    });
    await service.advance(1_000);
    const project = await projectOf(service);
    const gone = endpoint.replace('/hook', '/gone');
    const messages = async (query: string) => (await eventsOf(service, query)).map(({ message }) => message);
    expect(await messages('?state=delivered')).toEqual(sent.toReversed());
    expect(await messages(`?project=${project}&endpoint=${encodeURIComponent(endpoint)}&limit=1`)).toEqual([
      sent[1],
    ]);
    expect(await messages(`?to=${at}`)).toEqual(sent.toReversed());
    const [discarded] = await eventsOf(
      service,
      `?project=${project}&endpoint=${encodeURIComponent(gone)}&state=discarded&from=${at}`,
    );
    expect(discarded).toMatchObject({
      state: 'discarded',
      endpoint: gone,
      attempts: 1,
      lastError: 'HTTP 410',
    });
    const shown = await done<{ attemptLog: object[] }>(service, `/webhooks/events/${discarded?.id}`);
    expect(shown.attemptLog).toMatchObject([{ number: 1, status: 410, error: 'HTTP 410', response: null }]);
    expect(codeOf(await admin(service, '/webhooks/events/000000000000000000000000'))).toEqual([
      404,
      'webhook-event-not-found',
    ]);
  });
});

withReceiver(named('sending webhook events again'), () => {
  it('an operator sends one discarded event again, and not one that was delivered', async () => {
    const { service, receiver } = await open(1, 410);
    const [event] = await eventsOf(service);
    expect(event).toMatchObject({ state: 'discarded' });
    receiver.respond(respondWith(200));
    const path = `/webhooks/events/${event?.id}`;
    await done(service, `${path}/resend`, { body: {} });
    await service.advance(1_000);
    expect(receiver.requests).toHaveLength(2);
    const shown = await done<{ state: string; attemptLog: object[] }>(service, path);
    expect(shown).toMatchObject({
      state: 'delivered',
      attempts: 2,
      attemptLog: [{ number: 2 }, { number: 1 }],
    });
    expect(codeOf(await admin(service, `${path}/resend`, { body: {} }))).toEqual([
      409,
      'webhook-event-not-resendable',
    ]);
    const { records } = await done<{ records: object[] }>(service, '/audit');
    expect(records).toMatchObject([
      {
        action: 'webhook-resent',
        before: { eventId: event?.id, state: 'discarded' },
        after: { eventId: event?.id, state: 'pending', host: `localhost:${receiver.port}` },
      },
    ]);
    expect(JSON.stringify(records)).not.toContain('/hook');
  });

  it('an operator sends all discarded events of an endpoint again, once each', async () => {
    const { service, receiver, endpoint, sent } = await open(4, 410);
    receiver.requests.length = 0;
    receiver.respond(respondWith(200));
    const project = await projectOf(service);
    expect(await done(service, '/webhooks/resends', { body: { project, endpoint } })).toEqual({
      resent: 4,
      superseded: 0,
      withoutWebhook: 0,
      next: null,
    });
    await service.advance(HOUR_MS);
    expect(receiver.bodies().map(({ smsId }) => smsId)).toHaveLength(sent.length);
    expect(new Set(receiver.bodies().map(({ smsId }) => smsId))).toEqual(new Set(sent));
    expect(await done(service, '/webhooks/resends', { body: { project, endpoint } })).toMatchObject({
      resent: 0,
    });
    const { records } = await done<{ records: { action: string }[] }>(service, '/audit');
    expect(records.map(({ action }) => action)).toEqual(['webhooks-resent']);
  });
});

withReceiver(named('open circuits'), () => {
  it('an operator sees an open circuit and closes it, and the events go out at once', async () => {
    const { service, receiver, endpoint } = await open(10, 500);
    const project = await projectOf(service);
    const { circuits } = await done<{ circuits: { since: string; until: string }[] }>(
      service,
      '/webhooks/circuits',
    );
    expect(circuits).toMatchObject([{ project, endpoint, state: 'open', lastError: 'HTTP 500' }]);
    expect(Date.parse(circuits[0]?.since ?? '')).toBeLessThan(Date.parse(circuits[0]?.until ?? ''));
    receiver.requests.length = 0;
    receiver.respond(respondWith(200));
    expect(await done(service, '/webhooks/circuits/close', { body: { project, endpoint } })).toEqual({
      project,
      endpoint,
      state: 'closed',
    });
    await service.advance(20_000);
    expect(receiver.requests.length).toBeGreaterThan(0);
    expect(await done(service, '/webhooks/circuits')).toEqual({ circuits: [], next: null });
    const again = await admin(service, '/webhooks/circuits/close', { body: { project, endpoint } });
    expect(codeOf(again)).toEqual([409, 'circuit-not-open']);
    const { records } = await done<{ records: object[] }>(service, '/audit');
    expect(records).toMatchObject([
      { action: 'circuit-closed', before: { state: 'open' }, after: { state: 'closed' } },
    ]);
    await service.advance(DAY_MS);
    await service.assertQuiet();
  });
});
