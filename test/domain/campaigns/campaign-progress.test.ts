import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Campaign } from '../../../src/domain/campaigns/campaign.ts';
import { advanceCampaign, type RecipientChange } from '../../../src/domain/campaigns/campaign-progress.ts';
import { RECIPIENT_STATUSES, type RecipientStatus } from '../../../src/domain/campaigns/recipient.ts';
import { add, iqd, type Money, subtract, ZERO } from '../../../src/domain/shared/money.ts';
import { aCampaign, NOW } from '../../support/builders.ts';

const COST = iqd(60);
const LATER = NOW + 1;

const change = (
  from: RecipientStatus,
  to: RecipientStatus,
  finalCost: Money | null = null,
  earlier: Money | null = null,
): RecipientChange => ({
  before: { status: from, finalCost: earlier },
  after: { status: to, finalCost },
  cost: COST,
});
const advance = (
  campaign: Campaign,
  recipients: readonly RecipientChange[],
  stopReason: string | null = null,
  now = LATER,
) => advanceCampaign(campaign, { recipients, stopReason }, now);

const running = aCampaign({
  status: 'running',
  startedAt: NOW,
  totalRecipients: 3,
  estimatedCost: iqd(180),
  reserved: iqd(180),
});

describe('the counts of a campaign', () => {
  it.each<[RecipientStatus, RecipientStatus, Partial<Campaign>]>([
    ['queued', 'sent', { sentCount: 1 }],
    ['queued', 'delivered', { sentCount: 1, deliveredCount: 1 }],
    ['queued', 'read', { sentCount: 1, deliveredCount: 1 }],
    ['queued', 'failed', { failedCount: 1 }],
    ['queued', 'queued', {}],
  ])('a recipient that goes from %s to %s is counted', (from, to, counts) => {
    expect(advance(running, [change(from, to)])).toEqual({ ...running, ...counts, updatedAt: LATER });
  });

  it('a recipient that goes on from sent is counted once', () => {
    const sent = { ...running, sentCount: 1 };
    expect(advance(sent, [change('sent', 'delivered')])).toMatchObject({ sentCount: 1, deliveredCount: 1 });
    expect(advance(sent, [change('sent', 'failed')])).toMatchObject({ sentCount: 0, failedCount: 1 });
    const delivered = { ...sent, deliveredCount: 1 };
    expect(advance(delivered, [change('delivered', 'read')])).toMatchObject({
      sentCount: 1,
      deliveredCount: 1,
    });
  });
});

describe('the money of a campaign', () => {
  it('the final cost of a recipient is captured and the rest of its hold released', () => {
    const changes = [
      change('sent', 'delivered', COST),
      change('sent', 'read', iqd(50)),
      change('queued', 'failed', ZERO),
      change('queued', 'sent'),
    ];
    expect(advance({ ...running, captured: iqd(1), released: iqd(2) }, changes)).toMatchObject({
      captured: iqd(111),
      released: iqd(72),
      reserved: iqd(180),
    });
  });

  it('a recipient that was settled before is not settled again', () => {
    const settled = { ...running, captured: COST };
    expect(advance(settled, [change('delivered', 'read', COST, COST)])).toMatchObject({
      captured: COST,
      released: ZERO,
    });
    expect(advance(settled, [change('sent', 'sent', ZERO, ZERO)])).toMatchObject({
      captured: COST,
      released: ZERO,
    });
  });
});

describe('the end of a campaign', () => {
  it('a campaign runs while one of its recipients is queued', () => {
    const two = [change('queued', 'sent'), change('queued', 'failed')];
    expect(advance(running, two)).toMatchObject({ status: 'running', completedAt: null });
  });

  it('a campaign without a queued recipient is completed, when at least one did not fail', () => {
    const changes = [change('queued', 'failed'), change('queued', 'failed'), change('queued', 'sent')];
    expect(advance(running, changes)).toMatchObject({
      status: 'completed',
      completedAt: LATER,
      failureReason: null,
    });
  });

  it('a campaign whose every recipient failed is failed', () => {
    const changes = Array.from({ length: 3 }, () => change('queued', 'failed'));
    expect(advance(running, changes)).toMatchObject({
      status: 'failed',
      completedAt: LATER,
      failureReason: 'Every recipient failed',
    });
    const sent = { ...running, sentCount: 1, failedCount: 1 };
    const last = [change('sent', 'failed'), change('queued', 'failed')];
    expect(advance(sent, last)).toMatchObject({ status: 'failed', failedCount: 3 });
  });

  it('nothing leaves an end, and counts go on', () => {
    const completed = { ...running, status: 'completed', completedAt: NOW, sentCount: 3 } as const;
    const failing = Array.from({ length: 3 }, () => change('sent', 'failed', ZERO));
    expect(advance(completed, failing)).toEqual({
      ...completed,
      sentCount: 0,
      failedCount: 3,
      released: iqd(180),
      updatedAt: LATER,
    });
    const failed = { ...completed, status: 'failed', failureReason: 'Stopped' } as const;
    expect(advance(failed, [change('sent', 'read', COST)], 'Stopped again')).toEqual({
      ...failed,
      deliveredCount: 1,
      captured: COST,
      updatedAt: LATER,
    });
  });

  it('a running campaign that cannot go on fails at once, with the reason', () => {
    expect(advance(running, [change('queued', 'failed', ZERO)], 'The template is paused')).toEqual({
      ...running,
      status: 'failed',
      failureReason: 'The template is paused',
      completedAt: LATER,
      failedCount: 1,
      released: COST,
      updatedAt: LATER,
    });
  });
});

interface Row {
  status: RecipientStatus;
  finalCost: Money | null;
}

/** A campaign as its rows alone say it is. */
function foldOf(rows: readonly Row[]) {
  const count = (...of: RecipientStatus[]) => rows.filter(({ status }) => of.includes(status)).length;
  const settled = rows.flatMap(({ finalCost }) => (finalCost === null ? [] : [finalCost]));
  return {
    sentCount: count('sent', 'delivered', 'read'),
    deliveredCount: count('delivered', 'read'),
    failedCount: count('failed'),
    captured: settled.reduce(add, ZERO),
    released: settled.reduce((sum, cost) => add(sum, subtract(COST, cost)), ZERO),
  };
}

describe('any sequence of changes', () => {
  it('counts and money equal a fold over the rows, and the first end stays', () => {
    const moves = fc.array(
      fc.array(
        fc.record({
          which: fc.nat({ max: 5 }),
          status: fc.constantFrom(...RECIPIENT_STATUSES),
          final: fc.constantFrom(null, ZERO, iqd(20), COST),
        }),
        { maxLength: 4 },
      ),
    );
    fc.assert(
      fc.property(moves, fc.integer({ min: 1, max: 6 }), (batches, total) => {
        const rows = Array.from({ length: total }, (): Row => ({ status: 'queued', finalCost: null }));
        let campaign: Campaign = { ...running, totalRecipients: total };
        let end: Pick<Campaign, 'status' | 'completedAt'> | null = null;
        for (const [index, batch] of batches.entries()) {
          const changes = batch.flatMap(({ which, status, final }) => {
            const row = rows[which];
            if (row === undefined) return [];
            const before = { ...row };
            row.status = status;
            row.finalCost ??= final;
            return [{ before, after: { ...row }, cost: COST }];
          });
          const now = NOW + index;
          campaign = advance(campaign, changes, null, now);
          expect(campaign).toMatchObject(foldOf(rows));
          const isOver = rows.every(({ status }) => status !== 'queued');
          const hasFailed = rows.every(({ status }) => status === 'failed');
          if (isOver) end ??= { status: hasFailed ? 'failed' : 'completed', completedAt: now };
          expect(campaign).toMatchObject(end ?? { status: 'running', completedAt: null });
        }
      }),
    );
  });
});
