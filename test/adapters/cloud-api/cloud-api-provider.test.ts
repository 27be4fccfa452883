import type { ServerResponse } from 'node:http';
import { describe, expect, it, test } from 'vitest';
import { UNHEALTHY_MS } from '../../../src/adapters/cloud-api/cloud-api-provider.ts';
import { GraphApi } from '../../../src/adapters/cloud-api/graph-api.ts';
import { errorText } from '../../../src/adapters/cloud-api/graph-response.ts';
import {
  PROVIDER_RESPONSE_BYTES_MAX,
  PROVIDER_RESPONSE_MEMBERS_MAX,
} from '../../../src/application/ports/provider-http.ts';
import { anSmsId, aPhoneNumber, aTemplateContent, aText } from '../../support/builders.ts';
import {
  ACCESS_TOKEN,
  accept,
  aStatus,
  CloudApiPeer,
  callbackOf,
  failWith,
  type PeerBehaviour,
  PLATFORM_PHONE_ID,
  respondJson,
  signedCallback,
  wamidOf,
} from '../../support/cloud-api-peer.ts';
import {
  aLinkedBusiness,
  aWhatsappSubmission,
  cloudApi,
  directoryOf,
} from '../../support/cloud-api-world.ts';
import { freePort } from '../../support/private-server.ts';
import { submitAll } from '../../support/submit-all.ts';

const TEXT = aWhatsappSubmission({ content: aText(), text: 'Your parcel has arrived' });
const HUGE_BYTES = 10 * PROVIDER_RESPONSE_BYTES_MAX;
/** Long enough for a machine of this test, short enough to wait for. */
const SOON_MS = 150;

async function resultFrom(behaviour: PeerBehaviour, options: { readonly timeoutMs?: number } = {}) {
  const peer = await CloudApiPeer.open(behaviour);
  const world = cloudApi({ peer, ...options });
  const result = await world.provider.submit(TEXT);
  return { result, peer, ...world };
}

describe('a message that Meta takes', () => {
  it('the Cloud API provider sends a text, and its callback brings the signed receipt under the id that Meta gave', async () => {
    const { result, peer, callback } = await resultFrom(accept);
    const providerMessageId = wamidOf('9647712345678');
    expect(result).toEqual({ kind: 'accepted', providerMessageIds: [providerMessageId] });
    expect(peer.messages()).toEqual([
      {
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: '9647712345678',
        type: 'text',
        text: { preview_url: false, body: 'Your parcel has arrived' },
        biz_opaque_callback_data: 'sms-000000000000000000000001-0',
      },
    ]);
    const content = callbackOf({ statuses: [aStatus(providerMessageId, 'delivered')] });
    expect(await callback.read(signedCallback(JSON.stringify(content)))).toEqual({
      kind: 'events',
      events: [
        {
          kind: 'receipt',
          receipt: { channel: 'whatsapp', providerMessageId, receipt: { kind: 'delivered' } },
        },
      ],
      malformed: 0,
    });
  });

  it('the Cloud API provider sends to the number of the platform, with the token in a header only', async () => {
    const { peer } = await resultFrom(accept);
    const [request] = peer.requests;
    expect(request?.path).toBe(`/v25.0/${PLATFORM_PHONE_ID}/messages`);
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${ACCESS_TOKEN}`,
      'content-type': 'application/json',
    });
  });

  it('the Cloud API provider gives each message its own result', async () => {
    const peer = await CloudApiPeer.open((request, response, count) =>
      String(request.body?.to).endsWith('2')
        ? failWith(131026)(request, response, count)
        : accept(request, response, count),
    );
    const { provider } = cloudApi({ peer });
    const numbers = ['9647712345671', '9647712345672', '9647712345673'];
    const results = await submitAll(
      provider,
      numbers.map((digits, index) => ({ ...TEXT, smsId: anSmsId(index), phoneNumber: aPhoneNumber(digits) })),
    );
    expect(
      results.map((result) => (result.kind === 'accepted' ? result.providerMessageIds[0] : result.kind)),
    ).toEqual([wamidOf('9647712345671'), 'rejected', wamidOf('9647712345673')]);
  });

  it('the callback brings a status that comes before the response under the id of the later result', async () => {
    let respond = (): void => {};
    const peer = await CloudApiPeer.open((request, response, count) => {
      respond = () => accept(request, response, count);
    });
    const { provider, callback } = cloudApi({ peer });
    const submitted = provider.submit(TEXT);
    await peer.arrived(1);
    const content = callbackOf({ statuses: [aStatus(wamidOf('9647712345678'), 'read')] });
    const early = await callback.read(signedCallback(JSON.stringify(content)));
    respond();
    const result = await submitted;
    const providerMessageId = result.kind === 'accepted' ? result.providerMessageIds[0] : null;
    expect(early).toMatchObject({ events: [{ receipt: { providerMessageId, receipt: { kind: 'read' } } }] });
  });
});

describe('a message that Meta rejects', () => {
  test.each<[code: number, status: number, expected: object]>([
    [130429, 429, { cause: 'throttled', endsChain: false }],
    [131016, 503, { cause: 'busy', endsChain: false }],
    [1, 400, { cause: 'busy', endsChain: false }],
    [190, 401, { cause: 'busy', endsChain: false }],
    [200, 403, { cause: 'sender', endsChain: false }],
    [132001, 404, { cause: 'sender', endsChain: false }],
    [131042, 400, { cause: 'sender', endsChain: false }],
    [131026, 400, { endsChain: false }],
    [131047, 400, { endsChain: false }],
    [131056, 400, { cause: 'limited', endsChain: false }],
    [100, 400, { endsChain: false }],
    [131050, 400, { endsChain: true }],
    [999_999, 400, { endsChain: false }],
    [999_999, 429, { cause: 'throttled', endsChain: false }],
    [131026, 429, { endsChain: false }],
    // An error object counts whatever its status is.
    [131026, 200, { endsChain: false }],
    [131026, 500, { endsChain: false }],
  ])(
    'the Cloud API provider rejects a message for the code %i with the status %i',
    async (code, status, expected) => {
      const { result } = await resultFrom(failWith(code, status));
      expect(result).toEqual({
        kind: 'rejected',
        reason: `Meta error ${code}: Details of ${code}`,
        ...expected,
      });
    },
  );

  test.each<[code: number, status: number]>([
    [1, 500],
    [1, 409],
    [999_999, 500],
    [131_099, 503],
  ])('the fate of a message is not known after the code %i with the status %i', async (code, status) => {
    const { result } = await resultFrom(failWith(code, status));
    expect(result).toEqual({
      kind: 'unknown',
      reason: `Meta error ${code}: Details of ${code}`,
      providerMessageIds: [],
    });
  });

  it.each([
    [130429, 400, 0],
    [80007, 429, 0],
    [131056, 400, undefined],
    [131016, 503, undefined],
  ])('a project has a rate after the code %d with the status %d: %s', async (code, status, ofRate) => {
    const { provider } = await resultFrom(failWith(code, status));
    expect(provider.capacity({ ...TEXT }).ofRate).toBe(ofRate);
  });

  it('the Cloud API provider lets a code go to the next channel when its recipient got too many messages', async () => {
    const peer = await CloudApiPeer.open(failWith(131056));
    expect(await cloudApi({ peer }).provider.submit(aWhatsappSubmission())).toEqual({
      kind: 'rejected',
      reason: 'Meta error 131056: Details of 131056',
      endsChain: false,
    });
  });

  it('the Cloud API provider takes the text of an error that has no details', async () => {
    const { result } = await resultFrom((_, response) =>
      respondJson(response, 400, { error: { code: 131030, message: '(#131030) Not in the allowed list' } }),
    );
    expect(result).toMatchObject({ reason: 'Meta error 131030: (#131030) Not in the allowed list' });
  });

  it('the Cloud API provider rejects a template that is not there for its sender, and asks Meta nothing', async () => {
    const peer = await CloudApiPeer.open();
    const { provider } = cloudApi({ peer });
    const content = aTemplateContent({ templateName: 'gone' });
    expect(await provider.submit(aWhatsappSubmission({ content }))).toEqual({
      kind: 'rejected',
      reason: 'The template does not exist, or is not approved',
      endsChain: false,
      cause: 'sender',
    });
    expect(peer.requests).toEqual([]);
  });

  it('the Cloud API provider takes messages later while the numbers and templates cannot be read, and sends nothing', async () => {
    const peer = await CloudApiPeer.open();
    const away = () => Promise.reject(new Error('The database is away'));
    const { provider } = cloudApi({ peer, directory: { resourcesOf: away, phoneIdsOf: away } });
    expect(await submitAll(provider, [TEXT, TEXT])).toMatchObject([
      { kind: 'rejected', cause: 'limited' },
      { kind: 'rejected', cause: 'limited' },
    ]);
    expect(peer.requests).toEqual([]);
  });

  it('messages whose number and template are looked up count as ones that wait', async () => {
    const peer = await CloudApiPeer.open();
    let resume = (): void => {};
    const held = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const directory = directoryOf([aLinkedBusiness()]);
    const { provider } = cloudApi({
      peer,
      directory: { ...directory, resourcesOf: (ids) => held.then(() => directory.resourcesOf(ids)) },
    });
    const { free, passing } = provider.capacity(TEXT);
    expect([free, passing]).toEqual([64, 57]);
    const submitting = submitAll(provider, [TEXT, TEXT, { ...TEXT, priority: 'campaign' }]);
    // Of the project there are three, and two of them of its priority.
    expect(provider.capacity(TEXT)).toEqual({ free: 61, passing: 54, waiting: 2, ahead: 2 });
    resume();
    await submitting;
    expect(provider.capacity(TEXT)).toEqual({ free, passing, waiting: 0, ahead: 0 });
  });
});

const write = (status: number, body: string) => (_: unknown, response: ServerResponse) => {
  response.writeHead(status).end(body);
};

describe('a side that does not keep to the protocol', () => {
  test.each<[title: string, behaviour: PeerBehaviour, reason: string]>([
    [
      'an HTML page of an error',
      write(502, '<html>Bad gateway</html>'),
      'Meta responded with status 502 and nothing that can be read',
    ],
    [
      'an HTML page of success',
      write(200, '<html>Welcome</html>'),
      'Meta responded with status 200 and nothing that can be read',
    ],
    ['nothing', write(200, ''), 'Meta responded with status 200 and nothing that can be read'],
    ['a text in JSON', write(200, '"ok"'), 'Meta responded with status 200 and nothing that can be read'],
    ['a redirect', write(302, '{}'), 'Meta responded with status 302 and nothing that can be read'],
    [
      'an error without a code',
      write(400, '{"error":{"message":"x"}}'),
      'Meta responded with status 400 and nothing that can be read',
    ],
    [
      'more members than are read',
      write(
        200,
        JSON.stringify({ messages: [{ id: 'x' }], more: Array(PROVIDER_RESPONSE_MEMBERS_MAX).fill(1) }),
      ),
      'Meta responded with status 200 and nothing that can be read',
    ],
    ['no message', write(200, '{"messages":[]}'), 'Meta responded without an id of the message'],
    [
      'an id with spaces',
      write(200, '{"messages":[{"id":"a b"}]}'),
      'Meta responded without an id of the message',
    ],
    [
      'an id that is too long',
      write(200, JSON.stringify({ messages: [{ id: 'x'.repeat(256) }] })),
      'Meta responded without an id of the message',
    ],
    [
      'the response to another message',
      write(200, '{"contacts":[{"input":"9647701234568"}],"messages":[{"id":"wamid.1"}]}'),
      'Meta responded to another message',
    ],
    ['hundreds of kilobytes', write(200, 'x'.repeat(HUGE_BYTES)), 'The response has more than 65536 bytes'],
    ['a broken connection', (_, response) => response.destroy(), 'The connection failed: UND_ERR_SOCKET'],
    [
      'half a response',
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"messages":', () => response.destroy());
      },
      'The connection failed: UND_ERR_SOCKET',
    ],
  ])('the fate of a message is not known after %s', async (_, behaviour, reason) => {
    const { result } = await resultFrom(behaviour);
    expect(result).toEqual({ kind: 'unknown', reason, providerMessageIds: [] });
  });

  it('the fate of a message is not known when no response comes in time', async () => {
    const { result } = await resultFrom(() => {}, { timeoutMs: SOON_MS });
    expect(result).toEqual({
      kind: 'unknown',
      reason: `No response within ${SOON_MS} ms`,
      providerMessageIds: [],
    });
  });

  it('the Cloud API provider is busy when Meta cannot be reached', async () => {
    const port = await freePort();
    const { provider } = cloudApi({ peer: { url: `http://127.0.0.1:${port}` } });
    expect(await provider.submit(TEXT)).toEqual({
      kind: 'rejected',
      reason: 'The connection failed: ECONNREFUSED',
      endsChain: false,
      cause: 'busy',
    });
    expect(provider.health()).toEqual({ ok: false, detail: 'The connection failed: ECONNREFUSED' });
  });
});

describe('health and credentials', () => {
  it('the Cloud API provider logs rejected credentials once a minute, and is not healthy until it may try again', async () => {
    const { provider, peer, clock, logger } = await resultFrom(failWith(190, 401));
    await submitAll(provider, [TEXT, TEXT]);
    expect(logger.entries).toEqual([
      {
        level: 'warn',
        event: 'provider_credentials_rejected',
        fields: { provider: 'meta', count: 1, code: 190 },
      },
    ]);
    expect(provider.health()).toEqual({ ok: false, detail: 'Meta rejects the credentials with code 190' });
    clock.at += UNHEALTHY_MS;
    expect(provider.health()).toEqual({ ok: true, detail: 'Cloud API v25.0, nothing sent yet' });
    await provider.submit(TEXT);
    expect(logger.count('provider_credentials_rejected')).toBe(2);
    peer.behave(accept);
    await provider.submit(TEXT);
    expect(provider.health()).toEqual({ ok: true, detail: 'Cloud API v25.0' });
  });

  it('the Cloud API provider logs no token, no text and no phone number', async () => {
    const { logger, provider } = await resultFrom(
      failWith(190, 401, `Token ${ACCESS_TOKEN} of 9647712345678`),
    );
    const said = JSON.stringify([logger.entries, provider.health()]);
    expect([ACCESS_TOKEN, '9647712345678', 'Your parcel'].filter((secret) => said.includes(secret))).toEqual(
      [],
    );
  });

  it.each([
    ['as it is', (body: string) => body],
    ['with escaped slashes', (body: string) => body.replaceAll('/', '\\/')],
    ['percent-encoded', (body: string) => body.replaceAll('/', '%2F').replaceAll('|', '%7C')],
  ])('an error of Meta that repeats the token %s shows nothing of it', (_, written) => {
    const graph = new GraphApi({ baseUrl: 'https://meta', version: 'v25.0', accessToken: 'EAAG/7Zq|tail' });
    const body = written('{"error":{"code":190,"message":"Bad token EAAG/7Zq|tail of the app"}}');
    const response = graph.read({ kind: 'responded', status: 401, body });
    expect(response.kind === 'error' && errorText(response.error)).toBe(
      'Meta error 190: Bad token *** of the app',
    );
  });

  it('the check reads the default number, and sends no message', async () => {
    const peer = await CloudApiPeer.open((_, response) =>
      respondJson(response, 200, { id: PLATFORM_PHONE_ID }),
    );
    const { provider } = cloudApi({ peer });
    expect(await provider.check()).toEqual({
      ok: true,
      detail: 'Meta takes the credentials, Cloud API v25.0',
    });
    expect(peer.requests.map(({ method, path, query }) => `${method} ${path}?${query}`)).toEqual([
      `GET /v25.0/${PLATFORM_PHONE_ID}?fields=id`,
    ]);
  });

  it('the check asks who the token belongs to when there is no default number', async () => {
    const peer = await CloudApiPeer.open((_, response) => respondJson(response, 200, { id: '1' }));
    await cloudApi({ peer, phoneNumberId: null }).provider.check();
    expect(peer.requests.map(({ path }) => path)).toEqual(['/v25.0/me']);
  });

  test.each<[title: string, behaviour: PeerBehaviour, detail: string]>([
    ['a rejected token', failWith(190, 401), 'Meta error 190: Details of 190'],
    ['a page of HTML', write(500, '<html>'), 'Meta responded with status 500 and nothing that can be read'],
  ])('the check fails with %s', async (_, behaviour, detail) => {
    const peer = await CloudApiPeer.open(behaviour);
    expect(await cloudApi({ peer }).provider.check()).toEqual({ ok: false, detail });
  });

  it('the fate of a message is not known when the provider is closed meanwhile', async () => {
    const peer = await CloudApiPeer.open(() => {});
    const { provider } = cloudApi({ peer });
    const submitted = provider.submit(TEXT);
    await peer.arrived(1);
    await provider.close();
    expect(await submitted).toMatchObject({ kind: 'unknown' });
    await provider.close();
  });
});
