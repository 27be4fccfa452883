import fc from 'fast-check';
import { expect, it } from 'vitest';
import { problemsOf } from '../../src/application/billing/audit-ledger.ts';
import type { SeedFile } from '../../src/bootstrap/config/seed-file.ts';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import {
  CAMPAIGNS,
  campaignSeed,
  OFFER_TEMPLATE_ID,
  RECIPIENT_NUMBERS,
  recipient,
  TEMPLATE_ID,
  UNKNOWN_ID,
} from '../support/campaigns.ts';
import { startService } from '../support/running-service.ts';
import { CampaignModel, type ModelCampaign } from './campaign-model.ts';

/** On servers every request takes several times as long, and the stores are what differs: fewer commands do. */
const IS_ON_SERVERS = Boolean(process.env.HARNESS_DATABASE_URL);
const COMMANDS_MIN = IS_ON_SERVERS ? 200 : 1_500;
/** So many commands are sure to have every kind of reply. Most runs have them sooner, and end then. */
const COMMANDS_TO_SEE_EVERYTHING = 5_000;
const RUNS_AT_A_TIME = 10;
const COMMANDS_PER_RUN_MAX = 100;
/** Every run has a project of its own, and every run that makes a failure smaller too. */
const PROJECTS = IS_ON_SERVERS ? 100 : 700;
/** Some starts are more than this covers. */
const CREDIT = 1_500;
const TIME_LIMIT_MS = 240_000;

const TEMPLATES = [
  { id: TEMPLATE_ID, price: 60 },
  { id: OFFER_TEMPLATE_ID, price: 90 },
];
const EVERYTHING = [
  ...[
    'DELETE campaign',
    'PATCH campaign',
    'POST preflight',
    'POST recipients',
    'POST sample',
    'POST start',
  ].flatMap((request) => [200, 400, 404].map((status) => `${request} ${status}`)),
  ...[200, 400].map((status) => `POST campaign ${status}`),
  ...['draft', 'scheduled', 'running', 'completed', 'failed'].map((status) => `campaign ${status}`),
].sort();
const UNSUPPORTED = '14155550123';
const hasMoreToSee = (): boolean => !IS_ON_SERVERS && seen.size < EVERYTHING.length;

interface World {
  readonly service: Harness;
  readonly apiKey: string;
  readonly phoneNumberId: string;
  /** How many times were scheduled: each has milliseconds of its own, so that no two things happen at one instant. */
  scheduled: number;
}

type Run = (model: CampaignModel, world: World) => Promise<void>;

let commandsRun = 0;
/** What happened at least once: commands with the status of their reply, and statuses of campaigns. */
const seen = new Set<string>();

/** A request or a move of the clock, then what is true after every one of them. */
class Command implements fc.AsyncCommand<CampaignModel, World, true> {
  readonly #name: string;
  readonly #run: Run;

  constructor(name: string, given: object, run: Run) {
    this.#name = `${name} ${JSON.stringify(given)}`;
    this.#run = run;
  }

  async check(): Promise<boolean> {
    return true;
  }

  async run(model: CampaignModel, world: World): Promise<void> {
    commandsRun += 1;
    await this.#run(model, world);
    await world.service.settle();
    await compare(model, world);
  }

  toString(): string {
    return this.#name;
  }
}

async function compare(model: CampaignModel, { service, apiKey }: World): Promise<void> {
  const [list, info] = await Promise.all([
    service.request(`${CAMPAIGNS}?limit=100`, { apiKey }),
    service.request('/info', { apiKey }),
  ]);
  const { data } = list.body as { data: Record<string, unknown>[] };
  const expected = model.campaigns.filter(({ isGone }) => !isGone).map((each) => model.shown(each));
  for (const { status } of expected) seen.add(`campaign ${status}`);
  const names = Object.keys(expected[0] ?? {});
  const shown = new Map(
    data.map((each) => [each._id, Object.fromEntries(names.map((name) => [name, each[name]]))]),
  );
  expect(expected.map(({ _id }) => shown.get(_id))).toEqual(expected);
  expect(data).toHaveLength(expected.length);
  expect(info.body).toMatchObject({ credit: model.credit() });
}

const which = fc.nat({ max: 30 });
const numbers = fc.array(fc.nat({ max: RECIPIENT_NUMBERS.length }), { minLength: 1, maxLength: 10 });
const template = fc.nat({ max: 1 });
/** All of them are whole fifties: a scheduled time is none, and is passed by. */
const delays = fc.constantFrom(50, 100, 1_000, 60_000, 3_600_000);

/** The campaign that a command is about; one that never existed comes now and then. */
function picked({ campaigns }: CampaignModel, n: number): ModelCampaign | undefined {
  return campaigns[n % (campaigns.length + (n % 7 === 0 ? 1 : 0))];
}

const pathOf = (campaign: ModelCampaign | undefined) => `${CAMPAIGNS}/${campaign?.id ?? UNKNOWN_ID}`;

function timeOf(model: CampaignModel, world: World, delay: number): number {
  world.scheduled += 1;
  return model.now + delay + 1 + (world.scheduled % 49);
}

const iso = (at: number) => new Date(at).toISOString();

/** The last of the positions stands for a number of a country that is not supported. */
const isSupported = (n: number) => n < RECIPIENT_NUMBERS.length;
const recipientsOf = (given: readonly number[]) => ({
  recipients: given.map((n) => recipient(RECIPIENT_NUMBERS[n] ?? UNSUPPORTED)),
});

async function send(
  { service, apiKey }: World,
  method: string,
  path: string,
  expected: number,
  body?: unknown,
): Promise<{ readonly _id: string }> {
  const reply = await service.request(path, { method, apiKey, ...(body === undefined ? {} : { body }) });
  const action = /(?:preflight|recipients|sample|start)$/.exec(path)?.[0] ?? 'campaign';
  seen.add(`${method} ${action} ${reply.status}`);
  expect({ status: reply.status, body: reply.body }).toMatchObject({
    status: expected,
    body: { success: expected === 200 },
  });
  return (reply.body as { data: { _id: string } }).data;
}

const create = fc
  .record({
    template,
    plan: fc.constantFrom('draft', 'draft', 'scheduled', 'past', 'missing'),
    delay: delays,
  })
  .map(
    (given) =>
      new Command('create', given, async (model, world) => {
        const { id: templateId = '', price = 0 } = TEMPLATES[given.template] ?? {};
        const at = timeOf(model, world, given.delay);
        const schedule = {
          draft: {},
          scheduled: { scheduleType: 'schedule', scheduledFor: iso(at) },
          past: { scheduleType: 'schedule', scheduledFor: iso(model.now) },
          missing: { scheduleType: 'schedule' },
        }[given.plan];
        const isFine = given.plan === 'draft' || given.plan === 'scheduled';
        const body = { name: 'Model', templateId, phoneNumberId: world.phoneNumberId, ...schedule };
        const data = await send(world, 'POST', CAMPAIGNS, isFine ? 200 : 400, body);
        if (isFine) model.create(data._id, price, given.plan === 'draft' ? null : at);
      }),
  );

const patch = fc
  .record({
    which,
    change: fc.constantFrom('name', 'schedule', 'schedule', 'now', 'template', 'unknown', 'move', 'past'),
    template,
    delay: delays,
  })
  .map(
    (given) =>
      new Command('patch', given, async (model, world) => {
        const campaign = picked(model, given.which);
        const { id: templateId = '', price = 0 } = TEMPLATES[given.template] ?? {};
        const at = timeOf(model, world, given.delay);
        const body = {
          name: { name: 'Other name' },
          schedule: { scheduleType: 'schedule', scheduledFor: iso(at) },
          now: { scheduleType: 'now' },
          template: { templateId },
          unknown: { templateId: UNKNOWN_ID },
          move: { scheduledFor: iso(at) },
          past: { scheduleType: 'schedule', scheduledFor: iso(model.now - 50) },
        }[given.change];
        const rejected = {
          unknown: 404,
          past: 400,
          move: campaign?.scheduledFor === null ? 400 : 200,
        } as Partial<Record<string, number>>;
        const editable = model.editable(campaign);
        const expected = editable === 200 ? (rejected[given.change] ?? 200) : editable;
        await send(world, 'PATCH', pathOf(campaign), expected, body);
        if (expected !== 200 || campaign === undefined) return;
        if (given.change === 'schedule' || given.change === 'move') campaign.scheduledFor = at;
        if (given.change === 'now') campaign.scheduledFor = null;
        if (given.change === 'template') campaign.price = price;
      }),
  );

const remove = fc.record({ which }).map(
  (given) =>
    new Command('delete', given, async (model, world) => {
      const campaign = picked(model, given.which);
      const expected = model.editable(campaign);
      await send(world, 'DELETE', pathOf(campaign), expected);
      if (expected === 200 && campaign !== undefined) campaign.isGone = true;
    }),
);

const attach = fc.record({ which, numbers }).map(
  (given) =>
    new Command('attach', given, async (model, world) => {
      const campaign = picked(model, given.which);
      const added = [...new Set(given.numbers)].filter((n) => !campaign?.recipients.includes(n));
      const editable = model.editable(campaign);
      const isFine = added.length > 0 && added.every(isSupported);
      const expected = editable === 200 && !isFine ? 400 : editable;
      await send(world, 'POST', `${pathOf(campaign)}/recipients`, expected, recipientsOf(given.numbers));
      if (expected === 200) campaign?.recipients.push(...added);
    }),
);

const sample = fc.record({ which, numbers }).map(
  (given) =>
    new Command('sample', given, async (model, world) => {
      const campaign = picked(model, given.which);
      const distinct = [...new Set(given.numbers)];
      const editable = model.editable(campaign);
      const price = campaign?.price ?? 0;
      const isFine = distinct.every(isSupported) && model.canStart(distinct.length, price);
      const expected = editable === 200 && !isFine ? 400 : editable;
      const path = `${pathOf(campaign)}/sample`;
      const data = await send(world, 'POST', path, expected, recipientsOf(given.numbers));
      if (expected !== 200) return;
      model.create(data._id, price, null, distinct);
      model.start(model.campaigns.at(-1) as ModelCampaign);
    }),
);

const start = fc.record({ which }).map(
  (given) =>
    new Command('start', given, async (model, world) => {
      const campaign = picked(model, given.which);
      const editable = model.editable(campaign);
      const isFine =
        campaign !== undefined &&
        campaign.scheduledFor === null &&
        model.canStart(campaign.recipients.length, campaign.price);
      const expected = editable === 200 && !isFine ? 400 : editable;
      await send(world, 'POST', `${pathOf(campaign)}/start`, expected);
      if (expected === 200 && campaign !== undefined) model.start(campaign);
    }),
);

const advance = fc
  .record({
    ms: fc.oneof({ weight: 8, arbitrary: delays }, { weight: 1, arbitrary: fc.constant(72 * 3_600_000) }),
  })
  .map(
    (given) =>
      new Command('advance', given, async (model, { service }) => {
        await service.advance(given.ms);
        model.advance(given.ms);
      }),
  );

const read = fc.record({ which }).map(
  (given) =>
    new Command('read', given, async (model, { service, apiKey }) => {
      const campaign = picked(model, given.which);
      const isKnown = campaign !== undefined && !campaign.isGone;
      const reply = await service.request(pathOf(campaign), { apiKey });
      expect(reply.status).toBe(isKnown ? 200 : 404);
      if (!isKnown) return;
      const { recipients } = (reply.body as { data: { recipients: Record<string, unknown>[] } }).data;
      const statuses = model.recipientStatuses(campaign);
      expect(recipients.map(({ phoneNumber, status }) => [phoneNumber, status])).toEqual(
        campaign.recipients.map((n, index) => [RECIPIENT_NUMBERS[n], statuses[index]]),
      );
    }),
);

/** Tells at any time what a start would do, also of a scheduled campaign. */
const preflight = fc.record({ which }).map(
  (given) =>
    new Command('preflight', given, async (model, world) => {
      const campaign = picked(model, given.which);
      const expected = model.editable(campaign);
      const data = await send(world, 'POST', `${pathOf(campaign)}/preflight`, expected);
      if (expected !== 200 || campaign === undefined) return;
      const cost = campaign.recipients.length * campaign.price;
      expect(data).toMatchObject({
        canStart: model.canStart(campaign.recipients.length, campaign.price),
        totalRecipients: campaign.recipients.length,
        estimatedTotalCost: cost,
        credit: model.credit(),
        creditAfterStart: Math.max(0, model.credit() - cost),
      });
    }),
);

const commands = fc.commands<CampaignModel, World, true>(
  [
    create,
    create,
    patch,
    patch,
    remove,
    attach,
    attach,
    attach,
    sample,
    start,
    start,
    preflight,
    advance,
    advance,
    read,
  ],
  { maxCommands: COMMANDS_PER_RUN_MAX, size: 'max' },
);

const hex = (n: number, digits: number) => n.toString(16).padStart(digits, '0');
const keyOf = (n: number) => `sk_dev_${hex(n, 40)}`;
const phoneNumberIdOf = (n: number) => `664def0000000000${hex(n, 8)}`;

/** As many projects, each with a whatsapp number of its own, whose sending rate is its own too. */
function seedOf(projects: number): SeedFile {
  const seed = campaignSeed(CREDIT);
  const [first] = seed.projects;
  const [business] = first?.whatsapp?.businesses ?? [];
  const [account] = business?.whatsappAccounts ?? [];
  const [number] = account?.phoneNumbers ?? [];
  if (!first || !business || !account || !number) throw new Error('The seed has a project with a number');
  return {
    ...seed,
    projects: Array.from({ length: projects }, (_, n) => {
      const phoneNumbers = [{ ...number, id: phoneNumberIdOf(n) }];
      const whatsapp = { businesses: [{ ...business, whatsappAccounts: [{ ...account, phoneNumbers }] }] };
      return { ...first, slug: `model-${n}`, apiKeys: [keyOf(n)], whatsapp };
    }),
  };
}

it(
  'a campaign does what the model does, whatever is asked of it in whatever order',
  async () => {
    const service = await startService({ seed: seedOf(PROJECTS) });
    let project = 0;
    const property = fc.asyncProperty(commands, async (run) => {
      const n = project;
      project += 1;
      // Only while a failure is made smaller, which then ends with what was found.
      if (n >= PROJECTS) return;
      await fc.asyncModelRun(
        () => ({
          model: new CampaignModel(service.now().getTime(), CREDIT),
          real: { service, apiKey: keyOf(n), phoneNumberId: phoneNumberIdOf(n), scheduled: 0 },
        }),
        run,
      );
    });
    // A failure prints its seed and path, and the fewest commands that show it.
    while (commandsRun < COMMANDS_MIN || (hasMoreToSee() && commandsRun < COMMANDS_TO_SEE_EVERYTHING)) {
      if (project >= PROJECTS) throw new Error('Every project was used');
      await fc.assert(property, { numRuns: RUNS_AT_A_TIME });
      expect(problemsOf(await service.service.roots.auditLedger.execute())).toEqual([]);
    }
    if (!IS_ON_SERVERS) expect([...seen].sort()).toEqual(EVERYTHING);
    await service.advance(100 * 24 * 3_600_000);
    await service.assertQuiet();
  },
  TIME_LIMIT_MS,
);
