import { inspect } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import {
  BaridClient,
  createBaridClient,
  NotFinalError,
  NotFoundError,
  type SendSms,
} from '../../src/client/client.ts';
import {
  BODY,
  CAMPAIGNS,
  campaignSeed,
  NUMBERS,
  recipient,
  TEMPLATE_ID,
  UNKNOWN_ID,
} from '../support/campaigns.ts';
import { errorOf, startWithClient } from '../support/client-world.ts';
import { Page } from '../support/markdown.ts';

const PHONE_NUMBER = '9647701234567';
const MESSAGE: SendSms = { phoneNumber: PHONE_NUMBER, smsType: 'verification', verificationCode: '123456' };

/** A call of every operation, with what the path of its request has to be. */
const CALLS: Readonly<Record<string, (client: BaridClient) => Promise<unknown>>> = {
  'post /sms': (client) => client.sendSms(MESSAGE),
  'get /sms/track/{smsId}': (client) => client.trackSms('sms-0123456789abcdef01234567'),
  'get /international-sms-pricing': (client) => client.prices({ page: 1, limit: 2, countryIso: 'de' }),
  'post /reports/generate': (client) =>
    client.generateReport({ startDate: '2030-01-01', endDate: '2030-01-02', statuses: ['failed'] }),
  'get /reports': (client) => client.reports({ status: 'available,expired' }),
  'get /sender-ids': (client) => client.senderIds(),
  'get /info': (client) => client.info(),
  'get /whatsapp/resources': (client) => client.whatsappResources({ includeTemplateComponents: 'true' }),
  'get /whatsapp/campaigns': (client) => client.campaigns({ status: 'draft' }),
  'post /whatsapp/campaigns': (client) => client.createCampaign(BODY),
  'patch /whatsapp/campaigns/{_id}': (client) => client.updateCampaign(UNKNOWN_ID, { name: 'Summer' }),
  'get /whatsapp/campaigns/{_id}': (client) => client.campaign(UNKNOWN_ID, { page: 1 }),
  'delete /whatsapp/campaigns/{_id}': (client) => client.deleteCampaign(UNKNOWN_ID),
  'post /whatsapp/campaigns/{_id}/start': (client) => client.startCampaign(UNKNOWN_ID),
  'post /whatsapp/campaigns/{_id}/sample': (client) => client.sampleCampaign(UNKNOWN_ID, { recipients: [] }),
  'post /whatsapp/campaigns/{_id}/recipients': (client) =>
    client.attachRecipients(UNKNOWN_ID, { recipients: [] }),
  'get /whatsapp/campaigns/recipient-payload': (client) => client.recipientPayload({ _id: UNKNOWN_ID }),
  'post /whatsapp/campaigns/{_id}/preflight': (client) => client.preflightCampaign(UNKNOWN_ID),
};

describe('the operations of the client', () => {
  it('the client has a method for every operation that takes a project key', async () => {
    const { service } = await startWithClient();
    const operations = Object.entries(service.service.http.openApi.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { security }]) => JSON.stringify(security).includes('projectKey'))
        .map(([method]) => `${method} ${path}`),
    );
    expect(Object.keys(CALLS).toSorted()).toEqual(operations.toSorted());
    const methods = Object.getOwnPropertyNames(BaridClient.prototype).filter(
      (name) => !['constructor', 'waitUntilFinal', 'downloadReport'].includes(name),
    );
    expect(methods).toHaveLength(operations.length);
  });

  test.each(Object.entries(CALLS))('the client makes the request %s', async (operation, call) => {
    const seen: { url: string; method: string; headers: Record<string, string> }[] = [];
    const client = createBaridClient({
      baseUrl: 'https://barid.example/api/',
      apiKey: DEMO_API_KEY,
      fetch: async (url, { method, headers }) => {
        seen.push({ url, method, headers });
        return new Response('{}');
      },
    });
    await call(client);
    const [{ url = '', method = '', headers = {} } = {}] = seen;
    const [expected = '', template = ''] = operation.split(' ');
    expect(seen).toHaveLength(1);
    expect(method).toBe(expected.toUpperCase());
    const pattern = template.replaceAll(/\{\w+\}/g, '[^/]+');
    expect(new URL(url).pathname).toMatch(new RegExp(`^/api${pattern}$`));
    expect(headers.authorization).toBe(`Bearer ${DEMO_API_KEY}`);
  });

  it('docs/client.md lists every method of the client with its request', async () => {
    const rows = [...new Page('docs/client.md').text.matchAll(/^\| `(\w+)\(.*?\)` \| `(\w+) (\S+)` \|/gm)];
    const documented = rows.map(([, , method, path]) => `${method?.toLowerCase()} ${path}`);
    expect(documented.toSorted()).toEqual(Object.keys(CALLS).toSorted());
  });
});

describe('the reports of the client', () => {
  const LINK = 'https://files.example/reports/files/0123456789abcdef0123456789abcdef01234567';
  const NOT_YET = () =>
    Response.json(
      { message: 'Report not found' },
      { status: 404, headers: { 'x-error-code': 'report-not-found' } },
    );

  /** A client whose link replies so, one reply after the other, and its clock. */
  function clientWith(replies: readonly (() => Response)[]) {
    const clock = {
      at: 0,
      now: () => clock.at,
      async delay(ms: number) {
        clock.at += ms;
      },
    };
    const seen: { url: string; headers: Record<string, string> }[] = [];
    const client = createBaridClient({
      baseUrl: 'https://barid.example',
      apiKey: DEMO_API_KEY,
      clock,
      fetch: async (url, { headers }) => {
        seen.push({ url, headers });
        return (replies[seen.length - 1] ?? NOT_YET)();
      },
    });
    return { client, clock, seen };
  }

  it('the client waits for a report that is still being made, and sends no key to its link', async () => {
    const { client, clock, seen } = clientWith([NOT_YET, NOT_YET, () => new Response('Message ID\r\n')]);
    expect(await client.downloadReport({ downloadUrl: LINK })).toBe('Message ID\r\n');
    expect(seen).toEqual([1, 2, 3].map(() => ({ url: LINK, headers: {} })));
    expect(clock.at).toBe(1_000);
  });

  it('the client gives a report up that is not made in time', async () => {
    const { client, clock } = clientWith([]);
    await expect(client.downloadReport({ downloadUrl: LINK }, { timeoutMs: 1_200 })).rejects.toBeInstanceOf(
      NotFoundError,
    );
    expect(clock.at).toBe(1_200);
  });

  it('the client throws at once for a report that is gone', async () => {
    const gone = () => Response.json({ message: 'This report has expired' }, { status: 410 });
    const { client, seen } = clientWith([gone]);
    await expect(client.downloadReport({ downloadUrl: LINK })).rejects.toMatchObject({ status: 410 });
    expect(seen).toHaveLength(1);
  });

  it('the client downloads a report that it generated', async () => {
    const { client } = await startWithClient();
    const report = await client.generateReport({ startDate: '2030-01-01', endDate: '2030-01-02' });
    expect(await client.downloadReport(report)).toMatch(/^Message ID,/);
  });
});

describe('the client of a real service', () => {
  it('the client sends, tracks, and reads project, sender IDs, prices and resources', async () => {
    const { service, client } = await startWithClient();
    const sent = await client.sendSms({ ...MESSAGE, provider: 'sms' });
    expect(sent).toMatchObject({ remainingCredit: 14_920, cost: 80, canCover: true, paymentType: 'prepaid' });
    await service.advance(1_000);
    expect(await client.trackSms(sent.smsId)).toMatchObject({ status: 'delivered', lastChannel: 'sms' });
    expect(await client.info()).toEqual({ projectName: 'Demo', credit: 14_920 });
    expect((await client.senderIds()).data).toMatchObject([{ senderId: 'Barid', status: 'accepted' }]);
    const { items, filter } = await client.prices({ countryIso: 'tr', limit: 1 });
    expect([items.length, items[0]?.countryIso, filter]).toEqual([1, 'TR', { countryIso: 'TR' }]);
    const { data } = await client.whatsappResources({ includeTemplateComponents: 'true' });
    expect(data.summary.businessCount).toBe(1);
  });

  it('the client runs a campaign from its creation to its end', async () => {
    const { service, client } = await startWithClient({}, { seed: campaignSeed() });
    const { data: created } = await client.createCampaign(BODY);
    const id = created._id;
    expect((await client.updateCampaign(id, { name: 'Summer' })).data.name).toBe('Summer');
    const { data: payload } = await client.recipientPayload({ templateId: TEMPLATE_ID });
    const { templateParameters } = payload.exampleRecipient;
    const recipients = NUMBERS.map((phoneNumber) => ({ phoneNumber, templateParameters }));
    expect((await client.attachRecipients(id, { recipients })).data.addedCount).toBe(3);
    expect((await client.preflightCampaign(id)).success).toBe(true);
    const sample = { recipients: [recipient(PHONE_NUMBER)] } as Parameters<BaridClient['sampleCampaign']>[1];
    expect((await client.sampleCampaign(id, sample)).data.sampleOfCampaign).toBe(id);
    expect((await client.startCampaign(id)).data.status).toBe('running');
    await service.advance(60_000);
    const { data: campaign } = await client.campaign(id, { limit: 2, status: 'delivered' });
    expect([campaign.status, campaign.recipients.length]).toEqual(['completed', 2]);
    expect((await client.campaigns({ status: 'completed' })).pagination.total).toBe(2);
    const { data: spare } = await client.createCampaign(BODY);
    expect(await client.deleteCampaign(spare._id)).toEqual({ success: true, data: {} });
    expect((await service.request(`${CAMPAIGNS}/${spare._id}`)).status).toBe(404);
  });

  it('the client generates a report and lists it', async () => {
    const { client } = await startWithClient();
    const { reportId, recordCount } = await client.generateReport({
      startDate: '2030-01-01',
      endDate: '2030-01-02',
    });
    expect(recordCount).toBe(0);
    expect(await client.reports({ status: 'available' })).toMatchObject([{ reportId }]);
  });

  it('an id with other characters stays in its place of the path', async () => {
    const { client } = await startWithClient();
    const error = await errorOf(client.trackSms('../../info?x=1'));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ message: 'GET /sms/track/..%2F..%2Finfo%3Fx%3D1: 404 SMS not found' });
  });
});

describe('waiting for the final status', () => {
  it('the client polls at growing intervals until the status is final', async () => {
    const { client, delays } = await startWithClient();
    const { smsId } = await client.sendSms({ ...MESSAGE, phoneNumber: '9990000000002' });
    const tracked = await client.waitUntilFinal(smsId);
    expect(tracked).toMatchObject({ smsId, status: 'delivered', isFinalStatus: true });
    const [first = 0] = delays;
    expect(first).toBeGreaterThanOrEqual(250);
    expect(first).toBeLessThanOrEqual(500);
    expect(Math.max(...delays)).toBeLessThanOrEqual(5_000);
    const sum = delays.reduce((total, ms) => total + ms, 0);
    expect(sum).toBeGreaterThanOrEqual(30_000);
    expect(sum).toBeLessThan(35_000);
  });

  it('the client does not wait for a message that is final already', async () => {
    const { service, client, delays } = await startWithClient();
    const { smsId } = await client.sendSms(MESSAGE);
    await service.advance(1_000);
    expect((await client.waitUntilFinal(smsId)).status).toBe('delivered');
    expect(delays).toEqual([]);
  });

  it('the wait ends at its time with the message as it was', async () => {
    const { service, client } = await startWithClient();
    const { smsId } = await client.sendSms({
      ...MESSAGE,
      phoneNumber: '9990000000003',
      provider: 'whatsapp',
    });
    const begin = service.now().getTime();
    const error = await errorOf(client.waitUntilFinal(smsId, { timeoutMs: 2_000 }));
    expect(error).toBeInstanceOf(NotFinalError);
    expect(error).toMatchObject({ tracked: { smsId, isFinalStatus: false } });
    expect(service.now().getTime() - begin).toBe(2_000);
  });

  it('the wait for an unknown message ends at once', async () => {
    const { client, delays } = await startWithClient();
    await expect(client.waitUntilFinal('sms-0123456789abcdef01234567')).rejects.toBeInstanceOf(NotFoundError);
    expect(delays).toEqual([]);
  });

  it('the wait rejects with the reason of its signal, on the clock of the system too', async () => {
    const { service } = await startWithClient();
    const client = createBaridClient({ baseUrl: await service.url, apiKey: service.apiKey });
    const { smsId } = await client.sendSms({ ...MESSAGE, phoneNumber: '9990000000003' });
    const controller = new AbortController();
    const reason = new Error('The user left');
    const wait = errorOf(client.waitUntilFinal(smsId, { signal: controller.signal }));
    controller.abort(reason);
    expect(await wait).toBe(reason);
  });
});

describe('what a client is made of', () => {
  test.each([
    'no address',
    'ftp://barid.example',
    'https://user:secret@barid.example',
    'https://barid.example/?key=1',
    'https://barid.example/#part',
  ])('the client rejects the address %s without showing it', (baseUrl) => {
    const make = () => createBaridClient({ baseUrl, apiKey: DEMO_API_KEY });
    expect(make).toThrow('baseUrl must be an http or https URL without credentials, query and fragment');
  });

  it('the client rejects a key that no header can carry without showing it', () => {
    const make = () => createBaridClient({ baseUrl: 'https://barid.example', apiKey: `${DEMO_API_KEY}\n` });
    expect(make).toThrow('apiKey has characters that no key has');
  });

  it('a client that is printed does not show its key', () => {
    const client = createBaridClient({ baseUrl: 'https://barid.example', apiKey: DEMO_API_KEY });
    expect(inspect(client, { depth: null, showHidden: true })).not.toContain(DEMO_API_KEY);
    expect(JSON.stringify(client)).toBe('{}');
  });
});
