import { afterEach, describe, expect, it } from 'vitest';
import type { CampaignCommand } from '../../../src/application/campaigns/campaign-command.ts';
import { PreflightCampaigns } from '../../../src/application/campaigns/preflight-campaigns.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import type { PhoneNumber } from '../../../src/domain/shared/phone-number.ts';
import { anId, HOUR_MS, NOW, SECOND_MS } from '../../support/builders.ts';
import {
  aCampaignBusiness,
  type CampaignWorld,
  NUMBER,
  NUMBER_KEY,
  OTHER_PROJECT,
  openCampaigns,
  PENDING,
  PORTFOLIO_ID,
  PORTFOLIO_KEY,
  PROJECT,
  rejectionOf,
  SECOND_NUMBER,
  testNumbers,
} from '../../support/campaign-world.ts';

const DAY_MS = 24 * HOUR_MS;

describe('the preflight of a campaign', () => {
  let world: CampaignWorld;

  afterEach(() => world.close());

  async function open(options: Parameters<typeof openCampaigns>[0] = {}): Promise<void> {
    world = await openCampaigns({
      businesses: [aCampaignBusiness({ messagingLimit: 'TIER_250' })],
      ...options,
    });
  }

  const preflight = (command: CampaignCommand) => world.container.get(PreflightCampaigns).execute(command);

  /** Conversations of the portfolio with numbers that no recipient has, opened at `at`. */
  const opened = (count: number, at = NOW) =>
    world.unitOfWork.run(({ conversations }) =>
      conversations.open(PORTFOLIO_KEY, testNumbers(count, '0004'), at),
    );

  it('a preflight tells the cost, the credit and the limits, and changes nothing', async () => {
    await open();
    const command = await world.created(testNumbers(10));
    const before = await world.campaign();
    expect(await preflight(command)).toEqual({
      rejections: [],
      recipients: 10,
      cost: iqd(600),
      credit: iqd(1_000),
      creditLeft: iqd(400),
      messagesPerSecond: 80,
      dailyLimit: 250,
      durationMs: 100,
    });
    expect(await world.campaign()).toEqual(before);
    expect(await world.jobs()).toEqual({});
  });

  it('a preflight counts from when the number is free, by the clock', async () => {
    await open();
    const command = await world.created(testNumbers(1));
    await world.unitOfWork.run(({ sendingSlots }) =>
      sendingSlots.save(NUMBER_KEY, { freeAt: NOW + 5 * SECOND_MS, savedAt: NOW }),
    );
    expect(await preflight(command)).toMatchObject({ durationMs: 5 * SECOND_MS });
    world.clock.at = NOW + 3 * SECOND_MS;
    expect(await preflight(command)).toMatchObject({ durationMs: 2 * SECOND_MS });
    const other = await world.created(testNumbers(1), { id: anId(2), whatsappPhoneId: SECOND_NUMBER.id });
    expect(await preflight(other)).toMatchObject({ durationMs: 0 });
  });

  it('recipients beyond the daily limit of the portfolio wait a day', async () => {
    await open();
    const command = await world.created(testNumbers(1));
    await opened(249);
    expect(await preflight(command)).toMatchObject({ durationMs: 0 });
    const two = await world.created(testNumbers(2), { id: anId(2) });
    expect(await preflight(two)).toMatchObject({ durationMs: DAY_MS });
    world.clock.at = NOW + DAY_MS - 1;
    expect(await preflight(two)).toMatchObject({ durationMs: DAY_MS });
    world.clock.at = NOW + DAY_MS;
    expect(await preflight(two)).toMatchObject({ durationMs: 0 });
  });

  it('recipients with an open conversation and people who wrote within a day do not wait', async () => {
    await open();
    const [a, b] = testNumbers(2) as [PhoneNumber, PhoneNumber];
    const command = await world.created([a, b]);
    await opened(249);
    await world.unitOfWork.run(({ conversations }) => conversations.open(PORTFOLIO_KEY, [a], NOW));
    expect(await preflight(command)).toMatchObject({ durationMs: DAY_MS });
    await world.unitOfWork.run(({ conversations }) =>
      conversations.noteWritten([{ whatsappPhoneId: NUMBER.id, phoneNumber: b, at: NOW }]),
    );
    expect(await preflight(command)).toMatchObject({ durationMs: 0 });
  });

  it('a preflight of a dev project counts nothing that a live project with the same number has sent', async () => {
    await open();
    const command = await world.created(testNumbers(1));
    await world.unitOfWork.run(async ({ sendingSlots, conversations }) => {
      await sendingSlots.save(NUMBER.id, { freeAt: NOW + 5 * SECOND_MS, savedAt: NOW });
      await conversations.open(PORTFOLIO_ID, testNumbers(250, '0004'), NOW);
    });
    expect(await preflight(command)).toMatchObject({ durationMs: 0 });
  });

  it('a preflight without campaign limits knows neither rate nor daily limit', async () => {
    await open({ keepsPlatformLimits: false });
    const command = await world.created(testNumbers(10));
    const unlimited = { messagesPerSecond: null, dailyLimit: null, durationMs: 0 };
    expect(await preflight(command)).toMatchObject(unlimited);
  });

  it('a preflight names everything that is wrong', async () => {
    await open({ credit: 50, isWithoutChannels: true });
    const command = await world.created(testNumbers(1), { templateId: PENDING.id });
    const { rejections } = await preflight(command);
    expect(rejections.map(({ kind }) => kind)).toEqual([
      'template-not-approved',
      'channel-not-available',
      'insufficient-credit',
    ]);
  });

  it('a preflight of a number that is gone says so', async () => {
    await open();
    const command = await world.created(testNumbers(1), { whatsappPhoneId: anId(77) });
    expect(await preflight(command)).toMatchObject({
      rejections: [{ kind: 'campaign-phone-not-found' }],
      dailyLimit: null,
    });
  });

  it('nobody asks about a campaign of another project, or one that has started', async () => {
    await open();
    const command = await world.created([], { status: 'running' });
    expect(await rejectionOf(preflight(command))).toEqual({ kind: 'campaign-not-editable' });
    const ofOther = { ...command, project: OTHER_PROJECT };
    expect(await rejectionOf(preflight(ofOther))).toEqual({ kind: 'campaign-not-found' });
  });

  it('a project without an account is a fault', async () => {
    await open();
    const command = await world.created();
    await world.database.knex('ledger_entries').delete();
    await world.database.knex('accounts').delete();
    await expect(preflight(command)).rejects.toThrow(`Project ${PROJECT.id} has no account`);
  });
});
