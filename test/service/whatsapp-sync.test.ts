import { expect, it } from 'vitest';
import { RUN_RETENTION_JOB_ID } from '../../src/application/jobs/retention-jobs.ts';
import { WHATSAPP_SYNC_INTERVAL_MS } from '../../src/application/jobs/whatsapp-jobs.ts';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import {
  channelsOf,
  MetaAccount,
  SEED_ACCOUNT_ID,
  SEED_PHONE_ID,
  seedWithAccount,
} from '../support/meta-account.ts';
import { startService } from '../support/running-service.ts';
import { verification } from '../support/seeds.ts';

const NUMBER = '9647701234567';
const HOUR_MS = 3_600_000;

/** A service that has just synchronised the account for the first time. */
async function started(
  providers: (meta: MetaAccount) => ReturnType<typeof channelsOf> = (meta) => channelsOf({ meta }),
) {
  const meta = await MetaAccount.open();
  const service = await startService({ seed: seedWithAccount(), channels: providers(meta) });
  await service.advance(0);
  return { meta, service };
}

async function resources(service: Harness) {
  const { body } = await service.request('/whatsapp/resources');
  const { data } = body as {
    data: {
      businesses: {
        whatsappAccounts: {
          phoneNumbers: { id: string; qualityRating: string; messagingLimit: string }[];
          templates: { id: string; name: string; status: string }[];
        }[];
      }[];
    };
  };
  const [account] = data.businesses[0]?.whatsappAccounts ?? [];
  return { numbers: account?.phoneNumbers ?? [], templates: account?.templates ?? [] };
}

const sendTemplate = (service: Harness) =>
  service.request('/sms', {
    body: {
      phoneNumber: NUMBER,
      smsType: 'whatsapp-template',
      templateName: 'order_update',
      whatsappAccountId: SEED_ACCOUNT_ID,
      whatsappPhoneId: SEED_PHONE_ID,
      templateParameters: { body: { 1: 'Layla' } },
    },
  });

it('a synchronisation is due an hour after the last one', () => {
  expect(WHATSAPP_SYNC_INTERVAL_MS).toBe(HOUR_MS);
});

it('GET /whatsapp/resources shows what Meta says from the start, and a new quality an hour later', async () => {
  const { meta, service } = await started();
  const before = await resources(service);
  expect(before.numbers).toMatchObject([
    { id: SEED_PHONE_ID, qualityRating: 'GREEN', messagingLimit: 'TIER_2K' },
  ]);
  expect(before.templates).toMatchObject([
    { name: 'order_update', status: 'PENDING' },
    { name: 'login_code', status: 'APPROVED' },
  ]);
  meta.quality = 'YELLOW';
  await service.advance(HOUR_MS - 1);
  expect([await resources(service), meta.readings]).toEqual([before, 1]);
  await service.advance(1);
  const [number] = before.numbers;
  expect(await resources(service)).toEqual({
    ...before,
    numbers: [{ ...number, qualityRating: 'YELLOW' }],
  });
  await service.assertQuiet();
});

it('the accounts are read once in each hour', async () => {
  const { meta, service } = await started();
  await service.advance(24 * HOUR_MS);
  expect(meta.readings).toBe(25);
});

it('a template that Meta approves can be sent after the next hour', async () => {
  const { meta, service } = await started();
  const early = await sendTemplate(service);
  expect([early.status, early.headers.get('x-error-code')]).toEqual([400, 'template-not-approved']);
  meta.templateStatus = 'APPROVED';
  await service.advance(HOUR_MS);
  expect((await sendTemplate(service)).status).toBe(200);
  await service.advance(0);
  expect(meta.peer.messages()).toMatchObject([
    { to: NUMBER, type: 'template', template: { name: 'order_update', language: { code: 'en' } } },
  ]);
});

it('a page that fails changes nothing, and the next hour brings what it left out', async () => {
  const { meta, service } = await started();
  const before = await resources(service);
  meta.quality = 'RED';
  meta.templateStatus = 'REJECTED';
  meta.fails = ({ query }) => query.get('after') === 'second';
  await service.advance(HOUR_MS);
  expect([await resources(service), meta.readings]).toEqual([before, 2]);
  meta.fails = () => false;
  await service.advance(HOUR_MS);
  const after = await resources(service);
  expect(after.numbers).toMatchObject([{ qualityRating: 'RED' }]);
  expect(after.templates).toMatchObject([{ status: 'REJECTED' }, { status: 'APPROVED' }]);
});

it('the accounts are read each hour also while Meta is away, and no job is dead-lettered', async () => {
  const { meta, service } = await started();
  meta.fails = () => true;
  await service.advance(10 * HOUR_MS);
  expect(meta.readings).toBe(11);
  meta.fails = () => false;
  meta.quality = 'YELLOW';
  await service.advance(HOUR_MS);
  expect((await resources(service)).numbers).toMatchObject([{ qualityRating: 'YELLOW' }]);
  await service.assertQuiet();
});

it('an account is read from the provider that can read it', async () => {
  const other = await MetaAccount.open();
  other.fails = () => true;
  const { meta, service } = await started((account) => channelsOf({ other, meta: account }));
  expect((await resources(service)).numbers).toMatchObject([{ qualityRating: 'GREEN' }]);
  expect([other.readings, meta.readings]).toEqual([1, 1]);
});

it('messages are sent while Meta does not respond to a synchronisation, and the service stops meanwhile', async () => {
  const { meta, service } = await started();
  const hanging: object[] = [];
  meta.peer.behave((request, response) => {
    if (request.method === 'GET') hanging.push(response);
    else response.writeHead(400).end();
  });
  const before = meta.peer.requests.length;
  const advanced = service.advance(HOUR_MS);
  await meta.peer.arrived(before + 1);
  expect(
    (await service.request('/sms', { body: verification(NUMBER, { provider: 'whatsapp' }) })).status,
  ).toBe(200);
  await meta.peer.arrived(before + 2);
  expect([hanging.length, meta.peer.requests.at(-1)?.method]).toEqual([1, 'POST']);
  await service.close();
  await advanced.catch(() => undefined);
});

it('a service without a provider that reads accounts has no such job', async () => {
  const meta = await MetaAccount.open();
  const service = await startService({ seed: seedWithAccount(), providers: { whatsapp: 'simulator' } });
  await service.advance(2 * HOUR_MS);
  const jobs = await service.service.roots.database.knex('jobs').pluck('id');
  expect(jobs).toEqual([RUN_RETENTION_JOB_ID]);
  expect([meta.readings, (await resources(service)).numbers]).toMatchObject([
    0,
    [{ qualityRating: 'UNKNOWN' }],
  ]);
});

it('the made-up accounts of dev projects are not asked for', async () => {
  const meta = await MetaAccount.open();
  const seed = seedWithAccount();
  const [project] = seed.projects;
  if (project === undefined) throw new Error('The seed has a project');
  const service = await startService({
    seed: { ...seed, projects: [{ ...project, environment: 'dev', apiKeys: [DEMO_API_KEY] }] },
    channels: channelsOf({ meta }),
  });
  await service.advance(HOUR_MS);
  expect(meta.peer.requests).toEqual([]);
});
