import { afterEach, describe, expect, it } from 'vitest';
import { CampaignLimits, type StartingMessage } from '../../../src/application/attempts/campaign-limits.ts';
import type { Stores } from '../../../src/application/ports/stores.ts';
import type { Environment } from '../../../src/domain/access/project.ts';
import type { Message } from '../../../src/domain/messages/message.ts';
import type { PhoneNumber } from '../../../src/domain/shared/phone-number.ts';
import {
  aMessage,
  anAttempt,
  anId,
  anSmsId,
  aProject,
  aWhatsappBusiness,
  HOUR_MS,
  NOW,
  SECOND_MS,
} from '../../support/builders.ts';
import {
  aCampaignBusiness,
  type CampaignWorld,
  NUMBER,
  OTHER_PROJECT,
  openCampaigns,
  PORTFOLIO_ID,
  PORTFOLIO_KEY,
  PROJECT,
  SECOND_NUMBER,
  testNumbers,
} from '../../support/campaign-world.ts';

const DAY_MS = 24 * HOUR_MS;
/** A new portfolio may open 250 conversations a day. */
const LIMIT = 250;

const messageTo = (phoneNumber: PhoneNumber, n: number, from = NUMBER.id): Message =>
  aMessage({
    smsId: anSmsId(n),
    projectId: PROJECT.id,
    campaignId: anId(),
    phoneNumber,
    attempts: [],
    whatsappSender: { accountId: null, phoneId: from, templateName: null },
  });
/** Messages 1, 2 and so on to numbers of their own. */
const messages = (count: number, from = NUMBER.id, first = 0): readonly Message[] =>
  testNumbers(count, '0001', first).map((number, n) => messageTo(number, first + n + 1, from));
/** A message of the other project to a number of its own. */
const ofOther = (n: number): Message => ({
  ...messageTo(testNumbers(1, '0001', 500 + n)[0] as PhoneNumber, n),
  projectId: OTHER_PROJECT.id,
});
/** The messages with their projects, which are live unless a test says otherwise: the platform's limits are theirs. */
const starting = (given: readonly Message[], environment: Environment = 'live'): readonly StartingMessage[] =>
  given.map((message) => ({ message, project: { id: message.projectId, environment } }));

describe('the limits of campaigns', () => {
  let world: CampaignWorld;
  let limits: CampaignLimits;

  afterEach(() => world.close());

  async function open(messagingLimit = 'TIER_250', keepsPlatformLimits = true): Promise<void> {
    world = await openCampaigns({ businesses: [aCampaignBusiness({ messagingLimit })], keepsPlatformLimits });
    limits = world.container.get(CampaignLimits);
  }

  /** The same, and the other project has the same resources. */
  async function openWithOther(messagingLimit = 'TIER_250'): Promise<void> {
    await open(messagingLimit);
    const business = aCampaignBusiness({ messagingLimit });
    await world.unitOfWork.run(({ whatsapp }) => whatsapp.replace(OTHER_PROJECT.id, [business]));
  }

  const retryAtsOf = async (given: readonly StartingMessage[], now = NOW) =>
    Object.fromEntries(await world.unitOfWork.run((stores) => limits.admit(stores, given, now)));
  const retryAts = (given: readonly Message[], now = NOW) => retryAtsOf(starting(given), now);

  /** Opens conversations with so many numbers that no message is for. */
  const opened = (count: number, at: number, first = 0, portfolioKey = PORTFOLIO_ID) =>
    world.unitOfWork.run(({ conversations }) =>
      conversations.open(portfolioKey, testNumbers(count, '0004', first), at),
    );
  const conversations = () => world.database.knex('conversations').orderBy('phone_number');

  it('limits that are switched off ask nothing of the database', async () => {
    await open('TIER_250', false);
    expect(await limits.admit({} as Stores, starting(messages(300)), NOW)).toEqual(new Map());
  });

  it('messages that belong to no campaign are not limited, and nothing is read for them', async () => {
    await open();
    const single = { ...aMessage(), campaignId: null };
    expect(await limits.admit({} as Stores, starting([single]), NOW)).toEqual(new Map());
  });

  it('a single message among those of a campaign opens no conversation', async () => {
    await open();
    const [first] = messages(1) as [Message];
    await retryAts([first, { ...messageTo(testNumbers(1, '0004')[0] as PhoneNumber, 9), campaignId: null }]);
    expect(await conversations()).toMatchObject([{ phone_number: first.phoneNumber }]);
  });

  it('a message that is tried again counts for the rate, and opens a conversation when its own has ended', async () => {
    await open();
    await opened(LIMIT - 24, NOW);
    const busy = [anAttempt({ channel: 'whatsapp', state: 'busy', startedAt: NOW })];
    const again = (count: number) => messages(count).map((each) => ({ ...each, attempts: busy }));
    expect(await retryAts(messages(24))).toEqual({});
    expect(await retryAts(again(24), NOW + HOUR_MS)).toEqual({});
    expect(Object.keys(await retryAts(again(2), NOW + HOUR_MS))).toEqual([anSmsId(1), anSmsId(2)]);
    expect(await conversations()).toHaveLength(LIMIT);
    expect(await retryAts(again(24), NOW + DAY_MS)).toEqual({});
    expect(await conversations()).toHaveLength(24);
    await opened(LIMIT - 24, NOW + DAY_MS);
    expect(Object.keys(await retryAts(messages(1, NUMBER.id, 24), NOW + DAY_MS + HOUR_MS))).toEqual([
      anSmsId(25),
    ]);
  });

  it('a number that is gone from the resources is not limited', async () => {
    await open();
    expect(await retryAts(messages(300, anId(77)))).toEqual({});
    expect(await retryAts(messages(300).map((each) => ({ ...each, projectId: anId(66) })))).toEqual({});
    const without = { accountId: null, phoneId: null, templateName: null };
    expect(await retryAts(messages(300).map((each) => ({ ...each, whatsappSender: without })))).toEqual({});
    expect(await conversations()).toEqual([]);
  });

  it('a number that is gone does not free the others from their limits', async () => {
    await open();
    await opened(LIMIT, NOW);
    expect(await retryAts([...messages(1, anId(77)), ...messages(1, NUMBER.id, 1)])).toEqual({
      [anSmsId(2)]: NOW + DAY_MS,
    });
  });

  it('messages that start open a conversation each, of the portfolio', async () => {
    await open();
    expect(await retryAts(messages(2))).toEqual({});
    const [a, b] = testNumbers(2);
    expect(await conversations()).toEqual([
      { portfolio_id: PORTFOLIO_ID, phone_number: a, opened_at: NOW },
      { portfolio_id: PORTFOLIO_ID, phone_number: b, opened_at: NOW },
    ]);
  });

  it('messages beyond the daily limit wait until the oldest conversations end', async () => {
    await open();
    await opened(1, NOW - 2 * HOUR_MS);
    await opened(1, NOW - HOUR_MS, 1);
    await opened(LIMIT - 3, NOW, 2);
    expect(await retryAts(messages(3), NOW + 1)).toEqual({
      [anSmsId(2)]: NOW - 2 * HOUR_MS + DAY_MS,
      [anSmsId(3)]: NOW - HOUR_MS + DAY_MS,
    });
    expect(await conversations()).toHaveLength(LIMIT);
  });

  it('both numbers of a portfolio share its limit', async () => {
    await open();
    await opened(LIMIT - 1, NOW);
    const fromBoth = [...messages(1), ...messages(1, SECOND_NUMBER.id, 1)];
    expect(Object.values(await retryAts(fromBoth))).toEqual([NOW + DAY_MS]);
  });

  it('a dev project takes nothing of the daily limit of a live one that has the same portfolio', async () => {
    await openWithOther();
    await opened(LIMIT, NOW, 0, PORTFOLIO_KEY);
    expect(await retryAtsOf(starting(messages(1), 'dev'))).toEqual({ [anSmsId(1)]: NOW + DAY_MS });
    expect(await retryAts([ofOther(2)])).toEqual({});
    await opened(LIMIT - 1, NOW);
    expect(await retryAts([ofOther(3)])).toEqual({ [anSmsId(3)]: NOW + DAY_MS });
  });

  it('a dev project and a live one with the same number have a rate each, also in one batch', async () => {
    await openWithOther('TIER_1K');
    const ofDev = starting(messages(24), 'dev');
    const ofLive = starting(Array.from({ length: 24 }, (_, n) => ofOther(n + 25)));
    expect(await retryAtsOf([...ofDev, ...ofLive])).toEqual({});
    const more = [...starting(messages(1, NUMBER.id, 48), 'dev'), ...starting([ofOther(50)])];
    expect(await retryAtsOf(more)).toEqual({ [anSmsId(49)]: NOW + 300, [anSmsId(50)]: NOW + 300 });
    const counts = await world.database.knex('portfolios').select('id', 'conversations').orderBy('id');
    expect(counts).toEqual([
      { id: PORTFOLIO_ID, conversations: 24 },
      { id: PORTFOLIO_KEY, conversations: 24 },
    ]);
  });

  it('live projects that have the same number share its rate and its daily limit', async () => {
    await openWithOther();
    await opened(LIMIT - 24, NOW);
    expect(await retryAts(messages(24))).toEqual({});
    expect(await retryAts([ofOther(25)])).toEqual({ [anSmsId(25)]: NOW + 300 });
    expect(await retryAts([ofOther(26)], NOW + SECOND_MS)).toEqual({ [anSmsId(26)]: NOW + DAY_MS });
  });

  it('a conversation ends after a day and makes way for another', async () => {
    await open();
    await opened(LIMIT, NOW);
    expect(await retryAts(messages(1), NOW + DAY_MS - 1)).toEqual({ [anSmsId(1)]: NOW + DAY_MS + 999 });
    expect(await retryAts(messages(1), NOW + DAY_MS)).toEqual({});
    expect(await conversations()).toHaveLength(1);
  });

  it('people with an open conversation and people who wrote within a day do not count', async () => {
    await open();
    await opened(LIMIT - 1, NOW);
    const [a, b, c] = testNumbers(3) as [PhoneNumber, PhoneNumber, PhoneNumber];
    await world.unitOfWork.run(async ({ conversations: store }) => {
      await store.open(PORTFOLIO_ID, [a], NOW);
      await store.noteWritten([
        { whatsappPhoneId: NUMBER.id, phoneNumber: b, at: NOW + 1 - DAY_MS },
        { whatsappPhoneId: NUMBER.id, phoneNumber: c, at: NOW - DAY_MS },
      ]);
    });
    expect(await retryAts(messages(3))).toEqual({ [anSmsId(3)]: NOW + DAY_MS });
    // A customer who wrote to the one number did not write to the other.
    expect(await retryAts([messageTo(b, 5, SECOND_NUMBER.id)])).toEqual({ [anSmsId(5)]: NOW + DAY_MS });
  });

  it('a number starts 24 late messages at once and gives the others slots of its rate', async () => {
    await open('TIER_1K');
    const late = await retryAts(messages(40));
    expect(Object.keys(late)).toEqual(messages(16, NUMBER.id, 24).map(({ smsId }) => smsId));
    expect(Object.values(late).map((at) => at - NOW)).toEqual([
      ...Array.from({ length: 8 }, () => 300),
      ...Array.from({ length: 8 }, () => 400),
    ]);
    // What waits for the rate opens no conversation.
    expect(await conversations()).toHaveLength(24);
    const next = await retryAts(messages(1, NUMBER.id, 40));
    expect(next).toEqual({ [anSmsId(41)]: NOW + 500 });
    expect(await retryAts(messages(1, SECOND_NUMBER.id, 50))).toEqual({});
    expect(await retryAts(messages(1, NUMBER.id, 60), NOW + SECOND_MS)).toEqual({});
  });

  it('messages that all wait for the rate ask nothing of the portfolio', async () => {
    await open('TIER_1K');
    await retryAts(messages(24));
    const whatsapp = {
      byProjectIds: async () => new Map([[PROJECT.id, [aCampaignBusiness({ messagingLimit: 'TIER_1K' })]]]),
    };
    const stores = { whatsapp } as unknown as Stores;
    expect([...(await limits.admit(stores, starting(messages(1, NUMBER.id, 24)), NOW)).values()]).toEqual([
      NOW + 300,
    ]);
  });

  it('a number with an unlimited tier opens conversations without a limit, and notes none', async () => {
    await open('TIER_UNLIMITED');
    expect(await retryAts(messages(300))).toEqual({});
    expect(await conversations()).toEqual([]);
  });

  it('portfolios are locked in the order of their ids, and projects read once', async () => {
    await open();
    const locked: string[] = [];
    const read: (readonly string[])[] = [];
    const otherNumber = anId(55);
    const other = aWhatsappBusiness({
      businessId: '101',
      whatsappAccounts: aCampaignBusiness({ messagingLimit: 'TIER_250' }).whatsappAccounts.map((account) => ({
        ...account,
        phoneNumbers: [{ ...NUMBER, id: otherNumber }],
      })),
    });
    const third = { ...other, businessId: '999' };
    const stores = {
      whatsapp: {
        byProjectIds: async (ids: readonly string[]) => {
          read.push(ids);
          return new Map([
            [PROJECT.id, [aCampaignBusiness({ messagingLimit: 'TIER_250' }), other]],
            [
              aProject({ id: anId(5) }).id,
              [
                {
                  ...third,
                  whatsappAccounts: third.whatsappAccounts.map((account) => ({
                    ...account,
                    phoneNumbers: [{ ...NUMBER, id: anId(56), messagingLimit: 'TIER_250' }],
                  })),
                },
              ],
            ],
          ]);
        },
      },
      conversations: {
        lock: async (id: string) => void locked.push(id),
        sweep: async () => {},
        count: async () => 0,
        openAmong: async () => [],
        writtenAmong: async () => [],
        oldest: async () => {
          throw new Error('Nothing waits');
        },
        open: async () => {},
      },
    } as unknown as Stores;
    const foreign = { ...(messages(1, anId(56), 3)[0] as Message), projectId: anId(5) };
    const all = [foreign, ...messages(1), ...messages(1, otherNumber, 1), ...messages(1, NUMBER.id, 2)];
    await limits.admit(stores, starting(all), NOW);
    expect(locked).toEqual(['101', PORTFOLIO_ID, '999']);
    expect(read).toEqual([[anId(5), PROJECT.id]]);
  });
});
