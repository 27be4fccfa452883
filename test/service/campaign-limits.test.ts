import { expect, it } from 'vitest';
import type { SeedFile } from '../../src/bootstrap/config/seed-file.ts';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import type { Environment } from '../../src/domain/access/project.ts';
import type { PhoneNumber } from '../../src/domain/shared/phone-number.ts';
import {
  ask,
  BODY,
  campaignSeed,
  dataOf,
  NUMBER_ID,
  numbersFrom,
  OTHER_KEY,
  read,
  recipient,
  started,
  startWithCampaigns,
} from '../support/campaigns.ts';
import { startService } from '../support/running-service.ts';
import { LIVE_KEY, seedWith } from '../support/seeds.ts';

const OTHER_LIVE_KEY = 'sk_live_1123456789abcdef0123456789abcdef01234567';
const SECOND_NUMBER_ID = '664def456abc789012345679';
/** In IQD. */
const MUCH_CREDIT = 1_000_000;
const HOUR_MS = 3_600_000;

/** The demo, whose two numbers share a limit of 250 conversations a day. */
function newPortfolio(): SeedFile {
  const seed = structuredClone(seedWith({ credit: MUCH_CREDIT }));
  const account = seed.projects[0]?.whatsapp?.businesses[0]?.whatsappAccounts?.[0];
  const [number] = account?.phoneNumbers ?? [];
  if (account === undefined || number === undefined) throw new Error('The demo has a whatsapp number');
  const limited = { ...number, messagingLimit: 'TIER_250' };
  account.phoneNumbers = [limited, { ...limited, id: SECOND_NUMBER_ID, phoneNumberId: '104512345678904' }];
  return seed;
}

it('what does not fit into the daily limit waits, and goes on by itself a day later', async () => {
  const harness = await startService({ seed: newPortfolio() });
  const id = await started(harness, numbersFrom(0, 260));
  await harness.advance(HOUR_MS);
  expect(await read(harness, id)).toMatchObject({ status: 'running', sentCount: 250, deliveredCount: 250 });
  await harness.advance(23 * HOUR_MS - 1_000);
  expect(await read(harness, id)).toMatchObject({ status: 'running', sentCount: 250 });
  await harness.advance(10_000);
  expect(await read(harness, id)).toMatchObject({
    status: 'completed',
    sentCount: 260,
    deliveredCount: 260,
    reconciledAmount: 15_600,
  });
  await harness.assertQuiet();
});

it('the numbers of a portfolio share its daily limit, and a person counts once a day', async () => {
  const harness = await startService({ seed: newPortfolio() });
  await started(harness, numbersFrom(0, 240));
  await harness.advance(HOUR_MS);
  const known = await started(harness, numbersFrom(0, 240), { phoneNumberId: SECOND_NUMBER_ID });
  await harness.advance(HOUR_MS);
  expect(await read(harness, known)).toMatchObject({ status: 'completed', sentCount: 240 });
  const others = await started(harness, numbersFrom(300, 20), { phoneNumberId: SECOND_NUMBER_ID });
  await harness.advance(HOUR_MS);
  expect(await read(harness, others)).toMatchObject({ status: 'running', sentCount: 10 });
});

it('people who wrote within a day do not count for the daily limit', async () => {
  const harness = await startService({ seed: newPortfolio() });
  await started(harness, numbersFrom(0, 250));
  await harness.advance(HOUR_MS);
  await harness.writeTo(NUMBER_ID, '9647700000300', { type: 'text', content: { text: 'Hello' } });
  const id = await started(harness, ['9647700000300', '9647700000301']);
  await harness.advance(HOUR_MS);
  const waiting = await read(harness, id);
  expect(waiting).toMatchObject({ status: 'running', sentCount: 1 });
  expect(waiting.recipients).toMatchObject([
    { phoneNumber: '9647700000300', status: 'delivered' },
    { phoneNumber: '9647700000301', status: 'queued' },
  ]);
});

it('the messages of a number start at 80 a second, those of several campaigns one after the other', async () => {
  const harness = await startWithCampaigns(MUCH_CREDIT);
  const first = await started(harness, numbersFrom(0, 100));
  const second = await started(harness, numbersFrom(200, 20));
  await harness.settle();
  expect(harness.inbox.all()).toHaveLength(8);
  await harness.advance(999);
  expect(harness.inbox.all()).toHaveLength(80);
  expect(await read(harness, second)).toMatchObject({ sentCount: 0 });
  await harness.advance(300);
  expect([await read(harness, first), await read(harness, second)]).toMatchObject([
    { sentCount: 100 },
    { sentCount: 0 },
  ]);
  await harness.advance(300);
  expect(await read(harness, second)).toMatchObject({ status: 'completed', sentCount: 20 });
});

it('messages that are tried again count for the rate of their number, beside those of another campaign', async () => {
  const harness = await startWithCampaigns(MUCH_CREDIT);
  let isBusy = true;
  harness.script(() => (isBusy ? { result: 'rejected', reason: 'Slow down', cause: 'busy' } : null));
  const tried = await started(harness, numbersFrom(0, 100));
  await harness.advance(29_900);
  expect(await read(harness, tried)).toMatchObject({ status: 'running', sentCount: 0 });
  isBusy = false;
  const other = await started(harness, numbersFrom(200, 100));
  await harness.advance(1_000);
  // Those of a second, and the burst of 300 ms that a late number may send.
  expect(harness.inbox.all().length).toBeLessThanOrEqual(80 + 24);
  await harness.advance(60_000);
  expect([await read(harness, tried), await read(harness, other)]).toMatchObject([
    { status: 'completed', sentCount: 100 },
    { status: 'completed', sentCount: 100 },
  ]);
  await harness.assertQuiet();
});

/** A live project, and another one with the same resources and this key. */
function twoProjects(otherKey: string): Promise<Harness> {
  const [demo] = newPortfolio().projects;
  const seed = campaignSeed(MUCH_CREDIT, { ...demo, environment: 'live', apiKeys: [LIVE_KEY] });
  const [live, other] = seed.projects;
  if (live === undefined || other === undefined) throw new Error('The seed has two projects');
  const environment: Environment = otherKey === OTHER_KEY ? 'dev' : 'live';
  const projects = [live, { ...other, environment, apiKeys: [otherKey] }];
  return startService({ seed: { ...seed, projects }, providers: { whatsapp: 'simulator' } });
}

/** As `started`, with the key of another project. */
async function startedBy(harness: Harness, apiKey: string, numbers: readonly string[]): Promise<void> {
  const request = { method: 'POST', apiKey };
  const { _id } = dataOf(await ask(harness, '', { ...request, body: BODY }));
  const recipients = numbers.map((number) => recipient(number));
  await ask(harness, `/${_id}/recipients`, { ...request, body: { recipients } });
  dataOf(await ask(harness, `/${_id}/start`, request));
}

it('a campaign of a dev project takes neither slots nor daily limit of a live one with the same number', async () => {
  const harness = await twoProjects(OTHER_KEY);
  await startedBy(harness, OTHER_KEY, numbersFrom(0, 250));
  const first = await started(harness, numbersFrom(300, 8));
  await harness.settle();
  expect(await read(harness, first)).toMatchObject({ sentCount: 8 });
  await harness.advance(HOUR_MS);
  expect(harness.inbox.all()).toHaveLength(258);
  const second = await started(harness, numbersFrom(400, 1));
  await harness.advance(HOUR_MS);
  expect(await read(harness, second)).toMatchObject({ status: 'completed', sentCount: 1 });
});

it('live projects that have the same number share its slots', async () => {
  const harness = await twoProjects(OTHER_LIVE_KEY);
  await started(harness, numbersFrom(0, 80));
  await startedBy(harness, OTHER_LIVE_KEY, numbersFrom(200, 8));
  await harness.advance(999);
  expect(harness.inbox.all()).toHaveLength(80);
  await harness.advance(1);
  expect(harness.inbox.all()).toHaveLength(88);
});

it('messages whose slots are over after a downtime keep the rate: 24 start at once, the others later', async () => {
  const harness = await startWithCampaigns(MUCH_CREDIT);
  const id = await started(harness, numbersFrom(0, 400));
  // The clock passes all the slots before any work is done.
  const { jobs } = await harness.service.roots.unitOfWork.run(async (stores) => {
    const leased = await stores.jobs.lease({
      now: harness.now().getTime() + 60_000,
      until: harness.now().getTime() + 10_000,
      limit: 1_000,
      workerId: 'away',
    });
    return { jobs: leased.length };
  });
  expect(jobs).toBeGreaterThan(300);
  await harness.advance(10_000);
  const atOnce = (await read(harness, id)).sentCount;
  expect(atOnce).toBeLessThanOrEqual(8 + 24);
  await harness.advance(1_000);
  expect(await read(harness, id)).toMatchObject({ status: 'running' });
  // 376 messages at 80 a second, and up to 100 ms more for each batch that the late ones come in: its last group may be short.
  await harness.advance(4_700);
  expect(await read(harness, id)).toMatchObject({ status: 'completed', sentCount: 400 });
});

it('campaigns go on when the clock that started one before ran a year ahead', async () => {
  const ahead = await twoProjects(OTHER_KEY);
  await ahead.service.roots.unitOfWork.run(async ({ sendingSlots, conversations }) => {
    const later = ahead.now().getTime() + 365 * 24 * HOUR_MS;
    await sendingSlots.save(NUMBER_ID, { freeAt: later + 1_000, savedAt: later });
    await conversations.open(
      '104512345678901',
      Array.from({ length: 1_000 }, (_, n) => `96478${String(n).padStart(8, '0')}` as PhoneNumber),
      later,
    );
  });
  const id = await started(ahead, numbersFrom(0, 10));
  await ahead.advance(60_000);
  expect(await read(ahead, id)).toMatchObject({ status: 'completed', sentCount: 10 });
});
