import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApplySeed } from '../../../src/application/seed/apply-seed.ts';
import { SeedError } from '../../../src/application/seed/seed-error.ts';
import { SealWebhook } from '../../../src/application/webhooks/seal-webhook.ts';
import { ports } from '../../../src/bootstrap/tokens.ts';
import { newApiKey } from '../../../src/domain/access/api-key.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { type ApplicationWorld, aSeedProject, openApplication } from '../../support/application-world.ts';
import {
  aProject,
  aSealedSecret,
  aSenderId,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  NOW,
  someSeedPrices,
} from '../../support/builders.ts';
import { LIVE_KEY } from '../../support/seeds.ts';

const NUMBER_ID = aWhatsappPhoneNumber().id;
const full = aSeedProject({
  apiKeys: [LIVE_KEY],
  account: { paymentType: 'postpaid', spendingThreshold: iqd(500), trialPhoneNumber: null },
  senderIds: [aSenderId()],
  whatsappBusinesses: [aWhatsappBusiness()],
  inboundWebhooks: [{ whatsappPhoneId: NUMBER_ID, url: 'https://EXAMPLE.com:443/in', secret: 's3cret' }],
});
const withWebhook = (url: string) => ({ whatsappPhoneId: NUMBER_ID, url, secret: 's3cret' });

describe('ApplySeed', () => {
  let world: ApplicationWorld;
  let applySeed: ApplySeed;

  beforeEach(async () => {
    world = await openApplication({ projects: [] });
    applySeed = world.container.get(ApplySeed);
  });

  afterEach(() => world.close());

  it('ApplySeed fills an empty database with everything the seed holds', async () => {
    expect(await applySeed.execute({ projects: [full], prices: someSeedPrices() })).toBe(true);
    const { container, unitOfWork } = world;
    const stored = await unitOfWork.read(async (stores) => ({
      projects: await stores.projects.byIds([full.project.id]),
      senderIds: await stores.senderIds.byProjectIds([full.project.id]),
      whatsapp: await stores.whatsapp.byProjectIds([full.project.id]),
      inbound: await stores.inboundWebhooks.byWhatsappPhoneIds([NUMBER_ID]),
      prices: await stores.priceVersions.list(null, 9),
    }));
    expect(stored).toMatchObject({
      projects: [full.project],
      senderIds: [aSenderId()],
      whatsapp: new Map([[full.project.id, [aWhatsappBusiness()]]]),
      inbound: [{ projectId: full.project.id, whatsappPhoneId: NUMBER_ID, url: 'https://example.com/in' }],
      prices: [{ effectiveFrom: 0, createdAt: NOW, actor: 'seed', rowCount: 1, withdrawnAt: null }],
    });
    expect(container.get(ports.secretBox).open(stored.inbound[0]?.secret ?? aSealedSecret('none'))).toBe(
      's3cret',
    );
    expect(await world.account()).toMatchObject({
      paymentType: 'postpaid',
      spendingThreshold: iqd(500),
      balance: iqd(1_000),
    });
    expect(await world.database.knex('api_keys').select('digest', 'project_id')).toEqual([
      { digest: container.get(ports.keyHasher).digest(LIVE_KEY), project_id: full.project.id },
    ]);
    expect(await world.database.knex('ledger_entries').select('reference', 'created_at')).toEqual([
      { reference: `seed/${full.project.id}`, created_at: NOW },
    ]);
  });

  it.each([
    ['a key with a checksum', true],
    ['a key of another kind', false],
  ])('ApplySeed stores whether a key ends with a checksum: %s', async (_, isNew) => {
    const { checksum } = world.container.get(ports.keyHasher);
    const apiKeys = isNew ? [newApiKey('live', '0'.repeat(32), checksum)] : [LIVE_KEY];
    await applySeed.execute({ projects: [{ ...full, apiKeys }], prices: someSeedPrices() });
    expect(await world.unitOfWork.read(({ projects }) => projects.hasKeyWithoutChecksum())).toBe(!isNew);
  });

  it('ApplySeed leaves a database alone that holds a project', async () => {
    await applySeed.execute({ projects: [full], prices: someSeedPrices() });
    const other = aSeedProject({ project: aProject({ id: '664abc000000000000000002', slug: 'other' }) });
    expect(await applySeed.execute({ projects: [other], prices: someSeedPrices({ telegram: iqd(1) }) })).toBe(
      false,
    );
    expect(await world.database.knex('projects').pluck('slug')).toEqual(['demo']);
    expect((await world.account()).balance).toBe(iqd(1_000));
  });

  it('ApplySeed stops when another process fills the database meanwhile', async () => {
    const { unitOfWork } = world;
    const slower = world.container.get(ports.keyHasher);
    const racing = new ApplySeed({
      unitOfWork: {
        ...unitOfWork,
        read: (work) => unitOfWork.read(work),
        run: async () => {
          await applySeed.execute({ projects: [full], prices: someSeedPrices() });
          throw new Error('UNIQUE constraint failed');
        },
        ping: () => unitOfWork.ping(),
      },
      keyHasher: slower,
      sealWebhook: world.container.get(SealWebhook),
      clock: world.clock,
      ids: world.container.get(ports.idSource),
    });
    expect(await racing.execute({ projects: [full], prices: someSeedPrices() })).toBe(false);
  });

  it('ApplySeed undoes what it has written when another process has filled the database with another seed meanwhile', async () => {
    const { unitOfWork } = world;
    await applySeed.execute({ projects: [full], prices: someSeedPrices() });
    const racing = new ApplySeed({
      unitOfWork: {
        ping: () => unitOfWork.ping(),
        read: (work) => unitOfWork.read(work),
        run: (work, ...options) =>
          unitOfWork.run(
            (stores) => {
              // The other has not committed when this one checks first.
              const seen = [true];
              const projects = new Proxy(stores.projects, {
                get: (target, name) =>
                  name === 'isEmpty' && seen.length > 0
                    ? async () => seen.pop()
                    : Reflect.get(target, name).bind(target),
              });
              return work({ ...stores, projects });
            },
            ...options,
          ),
      },
      keyHasher: world.container.get(ports.keyHasher),
      sealWebhook: world.container.get(SealWebhook),
      clock: world.clock,
      ids: world.container.get(ports.idSource),
    });
    const other = aSeedProject({ project: aProject({ id: '664abc000000000000000002', slug: 'other' }) });
    const seed = { projects: [other], prices: someSeedPrices({ telegram: iqd(1) }) };
    expect(await racing.execute(seed)).toBe(false);
    const stored = await unitOfWork.read(async (stores) => [
      (await stores.priceVersions.list(null, 9)).length,
      await stores.projects.byIds([other.project.id]),
    ]);
    expect(stored).toEqual([1, []]);
  });

  it('ApplySeed stores a notice of low credit with its address parsed and its secret sealed', async () => {
    const lowCredit = {
      amount: iqd(5_000),
      webhookUrl: 'https://EXAMPLE.com:443/credit',
      webhookSecret: 's3cret',
    };
    const seeded = aSeedProject({ lowCredit });
    await applySeed.execute({ projects: [seeded], prices: someSeedPrices() });
    const [stored] = await world.unitOfWork.read(({ projects }) => projects.byIds([seeded.project.id]));
    const { webhookSecret = null, ...rest } = stored?.settings.lowCredit ?? {};
    expect(rest).toEqual({ amount: iqd(5_000), webhookUrl: 'https://example.com/credit' });
    expect(world.container.get(ports.secretBox).open(webhookSecret ?? aSealedSecret('none'))).toBe('s3cret');
  });

  it('ApplySeed writes nothing when a notice of low credit can never be delivered', async () => {
    const lowCredit = { amount: iqd(1), webhookUrl: 'https://127.0.0.1/', webhookSecret: null };
    const projects = [aSeedProject({ lowCredit })];
    await expect(applySeed.execute({ projects, prices: someSeedPrices() })).rejects.toThrow(
      '→ at projects[0].lowCredit.webhookUrl',
    );
    expect(await world.database.knex('projects').select()).toEqual([]);
  });

  it('ApplySeed names every address that webhooks are never sent to, and writes nothing', async () => {
    const projects = [
      full,
      aSeedProject({
        project: aProject({ id: '664abc000000000000000002', slug: 'other' }),
        inboundWebhooks: [
          withWebhook('https://example.com/in'),
          withWebhook('http://example.com/in'),
          withWebhook('https://127.0.0.1/in'),
        ],
      }),
    ];
    const error = await applySeed.execute({ projects, prices: someSeedPrices() }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(SeedError);
    expect(error).toMatchObject({
      name: 'SeedError',
      message: [1, 2]
        .map(
          (index) =>
            `✖ must be a public https address, on an allowed port\n  → at projects[1].inboundWebhooks[${index}].url`,
        )
        .join('\n'),
    });
    expect(await world.database.knex('projects').select()).toEqual([]);
  });
});
