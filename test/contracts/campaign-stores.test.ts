import { afterAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../src/adapters/knex/unit-of-work.ts';
import type {
  CampaignStore,
  ConversationStore,
  RecipientStore,
  SendingSlotStore,
} from '../../src/application/ports/stores/campaign-stores.ts';
import type { Stores } from '../../src/application/ports/stores.ts';
import { CAMPAIGN_STORE_PROMISES } from './campaign-stores.contract.ts';

const TABLES = [
  'campaigns',
  'campaign_recipients',
  'sending_slots',
  'portfolios',
  'conversations',
  'service_windows',
  'ledger_entries',
  'accounts',
  'projects',
];

const database = openDatabase({ kind: 'sqlite', filename: ':memory:' });
const sound = new SqlUnitOfWork(database);
await database.migrate();
afterAll(() => database.close());

type Fault = (stores: Stores) => Partial<Stores>;

/** The stores with some methods replaced. */
const campaigns =
  (fault: (sound: CampaignStore) => Partial<CampaignStore>): Fault =>
  (stores) => ({ campaigns: replaced(stores.campaigns, fault(stores.campaigns)) });
const recipients =
  (fault: (sound: RecipientStore) => Partial<RecipientStore>): Fault =>
  (stores) => ({ recipients: replaced(stores.recipients, fault(stores.recipients)) });
const slots =
  (fault: (sound: SendingSlotStore) => Partial<SendingSlotStore>): Fault =>
  (stores) => ({ sendingSlots: replaced(stores.sendingSlots, fault(stores.sendingSlots)) });
const conversations =
  (fault: (sound: ConversationStore) => Partial<ConversationStore>): Fault =>
  (stores) => ({ conversations: replaced(stores.conversations, fault(stores.conversations)) });

function replaced<Store extends object>(store: Store, methods: Partial<Store>): Store {
  return new Proxy(store, {
    get: (target, name) =>
      Reflect.get(methods, name) ?? (Reflect.get(target, name) as () => void).bind(target),
  });
}

/** The sentences that do not hold for stores with a fault. */
async function brokenPromises(fault: Fault): Promise<readonly string[]> {
  const broken: string[] = [];
  const faulty = (stores: Stores): Stores => ({ ...stores, ...fault(stores) });
  for (const { sentence, check } of CAMPAIGN_STORE_PROMISES) {
    for (const table of TABLES) await database.knex(table).delete();
    await check({
      run: (work, durability) => sound.run((stores) => work(faulty(stores)), durability),
      read: (work) => sound.read((stores) => work(faulty(stores))),
    }).catch(() => broken.push(sentence));
  }
  return broken;
}

const NONE = { total: 0 };

describe('the contract of the campaign stores', () => {
  it('sound stores keep every promise of the contract', async () => {
    expect(await brokenPromises(() => ({}))).toEqual([]);
  });

  it.each<[fault: string, plant: Fault, broken: RegExp]>([
    [
      'insert skips an id that exists',
      campaigns((store) => ({
        async insert(rows) {
          const ids = (await store.lock(rows.map(({ id }) => id))).map(({ id }) => id);
          await store.insert(rows.filter(({ id }) => !ids.includes(id)));
        },
      })),
      /rejects a list with an id that exists/,
    ],
    [
      'lock forgets the order',
      campaigns((store) => ({ lock: async (ids) => (await store.lock(ids)).toReversed() })),
      /returns campaigns as they were inserted/,
    ],
    [
      'save leaves the reason out',
      campaigns((store) => ({
        save: (rows) => store.save(rows.map((row) => ({ ...row, failureReason: null }))),
      })),
      /saves everything but id/,
    ],
    [
      'remove removes nothing',
      campaigns(() => ({ remove: async () => undefined })),
      /removes the given campaigns and no other/,
    ],
    [
      'find ignores the project',
      campaigns((store) => ({ find: async (_, id) => (await store.lock([id]))[0] ?? null })),
      /finds a campaign for its own project only/,
    ],
    [
      'lockOf ignores the project',
      campaigns((store) => ({ lockOf: async (_, id) => (await store.lock([id]))[0] ?? null })),
      /locks a campaign for its own project only/,
    ],
    [
      'list ignores the status',
      campaigns((store) => ({ list: (project, _, page) => store.list(project, { status: null }, page) })),
      /lists the campaigns of a project/,
    ],
    [
      'list counts the page',
      campaigns((store) => ({
        list: async (...given) => {
          const found = await store.list(...given);
          return { ...found, total: found.campaigns.length };
        },
      })),
      /lists the campaigns of a project/,
    ],
    [
      'a campaign that has ended is counted as one before its start',
      campaigns((store) => ({
        countUnstarted: async (id, _failedAfter, max) => {
          const { total } = await store.list(id, { status: null }, { page: 1, limit: 1 });
          return Math.min(total, max);
        },
      })),
      /counts the campaigns of a project that have not started/,
    ],
    [
      'the count goes on beyond its maximum',
      campaigns((store) => ({
        countUnstarted: (id, failedAfter) => store.countUnstarted(id, failedAfter, 1_000),
      })),
      /counts the campaigns of a project that have not started/,
    ],
    [
      'a campaign that failed to start is not counted',
      campaigns((store) => ({
        countUnstarted: (id, _failedAfter, max) => store.countUnstarted(id, Number.MAX_SAFE_INTEGER, max),
      })),
      /counts a campaign that failed to start/,
    ],
    [
      'the recipients of a campaign that failed to start count for ever',
      campaigns((store) => ({
        countUnstartedRecipients: (id) => store.countUnstartedRecipients(id, 0),
      })),
      /counts a campaign that failed to start/,
    ],
    [
      'the recipients of a campaign that has ended are counted',
      campaigns((store) => ({
        countUnstartedRecipients: async (id) => {
          const { campaigns: all } = await store.list(id, { status: null }, { page: 1, limit: 100 });
          return all.reduce((sum, { totalRecipients }) => sum + totalRecipients, 0);
        },
      })),
      /counts the recipients of the campaigns of a project that have not started/,
    ],
    [
      'samples come oldest first',
      campaigns((store) => ({
        samplesOf: async (...given) => (await store.samplesOf(...given)).toReversed(),
      })),
      /returns the samples of a campaign/,
    ],
    [
      'the audit believes the campaign',
      campaigns((store) => ({
        audit: async () => (await store.audit()).map((each) => ({ ...each, recipients: each.campaign })),
      })),
      /puts the sums of a campaign beside/,
    ],
    [
      'an insert of recipients skips a number that the campaign has',
      recipients((store) => ({
        async insert(rows) {
          const there = await store.ofCampaign(rows[0]?.campaignId ?? '');
          const has = (number: string) => there.some(({ phoneNumber }) => phoneNumber === number);
          await store.insert(rows.filter(({ phoneNumber }) => !has(phoneNumber)));
        },
      })),
      /rejects an id, a position or a number/,
    ],
    [
      'recipients come in the order of their ids',
      recipients((store) => ({
        ofCampaign: async (id) => [...(await store.ofCampaign(id))].sort((a, b) => (a.id < b.id ? -1 : 1)),
      })),
      /returns the recipients of a campaign as they were/,
    ],
    [
      'costs leave the billing state out',
      recipients((store) => ({
        saveCosts: (id, costs) => store.saveCosts(id, { ...costs, billingState: 'pending' }),
      })),
      /saves the costs of the recipients of one campaign/,
    ],
    [
      'progress leaves an instant out',
      recipients((store) => ({
        saveProgress: (saved) =>
          store.saveProgress(
            saved.map(({ id, progress }) => ({ id, progress: { ...progress, readAt: null } })),
          ),
      })),
      /saves the progress of the given recipients/,
    ],
    [
      'removal forgets all but the first campaign',
      recipients((store) => ({ removeOfCampaigns: (ids) => store.removeOfCampaigns(ids.slice(0, 1)) })),
      /removes the recipients of the given campaigns/,
    ],
    [
      'the search is ignored',
      recipients((store) => ({
        list: (id, filter, page) => store.list(id, { ...filter, search: null }, page),
      })),
      /lists recipients in pages by position/,
    ],
    [
      'the search finds erased numbers',
      recipients((store) => ({
        list: (id, filter, page) =>
          store.list(id, { ...filter, search: filter.search === '0000000000' ? null : filter.search }, page),
      })),
      /finds by a search no recipient whose number was erased/,
    ],
    [
      'the list is always empty',
      recipients(() => ({ list: async () => ({ ...NONE, recipients: [] }) })),
      /lists recipients in pages by position/,
    ],
    [
      'a slot is never saved',
      slots(() => ({ save: async () => undefined })),
      /has 0 for a new number and then what was saved/,
    ],
    [
      'a slot is read before the lock',
      slots(() => ({ lock: async () => ({ freeAt: 0, savedAt: 0 }) })),
      /locks a number until the transaction ends/,
    ],
    [
      'a slot that is found is an old one',
      slots(() => ({ find: async () => ({ freeAt: 0, savedAt: 0 }) })),
      /has 0 for a new number and then what was saved/,
    ],
    [
      'conversations of the other portfolios are counted',
      conversations((store) => ({ count: async (id, since) => (await store.count(id, since)) + 1 })),
      /opens conversations of a portfolio/,
    ],
    [
      'conversations that have ended stay counted',
      conversations((store) => ({ count: (id) => store.count(id, 0) })),
      /counts a conversation once/,
    ],
    [
      'a number that has a conversation is skipped',
      conversations((store) => ({
        async open(id, numbers, at) {
          const open = await store.openAmong(id, numbers, 0);
          await store.open(
            id,
            numbers.filter((number) => !open.includes(number)),
            at,
          );
        },
      })),
      /rejects a number that has a conversation/,
    ],
    [
      'an earlier instant replaces a later one',
      conversations((store) => ({
        async noteWritten(written) {
          await store.sweepWritten(Number.MAX_SAFE_INTEGER, 9);
          await store.noteWritten(written);
        },
      })),
      /keeps the latest instant at which a customer wrote/,
    ],
  ])('the contract finds a planted fault: %s', async (_, plant, broken) => {
    const sentences = await brokenPromises(plant);
    expect(sentences).toContainEqual(expect.stringMatching(broken));
  });
});
