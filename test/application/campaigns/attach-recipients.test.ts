import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AttachRecipients } from '../../../src/application/campaigns/attach-recipients.ts';
import type { KeyedCampaignCommand } from '../../../src/application/campaigns/campaign-command.ts';
import { ManageCampaigns } from '../../../src/application/campaigns/manage-campaigns.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { anId, aTestNumber, NOW, SECOND_MS } from '../../support/builders.ts';
import {
  type CampaignWorld,
  given,
  keyed,
  OTHER_PROJECT,
  openCampaigns,
  rejectionOf,
  testNumbers,
} from '../../support/campaign-world.ts';

describe('attaching recipients', () => {
  let world: CampaignWorld;
  let command: KeyedCampaignCommand;
  const attach = (numbers: readonly ReturnType<typeof aTestNumber>[], changed = {}) =>
    world.container.get(AttachRecipients).execute(
      { ...command, ...changed },
      numbers.map((number) => given(number)),
    );

  beforeEach(async () => {
    world = await openCampaigns();
    command = await world.created();
  });

  afterEach(() => world.close());

  it('recipients join the campaign in the order of the requests, each at the price of the category', async () => {
    const [a, b, c] = testNumbers(3) as [never, never, never];
    world.clock.at = NOW + SECOND_MS;
    expect(await attach([a, a])).toMatchObject({ addedCount: 1, skippedCount: 0, duplicateCount: 1 });
    const result = await attach([a, c, b]);
    expect(result).toMatchObject({ addedCount: 2, skippedCount: 1, duplicateCount: 0, replayed: false });
    const changed = { totalRecipients: 3, estimatedCost: iqd(180), updatedAt: NOW + SECOND_MS };
    expect(result.campaign).toMatchObject(changed);
    expect(await world.campaign()).toMatchObject({ status: 'draft', name: 'Spring', ...changed });
    const cost = { estimatedCost: iqd(60), status: 'queued', campaignId: anId() };
    expect(await world.recipients()).toMatchObject([
      { phoneNumber: a, position: 0, ...cost },
      { phoneNumber: c, position: 1, ...cost },
      { phoneNumber: b, position: 2, ...cost },
    ]);
  });

  it('an attach with the same key and content is replayed, and with another content rejected', async () => {
    const [a, b] = testNumbers(2) as [never, never];
    const first = await attach([a], { idempotency: keyed() });
    const again = await attach([a], { idempotency: keyed() });
    expect(again).toEqual({ ...first, replayed: true });
    expect(await rejectionOf(attach([b], { idempotency: keyed('k-1', 'h-2') }))).toEqual({
      kind: 'idempotency-conflict',
    });
    expect(await attach([b], { idempotency: keyed('k-2') })).toMatchObject({ addedCount: 1 });
    expect(await world.recipients()).toHaveLength(2);
  });

  it('an attach is replayed after its campaign was deleted', async () => {
    const [a] = testNumbers(1) as [never];
    const first = await attach([a], { idempotency: keyed() });
    await world.container.get(ManageCampaigns).delete(command);
    expect(await attach([a], { idempotency: keyed() })).toEqual({ ...first, replayed: true });
    expect(await rejectionOf(attach([a], { idempotency: keyed('k-1', 'h-2') }))).toEqual({
      kind: 'idempotency-conflict',
    });
    const unknown = { kind: 'campaign-not-found' };
    expect(await rejectionOf(attach([a], { idempotency: keyed('k-2') }))).toEqual(unknown);
    const ofOther = { idempotency: keyed(), project: OTHER_PROJECT };
    expect(await rejectionOf(attach([a], ofOther))).toEqual(unknown);
    expect(await world.recipients()).toEqual([]);
  });

  it('one recipient that is not acceptable rejects them all', async () => {
    const [a] = testNumbers(1) as [never];
    expect(await rejectionOf(attach([a, aTestNumber('0201')]))).toMatchObject({
      kind: 'unsupported-numbers',
    });
    expect(await world.recipients()).toEqual([]);
    expect(await world.campaign()).toMatchObject({ totalRecipients: 0 });
  });

  it('nobody attaches to a campaign of another project, or to one that does not exist', async () => {
    const [a] = testNumbers(1) as [never];
    const unknown = { kind: 'campaign-not-found' };
    expect(await rejectionOf(attach([a], { project: OTHER_PROJECT }))).toEqual(unknown);
    expect(await rejectionOf(attach([a], { campaignId: anId(9) }))).toEqual(unknown);
  });

  it('nobody attaches to a campaign whose template is gone', async () => {
    const gone = await world.created([], { id: anId(2), templateId: anId(77) });
    expect(await rejectionOf(attach(testNumbers(1), gone))).toEqual({ kind: 'campaign-template-not-found' });
  });
});
