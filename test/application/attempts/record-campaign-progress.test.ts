import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type MessageChange,
  recordCampaignProgress,
} from '../../../src/application/attempts/record-campaign-progress.ts';
import type { Stores } from '../../../src/application/ports/stores.ts';
import type { Message } from '../../../src/domain/messages/message.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { aMessage, anId, anSmsId, MINUTE_MS, NOW, SECOND_MS } from '../../support/builders.ts';
import { type CampaignWorld, openCampaigns, PROJECT, testNumbers } from '../../support/campaign-world.ts';

const LATER = NOW + SECOND_MS;
const NONE: ReadonlyMap<string, string> = new Map();

describe('the progress of campaigns', () => {
  let world: CampaignWorld;

  beforeEach(async () => {
    world = await openCampaigns();
  });

  afterEach(() => world.close());

  const record = (changes: readonly MessageChange[], stopReasons = NONE) =>
    world.unitOfWork.run((stores) => recordCampaignProgress(stores, { changes, stopReasons, now: LATER }));

  /** The message of the recipient at a position, and what it becomes. */
  async function change(position: number, after: Partial<Message>, id = anId()): Promise<MessageChange> {
    const recipient = (await world.recipients(id))[position];
    const before = await world.message(`sms-${recipient?.id}`);
    return { before, after: { ...before, ...after } };
  }

  const sent = { status: 'sent', sentAt: LATER } as const;
  const failed = { status: 'failed', isFinal: true, finalAt: LATER, errorReason: 'Absent' } as const;
  const delivered = {
    status: 'delivered',
    isFinal: true,
    sentAt: LATER,
    finalAt: LATER,
    settlement: 'quoted',
  } as const;

  it('recipients and counts follow the messages of a campaign', async () => {
    const id = await world.started(testNumbers(3));
    await record([await change(0, sent), await change(1, failed)]);
    expect(await world.recipients(id)).toMatchObject([
      { status: 'sent', sentAt: LATER, billingState: 'reserved', finalCost: null },
      { status: 'failed', failedAt: LATER, errorMessage: 'Absent', billingState: 'released' },
      { status: 'queued', billingState: 'reserved' },
    ]);
    expect(await world.campaign(id)).toMatchObject({
      status: 'running',
      sentCount: 1,
      failedCount: 1,
      released: iqd(60),
      updatedAt: LATER,
    });
  });

  it('messages of several campaigns move their own campaigns', async () => {
    await world.started(testNumbers(1));
    const second = await world.started(testNumbers(2), { id: anId(2) });
    await record([await change(0, delivered), await change(1, sent, second), await change(0, sent, second)]);
    expect(await world.campaign()).toMatchObject({ status: 'completed', sentCount: 1, deliveredCount: 1 });
    expect(await world.campaign(second)).toMatchObject({ status: 'completed', sentCount: 2 });
  });

  it('a message that is final without another status settles its recipient', async () => {
    const id = await world.started(testNumbers(1));
    await record([await change(0, sent)]);
    const { before } = await change(0, {});
    const message = { ...before, ...sent };
    await record([{ before: message, after: { ...message, isFinal: true, finalAt: LATER } }]);
    expect(await world.recipients(id)).toMatchObject([{ status: 'sent', billingState: 'released' }]);
  });

  it('a message that is as before writes nothing and asks nothing of the database', async () => {
    const before = aMessage({ campaignId: anId() });
    const changes = [{ before, after: { ...before, errorReason: 'Absent' } }];
    await recordCampaignProgress({} as Stores, { changes, stopReasons: NONE, now: LATER });
    const alone = aMessage({ smsId: anSmsId(2) });
    await recordCampaignProgress({} as Stores, {
      changes: [{ before: alone, after: { ...alone, ...failed } }],
      stopReasons: NONE,
      now: LATER,
    });
  });

  it('a campaign that cannot go on fails, and one job cancels its other recipients', async () => {
    const id = await world.started(testNumbers(3));
    const running = await world.started(testNumbers(2), { id: anId(2) });
    const stop = new Map([[id, 'The template is paused']]);
    await record([await change(0, failed), await change(0, sent, running)], stop);
    expect(await world.campaign(id)).toMatchObject({
      status: 'failed',
      failureReason: 'The template is paused',
      completedAt: LATER,
    });
    expect(await world.campaign(running)).toMatchObject({ status: 'running' });
    const stops = Object.entries(await world.jobs()).filter(([job]) => job.endsWith('/stop'));
    expect(stops).toEqual([[`campaigns/${id}/stop`, LATER]]);
    world.clock.at = LATER;
    const [first] = await world.lease(1);
    expect(first).toMatchObject({
      id: `campaigns/${id}/stop`,
      work: { kind: 'stop-campaign', projectId: PROJECT.id, campaignId: id },
    });
  });

  it('a campaign that has ended gets no job that cancels', async () => {
    const id = await world.started(testNumbers(2));
    const stop = new Map([[id, 'The template is paused']]);
    await record([await change(0, failed)], stop);
    await world.unitOfWork.run(({ jobs }) => jobs.remove([`campaigns/${id}/stop`]));
    await record([await change(1, failed)], stop);
    expect(Object.keys(await world.jobs())).not.toContain(`campaigns/${id}/stop`);
    const completed = await world.started(testNumbers(1), { id: anId(3) });
    await world.database.knex('campaigns').where({ id: completed }).update({ status: 'completed' });
    await record([await change(0, sent, completed)], new Map([[completed, 'The template is paused']]));
    expect(await world.campaign(completed)).toMatchObject({ status: 'completed' });
    expect(Object.keys(await world.jobs())).not.toContain(`campaigns/${completed}/stop`);
  });

  it('a campaign whose every recipient failed gets no job that cancels', async () => {
    const id = await world.started(testNumbers(1));
    await record([await change(0, failed)], new Map([[anId(9), 'Another one stops']]));
    expect(await world.campaign(id)).toMatchObject({ status: 'failed' });
    expect(Object.keys(await world.jobs())).not.toContain(`campaigns/${id}/stop`);
  });

  it('only the message of a campaign moves it, and a campaign that is gone moves nothing', async () => {
    const id = await world.started(testNumbers(1));
    const moved = await change(0, sent);
    await world.database.knex('campaigns').delete();
    world.clock.at = NOW + MINUTE_MS;
    await record([moved]);
    expect(await world.recipients(id)).toMatchObject([{ status: 'sent' }]);
  });
});
