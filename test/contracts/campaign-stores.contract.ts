import { expect, it } from 'vitest';
import type { UnitOfWork } from '../../src/application/ports/unit-of-work.ts';
import { holdEntry, settlementEntry } from '../../src/domain/billing/ledger.ts';
import type { Campaign } from '../../src/domain/campaigns/campaign.ts';
import type { Recipient } from '../../src/domain/campaigns/recipient.ts';
import { anonymisedRecipient } from '../../src/domain/retention/retained-recipient.ts';
import { iqd, ZERO } from '../../src/domain/shared/money.ts';
import type { PhoneNumber } from '../../src/domain/shared/phone-number.ts';
import {
  aCampaign,
  aNewAccount,
  anId,
  aPhoneNumber,
  aProject,
  aRecipient,
  NOW,
  PROJECT_ID,
} from '../support/builders.ts';
import { MeetingPoint, type Storage, storageOfSuite } from './storage.ts';

const OTHER_PROJECT_ID = '664abc000000000000000002';
const PAGE = { page: 1, limit: 50 };
/** Units of work that meet at one row. */
const UNITS = 10;
const EXISTS = /unique|duplicate/i;

/** A project's campaign in its end, every column with a value of its own. */
const rich = aCampaign({
  id: anId(2),
  name: 'ربيع 👩‍👩‍👧 "quoted" ?',
  category: 'MARKETING',
  templateId: anId(11),
  whatsappPhoneId: anId(12),
  status: 'failed',
  scheduledFor: NOW + 1,
  startedAt: NOW + 2,
  completedAt: NOW + 3,
  totalRecipients: 10,
  sentCount: 9,
  deliveredCount: 8,
  failedCount: 1,
  estimatedCost: iqd(900.5),
  reserved: iqd(900),
  captured: iqd(720),
  released: iqd(180),
  failureReason: 'القالب متوقف',
  sampleOf: anId(1),
  createdAt: NOW + 4,
  updatedAt: NOW + 5,
});

const richRecipient = aRecipient({
  id: anId(102),
  position: 1,
  phoneNumber: aPhoneNumber('9647701234567'),
  phoneNumberAsSent: '07701234567',
  templateParameters: {
    body: { '1': 'ليلى "\\', '2': 7.5 },
    header: { imageUrl: 'https://a.example/b.jpg' },
    buttons: { '0': { '1': 'A' } },
  },
  estimatedCost: iqd(90.125),
  status: 'read',
  finalCost: iqd(90),
  billingState: 'charged',
  errorMessage: 'خطأ',
  sentAt: NOW + 1,
  deliveredAt: NOW + 2,
  readAt: NOW + 3,
  failedAt: NOW + 4,
});

/** What is promised, as a sentence, and the check of it on an empty storage. */
interface StorePromise {
  readonly sentence: string;
  readonly check: (unitOfWork: Pick<UnitOfWork, 'run' | 'read'>) => Promise<void>;
}

type Use = Pick<UnitOfWork, 'run' | 'read'>;

/** Two projects and these campaigns. */
async function withCampaigns({ run }: Use, ...campaigns: readonly Campaign[]): Promise<void> {
  await run(async (stores) => {
    const other = aProject({ id: OTHER_PROJECT_ID, slug: 'other' });
    await stores.projects.insert([aProject(), other]);
    await stores.campaigns.insert(campaigns);
  });
}

const withRecipients = ({ run }: Use, ...recipients: readonly Recipient[]) =>
  run((stores) => stores.recipients.insert(recipients));

const locked = ({ run }: Use, ...ids: readonly string[]) => run((stores) => stores.campaigns.lock(ids));

const recipientsOf = ({ read }: Use, campaignId = anId()) =>
  read((stores) => stores.recipients.ofCampaign(campaignId));

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

const CAMPAIGNS: readonly StorePromise[] = [
  {
    sentence: 'the campaign store locks the scheduled campaigns of all projects, in the order of their ids',
    async check(use) {
      const later = aCampaign({ id: anId(4), status: 'scheduled', scheduledFor: NOW });
      const first = aCampaign({ ...later, id: anId(3), projectId: OTHER_PROJECT_ID });
      await withCampaigns(use, later, first, rich, aCampaign());
      expect(await use.run((stores) => stores.campaigns.lockScheduled())).toEqual([first, later]);
    },
  },
  {
    sentence: 'the campaign store returns campaigns as they were inserted, in the order of their ids',
    async check(use) {
      await withCampaigns(use, rich, aCampaign());
      expect(await locked(use, anId(2), anId(3), anId(1))).toEqual([aCampaign(), rich]);
      expect(await locked(use)).toEqual([]);
    },
  },
  {
    sentence: 'the campaign store rejects a list with an id that exists, and inserts none of it',
    async check(use) {
      await withCampaigns(use, aCampaign());
      await expect(use.run((stores) => stores.campaigns.insert([rich, aCampaign()]))).rejects.toThrow(EXISTS);
      expect(await locked(use, anId(1), anId(2))).toEqual([aCampaign()]);
    },
  },
  {
    sentence:
      'the campaign store saves everything but id, project, parent and creation, of the given campaigns',
    async check(use) {
      await withCampaigns(use, aCampaign(), aCampaign({ id: anId(3) }));
      await use.run((stores) =>
        stores.campaigns.save([{ ...rich, id: anId(3), projectId: OTHER_PROJECT_ID }]),
      );
      expect(await locked(use, anId(1), anId(3))).toEqual([
        aCampaign(),
        { ...rich, id: anId(3), projectId: PROJECT_ID, sampleOf: null, createdAt: NOW },
      ]);
    },
  },
  {
    sentence: 'the campaign store locks a campaign until the transaction ends',
    async check(use) {
      await withCampaigns(use, aCampaign());
      const addOne = () =>
        use.run(async (stores) => {
          const [campaign] = await stores.campaigns.lock([anId()]);
          if (campaign === undefined) throw new Error('The campaign is there');
          await stores.campaigns.save([{ ...campaign, totalRecipients: campaign.totalRecipients + 1 }]);
        });
      await Promise.all(Array.from({ length: UNITS }, addOne));
      expect(await locked(use, anId())).toEqual([aCampaign({ totalRecipients: UNITS })]);
    },
  },
  {
    sentence: 'the campaign store locks a campaign for its own project only, and returns nothing to another',
    async check(use) {
      await withCampaigns(use, rich);
      const lockOf = (projectId: string, id: string) =>
        use.run((stores) => stores.campaigns.lockOf(projectId, id));
      expect(await lockOf(PROJECT_ID, anId(2))).toEqual(rich);
      expect(await lockOf(OTHER_PROJECT_ID, anId(2))).toBeNull();
      expect(await lockOf(PROJECT_ID, anId(1))).toBeNull();
    },
  },
  {
    sentence: 'the campaign store removes the given campaigns and no other',
    async check(use) {
      await withCampaigns(use, aCampaign(), rich, aCampaign({ id: anId(3) }));
      await use.run((stores) => stores.campaigns.remove([anId(1), anId(3), anId(9)]));
      expect(await locked(use, anId(1), anId(2), anId(3))).toEqual([rich]);
    },
  },
  {
    sentence: 'the campaign store finds a campaign for its own project only',
    async check(use) {
      await withCampaigns(use, rich);
      const find = (projectId: string, id: string) =>
        use.read((stores) => stores.campaigns.find(projectId, id));
      expect(await find(PROJECT_ID, anId(2))).toEqual(rich);
      expect(await find(OTHER_PROJECT_ID, anId(2))).toBeNull();
      expect(await find(PROJECT_ID, anId(1))).toBeNull();
    },
  },
  {
    sentence:
      'the campaign store lists the campaigns of a project in pages, the newest first, and counts what matches',
    async check(use) {
      const all = [1, 2, 3, 4, 5].map((n) =>
        aCampaign({ id: anId(n), status: n % 2 === 0 ? 'running' : 'draft' }),
      );
      await withCampaigns(use, ...all, aCampaign({ id: anId(6), projectId: OTHER_PROJECT_ID }));
      const list = async (projectId: string, status: 'running' | 'draft' | null, page = PAGE) => {
        const { total, campaigns } = await use.read((stores) =>
          stores.campaigns.list(projectId, { status }, page),
        );
        return { total, ids: idsOf(campaigns) };
      };
      expect(await list(PROJECT_ID, null)).toEqual({ total: 5, ids: [5, 4, 3, 2, 1].map(anId) });
      expect(await list(PROJECT_ID, null, { page: 2, limit: 2 })).toEqual({
        total: 5,
        ids: [3, 2].map(anId),
      });
      expect(await list(PROJECT_ID, null, { page: 4, limit: 2 })).toEqual({ total: 5, ids: [] });
      expect(await list(PROJECT_ID, 'running')).toEqual({ total: 2, ids: [4, 2].map(anId) });
      expect(await list(OTHER_PROJECT_ID, null)).toEqual({ total: 1, ids: [anId(6)] });
      expect(await list(OTHER_PROJECT_ID, 'running')).toEqual({ total: 0, ids: [] });
    },
  },
  {
    sentence: 'the campaign store counts the campaigns of a project that have not started, up to a maximum',
    async check(use) {
      const statuses = ['draft', 'scheduled', 'running', 'completed', 'failed', 'draft'] as const;
      const all = statuses.map((status, n) => aCampaign({ id: anId(n + 1), status }));
      await withCampaigns(use, ...all, aCampaign({ id: anId(9), projectId: OTHER_PROJECT_ID }));
      const count = (projectId: string, max: number) =>
        use.read((stores) => stores.campaigns.countUnstarted(projectId, 0, max));
      expect([await count(PROJECT_ID, 9), await count(PROJECT_ID, 3), await count(PROJECT_ID, 2)]).toEqual([
        3, 3, 2,
      ]);
      expect([await count(OTHER_PROJECT_ID, 9), await count(anId(99), 9)]).toEqual([1, 0]);
    },
  },
  {
    sentence: 'the campaign store counts the recipients of the campaigns of a project that have not started',
    async check(use) {
      const statuses = ['draft', 'scheduled', 'running', 'completed', 'failed', 'draft'] as const;
      const all = statuses.map((status, n) =>
        aCampaign({ id: anId(n + 1), status, totalRecipients: 10 ** n }),
      );
      const foreign = aCampaign({ id: anId(9), projectId: OTHER_PROJECT_ID, totalRecipients: 7 });
      await withCampaigns(use, ...all, foreign);
      const count = (projectId: string) =>
        use.read((stores) => stores.campaigns.countUnstartedRecipients(projectId, 0));
      expect([await count(PROJECT_ID), await count(OTHER_PROJECT_ID), await count(anId(99))]).toEqual([
        100_011, 7, 0,
      ]);
    },
  },
  {
    sentence:
      'the campaign store counts a campaign that failed to start after the given time as one that has not started',
    async check(use) {
      const failed = (n: number, given: Partial<Campaign>) =>
        aCampaign({ id: anId(n), status: 'failed', totalRecipients: 10 ** (n - 1), ...given });
      await withCampaigns(
        use,
        failed(1, { startedAt: null, completedAt: 100 }),
        failed(2, { startedAt: null, completedAt: 101 }),
        failed(3, { startedAt: 99, completedAt: 101 }),
        failed(4, { startedAt: null, completedAt: 101, projectId: OTHER_PROJECT_ID }),
        failed(5, { status: 'draft', startedAt: null, completedAt: null }),
      );
      const { campaigns, recipients } = await use.read(async (stores) => ({
        campaigns: await stores.campaigns.countUnstarted(PROJECT_ID, 100, 9),
        recipients: await stores.campaigns.countUnstartedRecipients(PROJECT_ID, 100),
      }));
      expect({ campaigns, recipients }).toEqual({ campaigns: 2, recipients: 10_010 });
    },
  },
  {
    sentence: 'the campaign store returns the samples of a campaign of the project, the newest first',
    async check(use) {
      const sample = (n: number, given: Partial<Campaign> = {}) =>
        aCampaign({ id: anId(n), sampleOf: anId(1), ...given });
      const foreign = sample(5, { projectId: OTHER_PROJECT_ID });
      await withCampaigns(use, aCampaign(), sample(2), sample(3), sample(4, { sampleOf: anId(9) }), foreign);
      const samplesOf = (id: string) => use.read((stores) => stores.campaigns.samplesOf(PROJECT_ID, id, 2));
      expect(await samplesOf(anId(1))).toEqual([sample(3), sample(2)]);
      expect(await samplesOf(anId(2))).toEqual([]);
    },
  },
  {
    sentence:
      'the campaign store puts the sums of a campaign beside those of its recipients and their ledger entries',
    async check(use) {
      await withCampaigns(use, { ...rich, id: anId(1) }, aCampaign({ id: anId(2) }));
      await use.run((stores) => stores.accounts.insert([aNewAccount()]));
      const statuses = ['queued', 'sent', 'delivered', 'read', 'failed'] as const;
      await withRecipients(
        use,
        ...statuses.map((status, position) =>
          aRecipient({
            id: anId(101 + position),
            position,
            status,
            phoneNumber: aPhoneNumber(`964770123456${position}`),
            estimatedCost: iqd(60),
          }),
        ),
      );
      const at = (n: number) => ({ projectId: PROJECT_ID, reference: `sms-${anId(n)}`, at: NOW });
      await use.run((stores) =>
        stores.ledger.post([
          ...[101, 102, 103, 104].map((n) => holdEntry(at(n), iqd(60))),
          settlementEntry(at(103), iqd(60), iqd(50)),
          settlementEntry(at(104), iqd(60), ZERO),
        ]),
      );
      const none = {
        totalRecipients: 0,
        sentCount: 0,
        deliveredCount: 0,
        failedCount: 0,
        estimatedCost: ZERO,
        reserved: ZERO,
        captured: ZERO,
        released: ZERO,
      };
      expect(await use.read((stores) => stores.campaigns.audit())).toEqual([
        {
          id: anId(1),
          campaign: {
            totalRecipients: 10,
            sentCount: 9,
            deliveredCount: 8,
            failedCount: 1,
            estimatedCost: iqd(900.5),
            reserved: iqd(900),
            captured: iqd(720),
            released: iqd(180),
          },
          recipients: {
            totalRecipients: 5,
            sentCount: 3,
            deliveredCount: 2,
            failedCount: 1,
            estimatedCost: iqd(300),
            reserved: iqd(240),
            captured: iqd(50),
            released: iqd(70),
          },
        },
        { id: anId(2), campaign: none, recipients: none },
      ]);
    },
  },
];

const RECIPIENTS: readonly StorePromise[] = [
  {
    sentence:
      'the recipient store returns the recipients of a campaign as they were, in the order of their positions',
    async check(use) {
      const elsewhere = aRecipient({ id: anId(100), campaignId: anId(2) });
      await withRecipients(use, richRecipient, aRecipient({ id: anId(103) }), elsewhere);
      expect(await recipientsOf(use)).toEqual([aRecipient({ id: anId(103) }), richRecipient]);
      expect(await recipientsOf(use, anId(3))).toEqual([]);
    },
  },
  {
    sentence:
      'the recipient store rejects an id, a position or a number that the campaign has, and inserts nothing',
    async check(use) {
      await withRecipients(use, aRecipient());
      const fresh = { id: anId(104), position: 4, phoneNumber: aPhoneNumber('9647700000004') };
      const clashes = [
        { ...fresh, id: aRecipient().id },
        { ...fresh, position: 0 },
        { ...fresh, phoneNumber: aRecipient().phoneNumber },
      ];
      for (const clash of clashes) {
        await expect(withRecipients(use, richRecipient, aRecipient(clash))).rejects.toThrow(EXISTS);
      }
      expect(await recipientsOf(use)).toEqual([aRecipient()]);
      await withRecipients(use, aRecipient({ id: anId(105), campaignId: anId(2) }));
    },
  },
  {
    sentence: 'the recipient store tells who is on a campaign, and how many bytes their parameters have',
    async check(use) {
      const arabic = { body: { '1': 'ليلى' } };
      const elsewhere = aRecipient({ id: anId(107), campaignId: anId(2) });
      await withRecipients(
        use,
        aRecipient({ templateParameters: { body: { '1': 'Layla' } } }),
        { ...richRecipient, templateParameters: arabic },
        elsewhere,
      );
      const attachedTo = (id: string) => use.read(({ recipients }) => recipients.attachedTo(id));
      expect(await attachedTo(anId())).toEqual({
        numbers: new Set([aRecipient().phoneNumber, richRecipient.phoneNumber]),
        parameterBytes: 22 + 25,
      });
      expect(await attachedTo(anId(3))).toEqual({ numbers: new Set(), parameterBytes: 0 });
    },
  },
  {
    sentence: 'the recipient store saves the costs of the recipients of one campaign and nothing else',
    async check(use) {
      const ofAnother = aRecipient({ id: anId(106), campaignId: anId(2) });
      await withRecipients(use, aRecipient(), richRecipient, ofAnother);
      const costs = { estimatedCost: iqd(1.5), billingState: 'reserved' } as const;
      await use.run((stores) => stores.recipients.saveCosts(aRecipient().campaignId, costs));
      expect(await recipientsOf(use)).toEqual([aRecipient(costs), { ...richRecipient, ...costs }]);
      expect(await use.read(({ recipients }) => recipients.ofCampaign(anId(2)))).toEqual([ofAnother]);
    },
  },
  {
    sentence: 'the recipient store saves the progress of the given recipients and nothing else',
    async check(use) {
      await withRecipients(use, aRecipient(), richRecipient);
      const { status, finalCost, billingState, errorMessage, sentAt, deliveredAt, readAt, failedAt } =
        richRecipient;
      const progress = {
        status,
        finalCost,
        billingState,
        errorMessage,
        sentAt,
        deliveredAt,
        readAt,
        failedAt,
      };
      await use.run((stores) => stores.recipients.saveProgress([{ id: aRecipient().id, progress }]));
      expect(await recipientsOf(use)).toEqual([aRecipient(progress), richRecipient]);
      const none = { ...aRecipient(), finalCost: ZERO };
      await use.run((stores) => stores.recipients.saveProgress([{ id: none.id, progress: none }]));
      expect(await recipientsOf(use)).toEqual([none, richRecipient]);
    },
  },
  {
    sentence: 'the recipient store removes the recipients of the given campaigns and no other',
    async check(use) {
      const of = (n: number) => aRecipient({ id: anId(100 + n), campaignId: anId(n) });
      await withRecipients(use, of(1), of(2), of(3));
      await use.run((stores) => stores.recipients.removeOfCampaigns([anId(1), anId(3)]));
      expect(await recipientsOf(use, anId(1))).toEqual([]);
      expect(await recipientsOf(use, anId(2))).toEqual([of(2)]);
      expect(await recipientsOf(use, anId(3))).toEqual([]);
    },
  },
  {
    sentence:
      'the recipient store lists recipients in pages by position, by status and by a part of either spelling',
    async check(use) {
      const of = (n: number, given: Partial<Recipient> = {}) =>
        aRecipient({
          id: anId(200 - n),
          position: n,
          phoneNumber: aPhoneNumber(`964770000000${n}`),
          ...given,
        });
      const local = of(4, { phoneNumberAsSent: '07700000004', status: 'failed' });
      await withRecipients(
        use,
        of(0),
        of(1, { status: 'failed' }),
        of(2, { status: 'sent' }),
        of(3, { status: 'failed' }),
        local,
        aRecipient({ id: anId(300), campaignId: anId(2) }),
      );
      const list = async (
        status: 'failed' | 'sent' | 'read' | null,
        search: string | null,
        page = PAGE,
      ): Promise<unknown> => {
        const { total, recipients } = await use.read((stores) =>
          stores.recipients.list(anId(), { status, search }, page),
        );
        return [total, recipients.map(({ position }) => position)];
      };
      expect(await list(null, null)).toEqual([5, [0, 1, 2, 3, 4]]);
      expect(await list(null, null, { page: 2, limit: 2 })).toEqual([5, [2, 3]]);
      expect(await list(null, null, { page: 4, limit: 2 })).toEqual([5, []]);
      expect(await list('failed', null)).toEqual([3, [1, 3, 4]]);
      expect(await list('failed', null, { page: 2, limit: 1 })).toEqual([3, [3]]);
      expect(await list('read', null)).toEqual([0, []]);
      expect(await list(null, '0000002')).toEqual([1, [2]]);
      expect(await list(null, '077')).toEqual([1, [4]]);
      expect(await list(null, '9647700000004')).toEqual([1, [4]]);
      expect(await list('sent', '96477')).toEqual([1, [2]]);
      expect(await list('sent', '077')).toEqual([0, []]);
      const { recipients } = await use.read((stores) =>
        stores.recipients.list(anId(), { status: null, search: '077' }, PAGE),
      );
      expect(recipients).toEqual([local]);
    },
  },
  {
    sentence: 'the recipient store finds by a search no recipient whose number was erased',
    async check(use) {
      const kept = aRecipient({ id: anId(201), position: 1, phoneNumber: aPhoneNumber('9647700000001') });
      await withRecipients(use, anonymisedRecipient(aRecipient({ id: anId(200), position: 0 })), kept);
      const list = (search: string | null) =>
        use.read((stores) => stores.recipients.list(anId(), { status: null, search }, PAGE));
      expect(await list(null)).toMatchObject({ total: 2 });
      expect(await list('00000')).toEqual({ total: 1, recipients: [kept] });
      expect(await list('0000000000')).toEqual({ total: 0, recipients: [] });
    },
  },
];

const SLOTS: readonly StorePromise[] = [
  {
    sentence: 'the slot store has 0 for a new number and then what was saved, for each number by itself',
    async check(use) {
      const lock = (id: string) => use.run((stores) => stores.sendingSlots.lock(id));
      const taken = (freeAt: number) => ({ freeAt, savedAt: freeAt - 1 });
      const none = { freeAt: 0, savedAt: 0 };
      const save = (id: string, at: number) => use.run((stores) => stores.sendingSlots.save(id, taken(at)));
      expect(await lock(anId(1))).toEqual(none);
      await save(anId(1), NOW);
      await save(anId(2), NOW + 1);
      expect([await lock(anId(1)), await lock(anId(2)), await lock(anId(3))]).toEqual([
        taken(NOW),
        taken(NOW + 1),
        none,
      ]);
      await save(anId(1), NOW + 2);
      expect([await lock(anId(1)), await lock(anId(2))]).toEqual([taken(NOW + 2), taken(NOW + 1)]);
      const find = (id: string) => use.read((stores) => stores.sendingSlots.find(id));
      expect([await find(anId(1)), await find(anId(2)), await find(anId(9))]).toEqual([
        taken(NOW + 2),
        taken(NOW + 1),
        none,
      ]);
    },
  },
  {
    sentence: 'the slot store locks a number until the transaction ends, also one that is new',
    async check(use) {
      const addOne = () =>
        use.run(async ({ sendingSlots }) => {
          const { freeAt, savedAt } = await sendingSlots.lock(anId());
          await sendingSlots.save(anId(), { freeAt: freeAt + 1, savedAt });
        });
      await Promise.all(Array.from({ length: UNITS }, addOne));
      expect(await use.run((stores) => stores.sendingSlots.lock(anId()))).toMatchObject({ freeAt: UNITS });
    },
  },
];

const [FIRST, SECOND, THIRD] = ['9647701234561', '9647701234562', '9647701234563'].map((digits) =>
  aPhoneNumber(digits),
) as [PhoneNumber, PhoneNumber, PhoneNumber];
const ALL = [FIRST, SECOND, THIRD];
const PORTFOLIO = '102000000000001';
const OTHER_PORTFOLIO = '102000000000002';

const CONVERSATIONS: readonly StorePromise[] = [
  {
    sentence: 'the conversation store opens conversations of a portfolio, counts them, and ends the old ones',
    async check({ run, read }) {
      await run(async ({ conversations }) => {
        await conversations.open(PORTFOLIO, [THIRD], NOW + 2);
        await conversations.open(PORTFOLIO, [FIRST, SECOND], NOW + 1);
        await conversations.open(OTHER_PORTFOLIO, [FIRST], NOW);
        await conversations.open(PORTFOLIO, [], NOW);
      });
      const state = (portfolio: string) =>
        read(async ({ conversations }) => [
          await conversations.count(portfolio, 0),
          [...(await conversations.openAmong(portfolio, ALL, 0))].sort(),
          await conversations.oldest(portfolio, 2),
        ]);
      expect(await state(PORTFOLIO)).toEqual([3, ALL, [NOW + 1, NOW + 1]]);
      expect(await state(OTHER_PORTFOLIO)).toEqual([1, [FIRST], [NOW]]);
      expect(await read((stores) => stores.conversations.openAmong(PORTFOLIO, [SECOND], 0))).toEqual([
        SECOND,
      ]);
      expect(await read((stores) => stores.conversations.openAmong(PORTFOLIO, ALL, NOW + 1))).toEqual([
        THIRD,
      ]);
      expect(await read((stores) => stores.conversations.count(PORTFOLIO, NOW + 1))).toBe(1);
      await run(({ conversations }) => conversations.sweep(PORTFOLIO, NOW, NOW + 2));
      expect((await state(PORTFOLIO))[0]).toBe(3);
      await run(({ conversations }) => conversations.sweep(PORTFOLIO, NOW + 1, NOW + 2));
      expect(await state(PORTFOLIO)).toEqual([1, [THIRD], [NOW + 2]]);
      // A clock that ran ahead has opened it.
      await run(({ conversations }) => conversations.sweep(PORTFOLIO, NOW, NOW + 1));
      expect((await state(PORTFOLIO))[0]).toBe(0);
      expect((await state(OTHER_PORTFOLIO))[0]).toBe(1);
    },
  },
  {
    sentence:
      'the conversation store counts a conversation once, however often it is opened, swept and undone',
    async check({ run, read }) {
      const count = () => read(({ conversations }) => conversations.count(PORTFOLIO, NOW));
      await run(({ conversations }) => conversations.open(PORTFOLIO, [FIRST], NOW));
      await run(({ conversations }) => conversations.open(PORTFOLIO, [SECOND], NOW + 1));
      expect(await count()).toBe(1);
      await run(({ conversations }) => conversations.sweep(PORTFOLIO, NOW, NOW + 1));
      await run(({ conversations }) => conversations.sweep(PORTFOLIO, NOW, NOW + 1));
      expect(await count()).toBe(1);
      await run(async ({ conversations }) => {
        await conversations.open(PORTFOLIO, [FIRST], NOW + 2);
        throw new Error('undone');
      }).catch(() => undefined);
      expect(await count()).toBe(1);
      await run(({ conversations }) => conversations.open(PORTFOLIO, [FIRST, THIRD], NOW + 2));
      expect(await count()).toBe(3);
    },
  },
  {
    sentence: 'the conversation store rejects a number that has a conversation with the portfolio',
    async check({ run, read }) {
      await run(({ conversations }) => conversations.open(PORTFOLIO, [FIRST], NOW));
      await expect(
        run(({ conversations }) => conversations.open(PORTFOLIO, [SECOND, FIRST], NOW)),
      ).rejects.toThrow(EXISTS);
      expect(await read(({ conversations }) => conversations.count(PORTFOLIO, 0))).toBe(1);
    },
  },
  {
    sentence: 'the conversation store locks a portfolio until the transaction ends, also one that is new',
    async check({ run }) {
      let inside = 0;
      const most = await Promise.all(
        Array.from({ length: UNITS }, () =>
          run(async ({ conversations }) => {
            await conversations.lock(PORTFOLIO);
            inside += 1;
            await conversations.count(PORTFOLIO, 0);
            const met = inside;
            inside -= 1;
            return met;
          }),
        ),
      );
      expect(Math.max(...most)).toBe(1);
    },
  },
  {
    sentence: 'the conversation store keeps the latest instant at which a customer wrote to a number',
    async check({ run, read }) {
      const wrote = (phoneNumber: PhoneNumber, at: number, whatsappPhoneId = anId(1)) => ({
        whatsappPhoneId,
        phoneNumber,
        at,
      });
      await run(async ({ conversations }) => {
        await conversations.noteWritten([wrote(FIRST, NOW + 5), wrote(SECOND, NOW + 1)]);
        await conversations.noteWritten([wrote(FIRST, NOW), wrote(SECOND, NOW + 3)]);
        await conversations.noteWritten([wrote(THIRD, NOW + 9, anId(2))]);
      });
      const after = async (since: number, id = anId(1)) =>
        [...(await read(({ conversations }) => conversations.writtenAmong(id, ALL, since)))].sort();
      expect([await after(NOW + 2), await after(NOW + 3), await after(NOW + 5)]).toEqual([
        [FIRST, SECOND],
        [FIRST],
        [],
      ]);
      expect(await after(NOW, anId(2))).toEqual([THIRD]);
      expect(await read((s) => s.conversations.writtenAmong(anId(1), [SECOND], NOW))).toEqual([SECOND]);
      await run(({ conversations }) => conversations.sweepWritten(NOW + 5, 1));
      expect(await after(NOW)).toEqual([FIRST]);
      await run(({ conversations }) => conversations.sweepWritten(NOW + 5, 9));
      expect([await after(NOW), await after(NOW, anId(2))]).toEqual([[], [THIRD]]);
    },
  },
];

/** Every promise of the stores of campaigns, recipients, sending slots and conversations. */
export const CAMPAIGN_STORE_PROMISES: readonly StorePromise[] = [
  ...CAMPAIGNS,
  ...RECIPIENTS,
  ...SLOTS,
  ...CONVERSATIONS,
];

/** What the stores of campaigns, recipients, sending slots and conversations promise. */
export function campaignStoresContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);
  for (const { sentence, check } of CAMPAIGN_STORE_PROMISES) it(sentence, () => check(storage));

  it('the campaign store locks nothing for a project that names the campaign of another', async () => {
    await withCampaigns(storage, rich);
    const bothHaveAsked = new MeetingPoint(Math.min(storage.concurrency, 2));
    const lock = (projectId: string) =>
      storage.run(async ({ campaigns }) => {
        const campaign = await campaigns.lockOf(projectId, anId(2));
        await bothHaveAsked.meet();
        return campaign;
      });
    expect(await Promise.all([OTHER_PROJECT_ID, PROJECT_ID].map(lock))).toEqual([null, rich]);
  });

  it('the conversation store forgets what customers wrote in transactions that do not wait for each other', async () => {
    const numbers = [FIRST, SECOND];
    await storage.run(({ conversations }) =>
      conversations.noteWritten(
        numbers.map((phoneNumber) => ({ whatsappPhoneId: anId(1), phoneNumber, at: NOW })),
      ),
    );
    const sweepers = Math.min(numbers.length, storage.concurrency);
    const allSwept = new MeetingPoint(sweepers);
    await Promise.all(
      numbers.slice(0, sweepers).map(() =>
        storage.run(async ({ conversations }) => {
          await conversations.sweepWritten(NOW, 1);
          await allSwept.meet();
        }),
      ),
    );
    const left = await storage.read((s) => s.conversations.writtenAmong(anId(1), numbers, 0));
    expect(left).toHaveLength(numbers.length - sweepers);
  });
}
