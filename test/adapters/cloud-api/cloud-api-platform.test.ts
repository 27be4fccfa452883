import { expect, it, onTestFinished, test, vi } from 'vitest';
import {
  ACCOUNT_BYTES_MAX,
  ACCOUNT_NUMBERS_MAX,
  ACCOUNT_READING_MS_MAX,
  CloudApiPlatform,
} from '../../../src/adapters/cloud-api/cloud-api-platform.ts';
import { GraphApi } from '../../../src/adapters/cloud-api/graph-api.ts';
import { UndiciProviderHttp } from '../../../src/adapters/egress/providers/undici-provider-http.ts';
import { NodeEventLoop } from '../../../src/adapters/timer/node-event-loop.ts';
import {
  CloudApiPeer,
  failWith,
  type PeerBehaviour,
  respondJson,
  WABA_ID,
} from '../../support/cloud-api-peer.ts';

const NUMBER = {
  id: '106540352242922',
  display_phone_number: '+964 770 000 0001',
  verified_name: 'Demo',
  quality_rating: 'GREEN',
  status: 'CONNECTED',
  code_verification_status: 'VERIFIED',
  name_status: 'APPROVED',
  is_official_business_account: false,
  whatsapp_business_manager_messaging_limit: 'TIER_2K',
};
const TEMPLATE = {
  id: '1689556908129832',
  name: 'order_update',
  language: 'en',
  category: 'UTILITY',
  status: 'APPROVED',
  parameter_format: 'POSITIONAL',
  rejected_reason: 'NONE',
  components: [
    { type: 'BODY', text: 'Hello {{1}}', example: { body_text: [['Layla']] } },
    { type: 'FOOTER', text: 'Demo' },
  ],
};

type Pages = Readonly<Record<'phone_numbers' | 'message_templates', readonly (readonly object[])[]>>;

/** Serves the pages of both edges; a cursor is the number of its page. */
const serve =
  (pages: Pages): PeerBehaviour =>
  ({ path, query }, response) => {
    const edge = path.endsWith('/phone_numbers') ? 'phone_numbers' : 'message_templates';
    const at = Number(query.get('after') ?? '0');
    const hasNext = at + 1 < pages[edge].length;
    const cursors = { before: String(at), after: String(at + 1) };
    respondJson(response, 200, {
      data: pages[edge][at] ?? [],
      paging: hasNext ? { cursors, next: 'https://graph.example.com/next?access_token=x' } : { cursors },
    });
  };

async function accountFrom(behaviour: PeerBehaviour, version = 'v25.0') {
  const peer = await CloudApiPeer.open(behaviour);
  const http = new UndiciProviderHttp();
  const graph = new GraphApi({ baseUrl: peer.url, version, accessToken: 'token' });
  const result = await new CloudApiPlatform({ graph, http, eventLoop: new NodeEventLoop() }).accountOf(
    WABA_ID,
  );
  await http.close();
  return { result, peer };
}

it('the platform reads the numbers and templates of an account in the published shapes', async () => {
  const { result, peer } = await accountFrom(
    serve({ phone_numbers: [[NUMBER]], message_templates: [[TEMPLATE]] }),
  );
  expect(result).toEqual({
    kind: 'account',
    account: {
      phoneNumbers: [
        {
          phoneNumberId: '106540352242922',
          displayPhoneNumber: '+964 770 000 0001',
          verifiedName: 'Demo',
          qualityRating: 'GREEN',
          messagingLimit: 'TIER_2K',
          status: 'CONNECTED',
          codeVerificationStatus: 'VERIFIED',
          nameStatus: 'APPROVED',
          isOfficialBusinessAccount: false,
        },
      ],
      templates: [
        {
          name: 'order_update',
          language: 'en',
          category: 'UTILITY',
          parameterFormat: 'POSITIONAL',
          status: 'APPROVED',
          reason: '',
          messageSendTtlSeconds: null,
          components: TEMPLATE.components,
        },
      ],
    },
  });
  expect(peer.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `GET /v25.0/${WABA_ID}/phone_numbers`,
    `GET /v25.0/${WABA_ID}/message_templates`,
  ]);
});

it('names and reasons of the platform come as every database stores them', async () => {
  const { result } = await accountFrom(
    serve({
      phone_numbers: [[{ ...NUMBER, verified_name: 'De\u0000mo \ud83d\ude00' }]],
      message_templates: [[{ ...TEMPLATE, name: 'order\ud800', rejected_reason: 'a\nb' }]],
    }),
  );
  expect(result).toMatchObject({
    account: {
      phoneNumbers: [{ verifiedName: 'De mo 😀' }],
      templates: [{ name: 'order ', reason: 'a b' }],
    },
  });
});

test.each<[version: string, field: string, other: string]>([
  ['v24.0', 'whatsapp_business_manager_messaging_limit', 'messaging_limit_tier'],
  ['v23.0', 'messaging_limit_tier', 'whatsapp_business_manager_messaging_limit'],
])(
  'the platform asks version %s for the limit of a number by the field that it has',
  async (version, field, other) => {
    const { whatsapp_business_manager_messaging_limit: _, ...rest } = NUMBER;
    const numbers = [{ ...rest, [field]: 'TIER_10K' }];
    const { result, peer } = await accountFrom(
      serve({ phone_numbers: [numbers], message_templates: [[]] }),
      version,
    );
    expect(result).toMatchObject({ account: { phoneNumbers: [{ messagingLimit: 'TIER_10K' }] } });
    const asked = peer.requests[0]?.query.get('fields')?.split(',') ?? [];
    expect([asked.includes(field), asked.includes(other)]).toEqual([true, false]);
  },
);

it('the platform reads what a number and a template do not have as unknown, and the reason of a rejection', async () => {
  const { id, display_phone_number } = NUMBER;
  const { result } = await accountFrom(
    serve({
      phone_numbers: [[{ id, display_phone_number, quality_rating: null }]],
      message_templates: [
        [
          {
            name: 'verify',
            language: 'ar',
            category: 'AUTHENTICATION',
            status: 'REJECTED',
            rejected_reason: 'INVALID_FORMAT',
            message_send_ttl_seconds: 600,
          },
        ],
      ],
    }),
  );
  expect(result).toMatchObject({
    account: {
      phoneNumbers: [{ verifiedName: null, qualityRating: null, messagingLimit: null, status: null }],
      templates: [
        { parameterFormat: null, reason: 'INVALID_FORMAT', messageSendTtlSeconds: 600, components: [] },
      ],
    },
  });
});

it('the platform reads every page by its cursor, and never follows the address of the next one', async () => {
  const templates = ['a', 'b', 'c'].map((name) => [{ ...TEMPLATE, name }]);
  const { result, peer } = await accountFrom(
    serve({ phone_numbers: [[NUMBER]], message_templates: templates }),
  );
  expect(result.kind === 'account' ? result.account.templates.map(({ name }) => name) : []).toEqual([
    'a',
    'b',
    'c',
  ]);
  const asked = peer.requests.filter(({ path }) => path.endsWith('message_templates'));
  expect(asked.map(({ query }) => query.get('after'))).toEqual([null, '1', '2']);
  expect(asked.map(({ query }) => query.get('limit'))).toEqual(['15', '15', '15']);
});

const onThirdRequest =
  (broken: PeerBehaviour): PeerBehaviour =>
  (request, response, count) =>
    (count === 3
      ? broken
      : serve({ phone_numbers: [[NUMBER]], message_templates: [[TEMPLATE], [TEMPLATE], [TEMPLATE]] }))(
      request,
      response,
      count,
    );
const page =
  (body: Readonly<Record<string, unknown>>): PeerBehaviour =>
  (_, response) =>
    respondJson(response, 200, body);

test.each<[title: string, behaviour: PeerBehaviour, reason: string]>([
  ['the token is rejected', failWith(190, 401), 'Meta error 190: Details of 190'],
  ['a later page is an error', onThirdRequest(failWith(80008)), 'Meta error 80008: Details of 80008'],
  [
    'a later page is HTML',
    onThirdRequest((_, response) => response.end('<html>')),
    'Meta responded with status 200 and nothing that can be read',
  ],
  [
    'a later page breaks off',
    onThirdRequest((_, response) => response.destroy()),
    'The connection failed: UND_ERR_SOCKET',
  ],
  [
    'a later page has a template without a name',
    onThirdRequest(page({ data: [{ ...TEMPLATE, name: '' }] })),
    `A page of ${WABA_ID}/message_templates cannot be read`,
  ],
  [
    'a template has more components than any kind of template',
    onThirdRequest(
      page({ data: [{ ...TEMPLATE, components: Array(21).fill({ type: 'BODY', text: '{{1}}' }) }] }),
    ),
    `A page of ${WABA_ID}/message_templates cannot be read`,
  ],
  [
    'a template has more buttons than any',
    onThirdRequest(
      page({
        data: [{ ...TEMPLATE, components: [{ type: 'BUTTONS', buttons: Array(21).fill({ type: 'URL' }) }] }],
      }),
    ),
    `A page of ${WABA_ID}/message_templates cannot be read`,
  ],
  [
    'a page has no cursor to the next one',
    page({ data: [], paging: { next: 'https://graph.example.com' } }),
    `${WABA_ID}/phone_numbers has no cursor to its next page`,
  ],
  [
    'the pages go round in a circle',
    page({ data: [NUMBER], paging: { cursors: { after: 'a' }, next: 'https://graph.example.com' } }),
    `${WABA_ID}/phone_numbers has no cursor to its next page`,
  ],
  [
    'a page has more rows than were asked for',
    page({ data: Array(16).fill(NUMBER) }),
    `A page of ${WABA_ID}/phone_numbers cannot be read`,
  ],
  [
    'there are too many numbers',
    serve({
      phone_numbers: Array(34).fill(Array(15).fill(NUMBER)),
      message_templates: [],
    }),
    `${WABA_ID}/phone_numbers has more than ${ACCOUNT_NUMBERS_MAX} rows`,
  ],
])('the platform gives nothing of an account when %s', async (_, behaviour, reason) => {
  const { result } = await accountFrom(behaviour);
  expect(result).toEqual({ kind: 'unavailable', reason });
});

it.each([
  [24, 'account'],
  [25, 'unavailable'],
])('the platform holds no more than 12 MiB of an account: %i pages of 0.5 MB are %s', async (pages, kind) => {
  const filler = 'x'.repeat(515_000);
  const { result } = await accountFrom(({ path, query }, response) => {
    if (path.endsWith('/phone_numbers')) return respondJson(response, 200, { data: [] });
    const next = Number(query.get('after') ?? '0') + 1;
    const paging = next < pages ? { cursors: { after: `${next}` }, next: 'https://graph.example.com' } : {};
    return respondJson(response, 200, { data: [], filler, paging });
  });
  expect(result.kind).toBe(kind);
  if (result.kind === 'unavailable') expect(result.reason).toContain(`more than ${ACCOUNT_BYTES_MAX} bytes`);
});

it.each([
  [40, 'account'],
  [41, 'unavailable'],
])(
  'the platform counts what is stored of an account: %i pages of numbers that are longer when they are written out are %s',
  async (pages, kind) => {
    const example = `[${Array(14_000).fill('1e20')}]`;
    const components = `[{"type":"BODY","text":"Hello","example":${example}}]`;
    const { result } = await accountFrom(({ path, query }, response) => {
      if (path.endsWith('/phone_numbers')) return respondJson(response, 200, { data: [] });
      const next = Number(query.get('after') ?? '0') + 1;
      const paging = next < pages ? { cursors: { after: `${next}` }, next: 'https://graph.example.com' } : {};
      const row = JSON.stringify({ ...TEMPLATE, name: `n${next}`, components: null }).replace(
        'null',
        components,
      );
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"data":[${row}],"paging":${JSON.stringify(paging)}}`);
    });
    expect(result.kind).toBe(kind);
    if (result.kind === 'unavailable')
      expect(result.reason).toContain(`more than ${ACCOUNT_BYTES_MAX} bytes`);
  },
);

/** Twenty lists within each other: 39 members and lists, and one more in the list that has it. */
const NESTED = Array.from({ length: 19 }).reduce<unknown[]>((inner) => [inner], []);

it.each([
  [49, 'account'],
  [50, 'unavailable'],
])(
  'the platform counts the members of an account: %i pages of small lists within each other are %s',
  async (pages, kind) => {
    const { result } = await accountFrom(({ path, query }, response) => {
      if (path.endsWith('/phone_numbers')) return respondJson(response, 200, { data: [] });
      const next = Number(query.get('after') ?? '0') + 1;
      const paging = next < pages ? { cursors: { after: `${next}` }, next: 'https://graph.example.com' } : {};
      const example = Array.from({ length: 300 }, () => NESTED);
      const components = [{ type: 'BODY', text: 'Hello', example }];
      return respondJson(response, 200, { data: [{ ...TEMPLATE, name: `n${next}`, components }], paging });
    });
    expect(result.kind).toBe(kind);
    if (result.kind === 'unavailable')
      expect(result.reason).toBe('The account has more than 600000 members of JSON');
  },
);

it.each([
  [3, 'account'],
  [4, 'unavailable'],
])(
  'the platform reads one account for 5 minutes at most: %i pages of 100 s each are %s',
  async (pages, kind) => {
    const { now } = performance;
    let slept = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + slept);
    onTestFinished(() => clock.mockRestore());
    const { result, peer } = await accountFrom(({ path, query }, response) => {
      if (path.endsWith('/message_templates')) return respondJson(response, 200, { data: [] });
      const next = Number(query.get('after') ?? '0') + 1;
      if (next < pages) slept += ACCOUNT_READING_MS_MAX / 3;
      const paging = next < pages ? { cursors: { after: `${next}` }, next: 'https://graph.example.com' } : {};
      return respondJson(response, 200, { data: [], paging });
    });
    expect(result.kind).toBe(kind);
    if (result.kind === 'unavailable')
      expect(result.reason).toBe('Reading the account took more than 300000 ms');
    expect(peer.requests).toHaveLength(kind === 'account' ? pages + 1 : 3);
  },
);

it('each page is followed by a pause in which others compute', async () => {
  const pages = 3;
  const events: string[] = [];
  const peer = await CloudApiPeer.open(({ path, query }, response) => {
    const edge = path.slice(path.lastIndexOf('/') + 1);
    const page = Number(query.get('after') ?? '1');
    events.push(`${edge} ${page}`);
    if (edge === 'phone_numbers') return respondJson(response, 200, { data: [] });
    const paging =
      page < pages ? { cursors: { after: `${page + 1}` }, next: 'https://graph.example.com' } : {};
    return respondJson(response, 200, { data: [TEMPLATE], paging });
  });
  const http = new UndiciProviderHttp();
  let busyMs = 0;
  /** A page that takes ten milliseconds to read. */
  class SlowlyRead extends GraphApi {
    override read(...given: Parameters<GraphApi['read']>) {
      busyMs += 10;
      return super.read(...given);
    }
  }
  const graph = new SlowlyRead({ baseUrl: peer.url, version: 'v25.0', accessToken: 'token' });
  const eventLoop = { busyMs: () => busyMs, pause: async (ms: number) => void events.push(`pause ${ms}`) };
  const result = await new CloudApiPlatform({ graph, http, eventLoop }).accountOf(WABA_ID);
  await http.close();
  expect(result.kind).toBe('account');
  expect(events).toEqual([
    'phone_numbers 1',
    'pause 20',
    'message_templates 1',
    'pause 20',
    'message_templates 2',
    'pause 20',
    'message_templates 3',
    'pause 20',
  ]);
});
