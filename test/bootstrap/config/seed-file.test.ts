import { describe, expect, it, test } from 'vitest';
import { SeedError } from '../../../src/application/seed/seed-error.ts';
import { DEMO_SEED } from '../../../src/bootstrap/config/demo-seed.ts';
import { parseSeed, readSeed } from '../../../src/bootstrap/config/seed-file.ts';

const SECRET = `svc_live_sk${'0123456789abcdef'.repeat(4)}`;

/** As it stands in the documents, with a whole secret. */
const EXAMPLE = `{
  "projects": [{
    "name": "Demo", "slug": "demo", "environment": "dev",
    "apiKeys": ["sk_dev_0123456789abcdef0123456789abcdef01234567"],
    "paymentType": "prepaid", "credit": 15000, "spendingThreshold": null,
    "trial": null,
    "rateLimit": { "maxRequests": 5, "timeWindowMinutes": 10 },
    "allowedIps": [], "settlement": "quoted", "billingUnits": "flat140",
    "senderIds": [{ "senderId": "Barid", "status": "accepted",
      "pricePerSms": { "korekTelecom": 80, "asiaCell": 80, "zainIraq": 80, "others": 100 } }],
    "whatsapp": { "businesses": [] },
    "inboundWebhooks": [{ "phoneNumberId": "664def456abc789012345678", "url": "https://example.com/inbound", "secret": "${SECRET}" }]
  }],
  "prices": {
    "sms": { "korekTelecom": 80, "asiaCell": 80, "zainIraq": 80, "others": 100 },
    "whatsapp": { "AUTHENTICATION": 60, "UTILITY": 60, "MARKETING": 90 },
    "telegram": 40,
    "international": [{ "continent": "Asia", "countryIso": "TR", "countryCode": "90", "country": "Turkey",
      "networkId": "tr_all", "network": "All networks", "mccMnc": "28601", "price": 120 }]
  }
}`;

/** The example with one value, found by its path, replaced or added. */
function exampleWith(path: readonly (string | number)[], value: unknown): unknown {
  const document: unknown = JSON.parse(EXAMPLE);
  let place = document as Record<string | number, unknown>;
  for (const name of path.slice(0, -1)) place = place[name] as Record<string | number, unknown>;
  place[path.at(-1) ?? ''] = value;
  return document;
}

function rejectionOf(document: unknown): string {
  try {
    readSeed(document);
  } catch (error) {
    if (error instanceof SeedError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('the documented example', () => {
  it('accepts the documented example, with amounts in thousandths', () => {
    const { projects, prices } = parseSeed(EXAMPLE);
    expect(projects).toHaveLength(1);
    expect(projects[0]).toMatchObject({
      project: { name: 'Demo', slug: 'demo', environment: 'dev' },
      apiKeys: ['sk_dev_0123456789abcdef0123456789abcdef01234567'],
      account: { paymentType: 'prepaid', spendingThreshold: null, trialPhoneNumber: null },
      credit: 15_000_000,
      senderIds: [{ senderId: 'Barid', status: 'accepted', pricePerSms: { others: 100_000 } }],
    });
    expect(prices).toMatchObject({
      telegram: 40_000,
      whatsapp: { MARKETING: 90_000 },
      international: [{ countryCode: '90', price: 120_000 }],
    });
  });

  it('makes the same ids every time', () => {
    expect(parseSeed(EXAMPLE)).toEqual(parseSeed(EXAMPLE));
    expect(parseSeed(EXAMPLE).projects[0]?.project.id).toMatch(/^[0-9a-f]{24}$/);
  });
});

describe('what may be left out', () => {
  it('fills in the defaults that the demo writes out', () => {
    const least = {
      projects: [{ name: 'Demo', slug: 'demo', environment: 'dev', apiKeys: DEMO_SEED.projects[0]?.apiKeys }],
      prices: { sms: DEMO_SEED.prices.sms, whatsapp: DEMO_SEED.prices.whatsapp, telegram: 40 },
    };
    const [seeded] = readSeed(least).projects;
    const [demo] = readSeed(DEMO_SEED).projects;
    expect(seeded).toMatchObject({
      project: demo?.project,
      account: demo?.account,
      credit: 0,
      senderIds: [],
      whatsappBusinesses: [],
    });
    expect(readSeed(least).prices.international).toEqual([]);
    expect(seeded?.project.settings).toEqual({
      rateLimit: { maxRequests: 5, timeWindowMinutes: 10 },
      addressRateLimit: null,
      allowedIps: [],
      ipRuleScope: 'resources',
      settlement: 'quoted',
      billingUnits: 'flat140',
      language: 'ar',
      attemptTimeoutMs: { verification: 30_000, other: 300_000 },
      retention: null,
      lowCredit: null,
      weight: 1,
    });
  });

  it('reads a notice of low credit with and without a secret', () => {
    const lowCreditOf = (lowCredit: Record<string, unknown>) =>
      readSeed({ ...DEMO_SEED, projects: [{ ...DEMO_SEED.projects[0], lowCredit }] }).projects[0]?.lowCredit;
    const url = 'https://shop.example/credit';
    expect(lowCreditOf({ amount: 5_000.5, webhookUrl: url })).toEqual({
      amount: 5_000_500,
      webhookUrl: url,
      webhookSecret: null,
    });
    expect(lowCreditOf({ amount: 1, webhookUrl: url, webhookSecret: 's3cret' })?.webhookSecret).toBe(
      's3cret',
    );
    expect(() => lowCreditOf({ amount: 0, webhookUrl: url })).toThrow('projects[0].lowCredit.amount');
    expect(() => lowCreditOf({ amount: 1, webhookUrl: url, webhookSecret: 'a b' })).toThrow(
      'projects[0].lowCredit.webhookSecret',
    );
  });

  it('reads the weight of a project, a whole number from 1 to 100', () => {
    const weightOf = (weight: number) =>
      readSeed({ ...DEMO_SEED, projects: [{ ...DEMO_SEED.projects[0], weight }] }).projects[0]?.project
        .settings.weight;
    expect([weightOf(1), weightOf(100)]).toEqual([1, 100]);
    for (const wrong of [0, 101, 1.5]) expect(() => weightOf(wrong)).toThrow('projects[0].weight');
  });

  it('fills in the defaults throughout a whatsapp tree', () => {
    const [business] = readSeed(DEMO_SEED).projects[0]?.whatsappBusinesses ?? [];
    expect(business).toMatchObject({
      createdAt: '2024-01-01T00:00:00.000Z',
      whatsappAccounts: [
        {
          accountReviewStatus: 'APPROVED',
          businessVerificationStatus: 'verified',
          banState: '',
          banDate: '',
          violationType: '',
          phoneNumbers: [
            {
              qualityRating: 'GREEN',
              messagingLimit: 'TIER_1K',
              status: 'CONNECTED',
              codeVerificationStatus: 'VERIFIED',
              nameStatus: 'APPROVED',
              isOfficialBusinessAccount: false,
            },
          ],
          templates: [
            {
              parameter_format: 'POSITIONAL',
              language: 'en',
              status: 'APPROVED',
              reason: '',
              messageSendTtlSeconds: 600,
              isWhatsappFlow: false,
            },
            {},
          ],
        },
      ],
    });
  });
});

describe('a mistake is told with its path', () => {
  const first = (...path: (string | number)[]) => ['projects', 0, ...path];
  test.each<[path: (string | number)[], value: unknown, at: string, problem: RegExp]>([
    [first('slug'), 'De mo', 'projects[0].slug', /must be 1 to 60 of a-z, 0-9 and -/],
    [first('slug'), '664abc000000000000000001', 'projects[0].slug', /not 24 hex characters/],
    [['prices', 'international', 0, 'iso'], 1, 'prices.international[0].iso', /is not a field of a row/],
    [['prices', 'international', 0, 'network'], '', 'prices.international[0].network', /1 to 200 characters/],
    [first('environment'), 'test', 'projects[0].environment', /expected one of "live"\|"dev"/],
    [first('apiKeys', 0), 'sk_dev_1', 'projects[0].apiKeys[0]', /sk_live_ or sk_dev_ and 40 lower-case hex/],
    [first('apiKeys', 0), `sk_dev_${'A'.repeat(40)}`, 'projects[0].apiKeys[0]', /40 lower-case hex/],
    [first('apiKeys', 0), `sk_live_${'a'.repeat(40)}`, 'projects[0].apiKeys[0]', /must begin with sk_dev_/],
    [first('paymentType'), 'monthly', 'projects[0].paymentType', /"prepaid"\|"postpaid"/],
    [first('credit'), -1, 'projects[0].credit', />=0/],
    [first('credit'), 0.0001, 'projects[0].credit', /at most three decimals/],
    [first('credit'), 0.1230001, 'projects[0].credit', /at most three decimals/],
    [first('credit'), '15000', 'projects[0].credit', /expected number/],
    [first('spendingThreshold'), -5, 'projects[0].spendingThreshold', />=0/],
    [
      first('trial'),
      { ownPhoneNumber: '+9647701234567' },
      'projects[0].trial.ownPhoneNumber',
      /10 to 15 digits/,
    ],
    [first('rateLimit', 'maxRequests'), 0, 'projects[0].rateLimit.maxRequests', />=1/],
    [first('rateLimit', 'timeWindowMinutes'), 1.5, 'projects[0].rateLimit.timeWindowMinutes', /int/],
    [first('allowedIps'), ['intranet'], 'projects[0].allowedIps[0]', /address or a CIDR range/],
    [first('allowedIps'), Array.from({ length: 1_001 }, () => '10.0.0.1'), 'projects[0].allowedIps', /1000/],
    [first('ipRuleScope'), 'some', 'projects[0].ipRuleScope', /"resources"\|"all"/],
    [first('settlement'), 'free', 'projects[0].settlement', /"quoted"\|"delivered"/],
    [first('billingUnits'), 'flat', 'projects[0].billingUnits', /"flat140"\|"gsm0338"/],
    [first('language'), 'fr', 'projects[0].language', /"ar"\|"ckb"\|"en"/],
    [
      first('attemptTimeoutSeconds'),
      { verification: 0, other: 300 },
      'projects[0].attemptTimeoutSeconds.verification',
      />=1/,
    ],
    [first('senderIds', 0, 'senderId'), 'TwelveLetter', 'projects[0].senderIds[0].senderId', /<=11/],
    [
      first('senderIds', 0, 'pricePerSms'),
      { korekTelecom: 1 },
      'projects[0].senderIds[0].pricePerSms.asiaCell',
      /expected number/,
    ],
    [first('whatsapp'), {}, 'projects[0].whatsapp.businesses', /expected array/],
    [
      first('inboundWebhooks', 0, 'url'),
      `https://example.com/${'x'.repeat(2_029)}`,
      'projects[0].inboundWebhooks[0].url',
      /<=2048/,
    ],
    [
      first('inboundWebhooks', 0, 'secret'),
      'svc_live_sk…',
      'projects[0].inboundWebhooks[0].secret',
      /svc_live_sk and 64 hex characters/,
    ],
    [['prices', 'telegram'], null, 'prices.telegram', /expected number/],
    [['prices', 'whatsapp', 'MARKETING'], undefined, 'prices.whatsapp.MARKETING', /expected number/],
    [['prices', 'international', 0, 'countryIso'], 'tr', 'prices.international[0].countryIso', /upper-case/],
  ])('rejects %j = %j with its path', (path, value, at, problem) => {
    const rejection = rejectionOf(exampleWith(path, value));
    expect(rejection).toContain(`→ at ${at}`);
    expect(rejection).toMatch(problem);
  });

  it('reports every mistake at once', () => {
    const document = exampleWith(['projects', 0, 'credit'], 'much') as { prices: { telegram: unknown } };
    document.prices.telegram = 'little';
    expect(rejectionOf(document)).toContain('→ at projects[0].credit');
    expect(rejectionOf(document)).toContain('→ at prices.telegram');
  });
});

describe('text that not every database can keep', () => {
  const first = (...path: (string | number)[]) => ['projects', 0, ...path];
  const business = { id: '664def456abc789012345601', businessId: '1', name: 'Demo' };
  const treeWith = (component: unknown) => {
    const template = {
      id: '664def456abc789012345603',
      name: 'a',
      category: 'UTILITY',
      components: [component],
    };
    const account = { id: business.id, whatsappBusinessId: '1', name: 'Demo', templates: [template] };
    return { businesses: [{ ...business, whatsappAccounts: [account] }] };
  };
  const component = 'projects[0].whatsapp.businesses[0].whatsappAccounts[0].templates[0].components[0]';

  test.each<[path: (string | number)[], value: unknown, at: string]>([
    [first('name'), 'De\0mo', 'projects[0].name'],
    [first('name'), 'De\ud83dmo', 'projects[0].name'],
    [first('name'), '\ude00\ud83d', 'projects[0].name'],
    [first('senderIds', 0, 'senderId'), 'Barid\0', 'projects[0].senderIds[0].senderId'],
    [first('inboundWebhooks', 0, 'url'), 'https://a.example/\0', 'projects[0].inboundWebhooks[0].url'],
    [
      first('whatsapp'),
      { businesses: [{ ...business, name: '\udc00' }] },
      'projects[0].whatsapp.businesses[0].name',
    ],
    [first('whatsapp'), treeWith({ type: 'BODY', text: 'a\0' }), `${component}.text`],
    [first('whatsapp'), treeWith({ type: 'BODY', example: [['\ud800']] }), `${component}.example[0][0]`],
    [first('whatsapp'), treeWith({ type: 'BODY', 'a\0b': 1 }), `${component}["a\\u0000b"]`],
    [['prices', 'international', 0, 'network'], 'All\0', 'prices.international[0].network'],
  ])('rejects %j = %j with its path', (path, value, at) => {
    expect(rejectionOf(exampleWith(path, value))).toContain(
      `✖ must not contain NUL or half of a surrogate pair\n  → at ${at}`,
    );
  });

  it('rejects a sender ID with a control character, as the admin interface does', () => {
    expect(rejectionOf(exampleWith(first('senderIds', 0, 'senderId'), 'Ba\trid'))).toContain(
      '✖ must not contain control characters\n  → at projects[0].senderIds[0].senderId',
    );
  });

  it('a seed with a forbidden text is rejected with its other mistakes', () => {
    const document = exampleWith(['projects', 0, 'credit'], -1) as { projects: [{ name: string }] };
    document.projects[0].name = '\0';
    expect(rejectionOf(document)).toContain('→ at projects[0].credit');
    expect(rejectionOf(document)).toContain('→ at projects[0].name');
  });
});

describe('an unknown name', () => {
  test.each<[path: (string | number)[], name: string, at: string]>([
    [['project'], 'project', ''],
    [['projects', 0, 'sendingThreshold'], 'sendingThreshold', 'projects[0]'],
    [['projects', 0, 'rateLimit', 'window'], 'window', 'projects[0].rateLimit'],
    [['projects', 0, 'senderIds', 0, 'price'], 'price', 'projects[0].senderIds[0]'],
    [['prices', 'sms', 'zain'], 'zain', 'prices.sms'],
  ])('rejects the unknown name %j', (path, name, at) => {
    const rejection = rejectionOf(exampleWith(path, 1));
    expect(rejection).toContain(`Unrecognized key: "${name}"`);
    if (at !== '') expect(rejection).toContain(`→ at ${at}`);
  });
});

describe('what stands twice', () => {
  const [demo] = DEMO_SEED.projects;
  it('rejects two projects with one slug', () => {
    expect(rejectionOf({ ...DEMO_SEED, projects: [demo, { ...demo, apiKeys: [] }] })).toBe(
      'two projects have the slug demo',
    );
  });

  it('rejects an API key that stands twice', () => {
    expect(rejectionOf({ ...DEMO_SEED, projects: [demo, { ...demo, slug: 'other' }] })).toBe(
      'an API key stands twice',
    );
  });

  it('rejects two projects with one id', () => {
    const id = '664abc000000000000000001';
    expect(
      rejectionOf({
        ...DEMO_SEED,
        projects: [
          { ...demo, id },
          { ...demo, id, slug: 'other', apiKeys: [] },
        ],
      }),
    ).toBe(`two projects have the id ${id}`);
  });

  it('rejects a sender ID that a project has twice', () => {
    const senderIds = [demo?.senderIds?.[0], demo?.senderIds?.[0]];
    expect(rejectionOf({ ...DEMO_SEED, projects: [{ ...demo, senderIds }] })).toBe(
      'project demo has the sender ID Barid twice',
    );
  });
});

describe('the number of an inbound webhook', () => {
  const [demo] = DEMO_SEED.projects;
  const webhook = (phoneNumberId: string) => ({ phoneNumberId, url: 'https://example.com/', secret: SECRET });

  it('rejects an inbound webhook of a number that is not in the whatsapp tree of the project', () => {
    const inboundWebhooks = [webhook('664def456abc789012345678'), webhook('664def456abc789012345679')];
    const rejection = rejectionOf({ ...DEMO_SEED, projects: [{ ...demo, inboundWebhooks }] });
    expect(rejection).toContain("must be the id of one of the project's whatsapp numbers");
    expect(rejection).toContain('→ at projects[0].inboundWebhooks[1].phoneNumberId');
    expect(rejection).not.toContain('inboundWebhooks[0]');
  });

  it('rejects two inbound webhooks of one number', () => {
    const inboundWebhooks = [webhook('664def456abc789012345678')];
    const projects = [
      { ...demo, inboundWebhooks },
      { ...demo, slug: 'other', apiKeys: [], inboundWebhooks },
    ];
    expect(rejectionOf({ ...DEMO_SEED, projects })).toBe(
      'the number 664def456abc789012345678 has two inbound webhooks',
    );
  });
});

it('brings the own number of a trial to the spelling that sends are compared with', () => {
  const seed = exampleWith(['projects', 0, 'trial'], { ownPhoneNumber: '07701234567' });
  expect(readSeed(seed).projects[0]?.account.trialPhoneNumber).toBe('9647701234567');
});

it('rejects a template of a category that has no price', () => {
  const seed = structuredClone(DEMO_SEED);
  const [template] = seed.projects[0]?.whatsapp?.businesses[0]?.whatsappAccounts?.[0]?.templates ?? [];
  Object.assign(template ?? {}, { category: 'SERVICE' });
  expect(() => readSeed(seed)).toThrow(/AUTHENTICATION.*whatsappAccounts\[0\]\.templates\[0\]\.category/s);
});

it('says that a text is no JSON', () => {
  expect(() => parseSeed('{"projects": [')).toThrow('not JSON: line 1, column 15');
});

it('rejects a text that nests deeper than anything reads', () => {
  const levels = 20_000;
  expect(() => parseSeed('['.repeat(levels) + ']'.repeat(levels))).toThrow('nested deeper than 32 levels');
});
