import { expect, it } from 'vitest';
import { WHATSAPP_RESOURCES_MAX, WHATSAPP_TREE_BYTES_MAX } from '../../src/adapters/http/limits.ts';
import type { Harness, HarnessReply, HarnessRequest } from '../../src/bootstrap/harness/harness.ts';
import { ADMIN_TOKEN, codeOf } from '../support/admin.ts';
import { startService } from '../support/running-service.ts';
import { seedWith } from '../support/seeds.ts';

const PATH = '/admin/projects/demo/whatsapp';
const BUSINESS_ID = '664def456abc789012345601';
const ACCOUNT_ID = '664def456abc789012345602';
const NUMBER_ID = '664def456abc789012345678';
const TEMPLATE_ID = '664def456abc789012345603';
const HEX_24 = /^[0-9a-f]{24}$/;
const DAY = 86_400_000;

interface Resource {
  id?: string;
  [field: string]: unknown;
}
interface Account extends Resource {
  phoneNumbers: Resource[];
  templates: Resource[];
}
interface Tree {
  businesses: (Resource & { whatsappAccounts: Account[] })[];
}

/** A tree of one business with one account, one number and one template, as a seed file has it. */
const small = (): Tree => ({
  businesses: [
    {
      id: BUSINESS_ID,
      businessId: '104512345678901',
      name: 'Demo Trading',
      whatsappAccounts: [
        {
          id: ACCOUNT_ID,
          whatsappBusinessId: '104512345678902',
          name: 'Demo',
          phoneNumbers: [
            {
              id: NUMBER_ID,
              phoneNumberId: '104512345678903',
              displayPhoneNumber: '+964 770 000 0000',
              phoneNumber: '+9647700000000',
            },
          ],
          templates: [
            {
              id: TEMPLATE_ID,
              name: 'order_update',
              category: 'UTILITY',
              components: [{ type: 'BODY', text: 'Hello {{1}}, your secret order is on its way.' }],
            },
          ],
        },
      ],
    },
  ],
});

const start = () => startService({ adminToken: ADMIN_TOKEN, seed: seedWith({ whatsapp: small() as never }) });
const put = (service: Harness, body: unknown, path = PATH): Promise<HarnessReply> =>
  service.request(path, { apiKey: ADMIN_TOKEN, method: 'PUT', body } as HarnessRequest);

async function read<Body>(service: Harness, path = PATH): Promise<Body> {
  const { status, body } = await service.request(path, { apiKey: ADMIN_TOKEN });
  expect(status).toBe(200);
  return body as Body;
}

async function set(service: Harness, tree: Tree): Promise<Tree> {
  const { status, body } = await put(service, tree);
  expect([status, body]).toEqual([200, expect.anything()]);
  await service.advance(1);
  return body as Tree;
}

interface AuditRecord {
  readonly action: string;
  readonly actor: string;
  readonly before: Record<string, unknown>;
  readonly after: Record<string, unknown>;
}

const records = async (service: Harness) =>
  (await read<{ records: AuditRecord[] }>(service, '/admin/audit')).records;

/** The account of a tree. */
function accountIn({ businesses }: Tree) {
  const account = businesses[0]?.whatsappAccounts[0];
  if (account === undefined) throw new Error('The tree has an account');
  return account;
}

/** The template of a tree. */
function templateIn(tree: Tree): Resource {
  const [template] = accountIn(tree).templates;
  if (template === undefined) throw new Error('The tree has a template');
  return template;
}

it('an operator reads the whatsapp tree of a project with its components, and may send it back unchanged', async () => {
  const service = await start();
  const tree = await read<Tree>(service);
  expect(tree).toMatchObject(small());
  expect(templateIn(tree)).toMatchObject({ language: 'en', status: 'APPROVED' });
  expect(await set(service, tree)).toEqual(tree);
  expect(await records(service)).toEqual([]);
});

it('an operator adds a template and a number to a tree, and both get ids of ours', async () => {
  const service = await start();
  const tree = await read<Tree>(service);
  accountIn(tree).templates.push({ name: 'welcome', category: 'MARKETING' });
  accountIn(tree).phoneNumbers.push({
    phoneNumberId: '9',
    displayPhoneNumber: '+964 770 000 0009',
    phoneNumber: '+9647700000009',
  });
  const stored = await set(service, tree);
  const template = accountIn(stored).templates[1];
  const number = accountIn(stored).phoneNumbers[1];
  expect(template).toMatchObject({
    id: expect.stringMatching(HEX_24),
    status: 'APPROVED',
    createdAt: '2030-01-01T00:00:00.000Z',
  });
  expect(number).toMatchObject({ id: expect.stringMatching(HEX_24), status: 'CONNECTED' });
  expect(await read(service)).toEqual(stored);
  const [record] = await records(service);
  const counts = { businessCount: 1, accountCount: 1, phoneNumberCount: 1, templateCount: 1 };
  expect(record).toMatchObject({
    action: 'whatsapp-resources-changed',
    actor: 'operator',
    before: { ...counts, removed: [] },
    after: {
      ...counts,
      phoneNumberCount: 2,
      templateCount: 2,
      added: [number?.id, template?.id],
      changed: [],
    },
  });
});

it('a tree without ids keeps the ids and instants that its resources have', async () => {
  const service = await start();
  const before = await read<Tree>(service);
  const without = JSON.parse(JSON.stringify(before), (name, value) =>
    name === 'id' || name === 'createdAt' ? undefined : value,
  ) as Tree;
  expect(await set(service, without)).toEqual(before);
  expect(await records(service)).toEqual([]);
});

it('the audit log has the ids of changed and removed resources, and no text of a template', async () => {
  const service = await start();
  const tree = small();
  templateIn(tree).components = [{ type: 'BODY', text: 'Another secret text' }];
  await set(service, tree);
  accountIn(tree).templates = [];
  await set(service, tree);
  const [removed, changed] = await records(service);
  expect([changed?.after.changed, removed?.before.removed]).toEqual([[TEMPLATE_ID], [TEMPLATE_ID]]);
  expect(JSON.stringify([removed, changed])).not.toMatch(/secret|order_update|9647700000000/);
});

it('a changed tree takes effect for sends and for GET /whatsapp/resources', async () => {
  const service = await start();
  const tree = small();
  templateIn(tree).status = 'PAUSED';
  await set(service, tree);
  await service.advance(2_000);
  const body = {
    phoneNumber: '9647701234567',
    smsType: 'whatsapp-template',
    templateName: 'order_update',
    whatsappAccountId: ACCOUNT_ID,
    whatsappPhoneId: NUMBER_ID,
    templateParameters: { body: { 1: 'Layla' } },
  };
  expect(codeOf(await service.request('/sms', { body }))).toEqual([400, 'template-not-approved']);
  const shown = await service.request('/whatsapp/resources');
  expect(JSON.stringify(shown.body)).toContain('PAUSED');
});

it('GET /whatsapp/resources shows the new name of a project whose tree stays the same, with and without components', async () => {
  const service = await start();
  const shown = async (query = '') => (await service.request(`/whatsapp/resources${query}`)).body;
  const [short, whole] = [await shown(), await shown('?includeTemplateComponents=true')];
  expect(JSON.stringify(short)).not.toContain('secret order');
  expect(JSON.stringify(whole)).toContain('secret order');
  expect([await shown(), await shown('?includeTemplateComponents=true')]).toEqual([short, whole]);
  const renamed = { method: 'PATCH', apiKey: ADMIN_TOKEN, body: { name: 'Renamed' } } as const;
  expect((await service.request('/admin/projects/demo', renamed)).status).toBe(200);
  await service.advance(2_000);
  expect(await shown()).toMatchObject({ data: { project: { name: 'Renamed' } } });
});

it('a number that has an inbound webhook stays until the webhook is removed', async () => {
  const service = await start();
  const webhooks = '/admin/projects/demo/inbound-webhooks';
  const made = await service.request(webhooks, {
    apiKey: ADMIN_TOKEN,
    body: { whatsappPhoneId: NUMBER_ID, url: 'https://shop.example/inbound' },
  });
  expect(made.status).toBe(200);
  const before = await read(service);
  const rejected = await put(service, { businesses: [] });
  expect(codeOf(rejected)).toEqual([409, 'whatsapp-resource-in-use']);
  expect(rejected.body).toMatchObject({ inUse: [{ id: NUMBER_ID, usedBy: ['inbound-webhook'] }] });
  expect(await read(service)).toEqual(before);
  await service.request(`${webhooks}/${NUMBER_ID}`, { apiKey: ADMIN_TOKEN, method: 'DELETE' });
  await set(service, { businesses: [] });
  expect(await read(service)).toEqual({ businesses: [] });
});

it('the number and the template of a campaign stay until the campaign ends', async () => {
  const service = await start();
  const body = {
    name: 'Spring',
    templateId: TEMPLATE_ID,
    phoneNumberId: NUMBER_ID,
    category: 'UTILITY',
    scheduleType: 'now',
  };
  const created = await service.request('/whatsapp/campaigns', { body });
  expect(created.status).toBe(200);
  const rejected = await put(service, { businesses: [] });
  expect(rejected.body).toMatchObject({
    inUse: [
      { id: NUMBER_ID, usedBy: ['campaign'] },
      { id: TEMPLATE_ID, usedBy: ['campaign'] },
    ],
  });
  const campaigns = (await service.request('/whatsapp/campaigns')).body as { data: { _id: string }[] };
  const path = `/whatsapp/campaigns/${campaigns.data[0]?._id}`;
  expect((await service.request(path, { method: 'DELETE' })).status).toBe(200);
  await set(service, { businesses: [] });
});

it('the number and the account of an open message stay until the message is final', async () => {
  const service = await start();
  const body = {
    phoneNumber: '9647701234567',
    smsType: 'custom',
    customMessage: 'Hello',
    provider: 'whatsapp',
    whatsappAccountId: ACCOUNT_ID,
    whatsappPhoneId: NUMBER_ID,
  };
  const sent = await service.request('/sms', { body });
  expect([sent.status, sent.body]).toEqual([200, expect.anything()]);
  const rejected = await put(service, { businesses: [] });
  expect(rejected.body).toMatchObject({
    inUse: [
      { id: ACCOUNT_ID, usedBy: ['message'] },
      { id: NUMBER_ID, usedBy: ['message'] },
    ],
  });
  await service.advance(DAY);
  await set(service, { businesses: [] });
});

it.each([
  [{}, 'businesses is required'],
  [[], 'The request body must be a JSON object'],
  [{ businesses: [{ businessId: '1' }] }, 'businesses[0].name is required'],
  [{ businesses: [{ businessId: 1, name: 'A' }] }, 'businesses[0].businessId must be of the type string'],
  [
    { businesses: [{ id: 'x', businessId: '1', name: 'A' }] },
    'businesses[0].id must be 24 lower-case hex characters',
  ],
  [
    { businesses: [{ businessId: '1', name: 'A', whatsapAccounts: [] }] },
    'businesses[0] has a field of an unknown name: whatsapAccounts',
  ],
  [
    { businesses: [{ businessId: '1', name: 'x'.repeat(501) }] },
    'businesses[0].name must have at most 500 characters',
  ],
  [
    { businesses: [{ businessId: '1', name: 'A\u0000' }] },
    'businesses[0].name must not contain NUL or half of a surrogate pair',
  ],
  [
    {
      businesses: [
        { id: BUSINESS_ID, businessId: '1', name: 'A' },
        { id: BUSINESS_ID, businessId: '2', name: 'B' },
      ],
    },
    `Two resources have the id ${BUSINESS_ID}`,
  ],
])('a tree that does not fit is rejected with its place: %j', async (tree, text) => {
  const service = await start();
  const before = await read(service);
  const reply = await put(service, tree);
  expect([...codeOf(reply), reply.body]).toEqual([400, 'validation-failed', { error: text }]);
  expect([await read(service), await records(service)]).toEqual([before, []]);
});

it('a tree of 1,000 templates is taken, one of too many resources or bytes is rejected', async () => {
  const service = await start();
  const templates = (count: number, text: string): Resource[] =>
    Array.from({ length: count }, (_, index) => ({
      name: `template_${index}`,
      category: 'MARKETING',
      components: [{ type: 'BODY', text }],
    }));
  const tree = small();
  accountIn(tree).templates = [templateIn(tree), ...templates(1_000, 'م'.repeat(1_024))];
  const stored = await set(service, tree);
  expect(new Set(accountIn(stored).templates.map(({ id }) => id)).size).toBe(1_001);
  accountIn(tree).templates = templates(WHATSAPP_RESOURCES_MAX - 2, 'a');
  expect(codeOf(await put(service, tree))).toEqual([400, 'validation-failed']);
  accountIn(tree).templates = templates(1_000, 'x'.repeat(WHATSAPP_TREE_BYTES_MAX / 1_000));
  expect(codeOf(await put(service, tree))).toEqual([413, 'body-too-large']);
  accountIn(tree).templates = [
    { name: 'wide', category: 'UTILITY', components: Array(21).fill({ type: 'BODY', text: '{{1}}' }) },
  ];
  const reply = await put(service, tree);
  expect([...codeOf(reply), (reply.body as { error: string }).error]).toEqual([
    400,
    'validation-failed',
    'businesses[0].whatsappAccounts[0].templates[0].components must have at most 20 members',
  ]);
});

it('a number of a tree that is too large is rejected as a number', async () => {
  const service = await start();
  const tree = small();
  Object.assign(templateIn(tree), { messageSendTtlSeconds: 1e300 });
  expect((await put(service, tree)).body).toEqual({
    error: `businesses[0].whatsappAccounts[0].templates[0].messageSendTtlSeconds must be at most ${Number.MAX_SAFE_INTEGER}`,
  });
});

it('an unknown project has no whatsapp tree', async () => {
  const service = await start();
  const path = '/admin/projects/nobody/whatsapp';
  expect(codeOf(await put(service, { businesses: [] }, path))).toEqual([404, 'project-not-found']);
  expect(codeOf(await service.request(path, { apiKey: ADMIN_TOKEN }))).toEqual([404, 'project-not-found']);
});
