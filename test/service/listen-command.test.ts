import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { verifyWebhook } from '../../src/bootstrap/verify-webhook.ts';
import { ADMIN_TOKEN } from '../support/admin.ts';
import { barid } from '../support/barid.ts';
import { startService } from '../support/running-service.ts';
import { LIVE_KEY, seedWith, verification } from '../support/seeds.ts';

const WEBHOOK = { webhookUrl: 'https://listen.invalid/hooks', webhookSecret: 'a-secret-of-mine' };
const environment = { ADMIN_TOKEN };

const received: { headers: IncomingHttpHeaders; body: string }[] = [];
const receiver = createServer(async (request, response) => {
  received.push({ headers: request.headers, body: await text(request) });
  respond(response);
});
const respondPlainly = (response: ServerResponse): void => {
  response.writeHead(received.length === 1 ? 500 : 204).end();
};
let respond = respondPlainly;
let forwardTo: string;
beforeEach(async () => {
  received.length = 0;
  respond = respondPlainly;
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  forwardTo = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
});
afterEach(() => receiver.close());

function* endless() {
  for (;;) yield Buffer.alloc(65_536);
}

const start = () => startService({ adminToken: ADMIN_TOKEN, seed: seedWith({}) });

/** Listens for two events; a message is sent once the command listens. */
async function listen(service: Harness, ...more: string[]) {
  const given = ['listen', '--forward-to', forwardTo, '--events', '2', '--url', await service.url, ...more];
  let listens = () => {};
  const listening = new Promise<void>((resolve) => {
    listens = resolve;
  });
  const ended = barid(given, { environment, onError: listens });
  await listening;
  await send(service);
  return ended;
}

/** Sends a message, and lets it become final. */
async function send(service: Harness) {
  const body = verification('9647701234567', { provider: 'sms', deliveryReport: WEBHOOK });
  expect(await service.request('/sms', { apiKey: DEMO_API_KEY, body })).toMatchObject({ status: 200 });
  for (let second = 0; second < 10; second += 1) await service.advance(1_000);
}

/** The events of the project so far: listening begins with the next one. */
async function firstCursor(service: Harness): Promise<string> {
  const { body } = await service.request('/admin/projects/demo/webhook-events', { apiKey: ADMIN_TOKEN });
  expect(body).toEqual({ events: [], next: expect.any(String) });
  return (body as { next: string }).next;
}

const listed = async (service: Harness, query: string, project = 'demo') =>
  service.request(`/admin/projects/${project}/webhook-events?${query}`, { apiKey: ADMIN_TOKEN });

describe('GET /admin/projects/{project}/webhook-events', () => {
  it('the page has the signed requests of events in their order, again until they are 5 seconds old', async () => {
    const service = await start();
    const cursor = await firstCursor(service);
    await send(service);
    const { body } = await listed(service, `cursor=${cursor}`);
    const page = body as {
      events: { id: string; body: string; headers: Record<string, string> }[];
      next: string;
    };
    expect(page.events.map((event) => JSON.parse(event.body).status)).toEqual(['sent', 'delivered']);
    for (const { id, headers, body: signed } of page.events) {
      expect(headers['webhook-id']).toBe(id);
      const lower = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
      );
      expect(
        verifyWebhook(signed, lower, WEBHOOK.webhookSecret, { toleranceMs: Number.POSITIVE_INFINITY }),
      ).toBe(true);
    }
    await service.advance(20_000);
    const again = (await listed(service, `cursor=${page.next}`)).body as typeof page;
    expect((await listed(service, `cursor=${again.next}`)).body).toMatchObject({ events: [] });
    const one = (await listed(service, `cursor=${cursor}&limit=1`)).body as typeof page;
    const two = (await listed(service, `cursor=${one.next}&limit=1`)).body as typeof page;
    expect([one, two].map(({ events }) => events[0]?.id)).toEqual(page.events.map(({ id }) => id));
    await service.advance(16 * 60_000);
    expect((await listed(service, `cursor=${cursor}`)).body).toMatchObject({ events: [] });
  });

  it('the page rejects live projects, unknown ones and cursors of other lists', async () => {
    const service = await startService({
      adminToken: ADMIN_TOKEN,
      seed: seedWith({ environment: 'live', apiKeys: [LIVE_KEY] }),
    });
    const rejected = await listed(service, '');
    expect([rejected.status, rejected.headers.get('x-error-code')]).toEqual([409, 'project-not-dev']);
    expect(await listed(service, '', 'nobody')).toMatchObject({ status: 404 });
    expect(await listed(service, 'cursor=x')).toMatchObject({ status: 400 });
  });
});

describe('barid listen', () => {
  it('barid listen forwards each event once with its genuine signature, and prints what the receiver says', async () => {
    const service = await start();
    const { code, printed, errors } = await listen(service);
    expect(code).toBe(0);
    expect(errors.at(-1)).toBe('listen: 2 events posted');
    expect(received.map(({ body }) => JSON.parse(body).status)).toEqual(['sent', 'delivered']);
    for (const { headers, body } of received) {
      expect(
        verifyWebhook(body, headers, WEBHOOK.webhookSecret, { toleranceMs: Number.POSITIVE_INFINITY }),
      ).toBe(true);
      expect(headers['x-svc-webhook-secret']).toBe(WEBHOOK.webhookSecret);
    }
    expect(printed[0]).toMatch(/Z {2}[0-9a-f]{24} {2}delivery sent sms-\w+ {2}HTTP 500 {2}\d+ ms$/);
    expect(printed[1]).toMatch(/ {2}delivery delivered sms-\w+ {2}HTTP 204 {2}\d+ ms$/);
  });

  it('barid listen prints JSON lines, and goes on when nothing replies at the local address', async () => {
    const service = await start();
    receiver.close();
    const { code, printed, errors } = await listen(service, '--json');
    expect([code, errors.at(-1)]).toEqual([1, 'listen: 0 events posted, 2 without a response']);
    expect(printed.map((line) => JSON.parse(line))).toMatchObject([
      { kind: 'delivery', messageStatus: 'sent', status: null, error: 'ECONNREFUSED' },
      { kind: 'delivery', messageStatus: 'delivered', status: null, error: 'ECONNREFUSED' },
    ]);
    await once(receiver.listen(0, '127.0.0.1'), 'listening');
  });

  it('barid listen reads no more of a response than the service does, and tells its status', async () => {
    const service = await start();
    const closed: Promise<unknown>[] = [];
    respond = (response) => {
      closed.push(once(response, 'close'));
      Readable.from(endless()).pipe(response);
    };
    const { printed } = await listen(service);
    expect(printed.map((line) => line.match(/HTTP \d+/)?.[0])).toEqual(['HTTP 200', 'HTTP 200']);
    expect(closed).toHaveLength(2);
    await Promise.all(closed);
  });

  it.each(['--forward-to', '--url'])('barid listen does not print the password of %s', async (option) => {
    const given = ['listen', '--forward-to', forwardTo, '--url', 'http://127.0.0.1:1'];
    const { code, errors } = await barid([...given, option, 'http://user:hidden-word@127.0.0.1:1'], {
      environment,
    });
    expect(code).toBe(2);
    expect(errors.join('\n')).toContain('without user and password');
    expect(errors.join('\n')).not.toContain('hidden-word');
  });

  it.each([
    [[]],
    [['--forward-to', 'localhost:4000']],
    [['--forward-to', 'http://127.0.0.1:1', '--events', 'x']],
  ])('barid listen ends with 2 when its words are wrong: %j', async (given) => {
    expect(await barid(['listen', ...given], { environment })).toMatchObject({ code: 2, printed: [] });
  });

  it('barid listen ends with 1 for a project that does not exist, and with 2 without a token', async () => {
    const service = await start();
    const given = ['listen', '--forward-to', forwardTo, '--project', 'nobody', '--url', await service.url];
    expect(await barid(given, { environment })).toMatchObject({
      code: 1,
      errors: [
        'Project not found (project-not-found): name a dev project of this installation with --project',
      ],
    });
    expect(await barid(given)).toMatchObject({ code: 2 });
  });
});
