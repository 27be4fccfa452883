import { describe, expect, it } from 'vitest';
import {
  billingStatusOf,
  type Campaign,
  type CampaignStatus,
  failedAtStart,
  isEditable,
  newCampaign,
  replanned,
  sampleNameOf,
  scheduleTypeOf,
  waitsForStartOf,
} from '../../../src/domain/campaigns/campaign.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { aCampaign, anId, NOW, PROJECT_ID } from '../../support/builders.ts';

const PLAN = {
  name: 'Autumn',
  templateId: anId(7),
  whatsappPhoneId: anId(8),
  category: 'MARKETING',
  scheduledFor: null,
} as const;

describe('a new campaign', () => {
  it('a new campaign has no recipients, no money and no parent, and is a draft without a time', () => {
    expect(newCampaign(anId(), PROJECT_ID, PLAN, NOW)).toEqual(aCampaign(PLAN));
  });

  it('a new campaign is scheduled when its plan has a time', () => {
    const plan = { ...PLAN, scheduledFor: NOW + 1 };
    expect(newCampaign(anId(), PROJECT_ID, plan, NOW)).toEqual(aCampaign({ ...plan, status: 'scheduled' }));
  });
});

describe('another plan', () => {
  it('another plan makes a draft scheduled and a scheduled campaign a draft, and keeps everything else', () => {
    const draft = aCampaign({ totalRecipients: 3, estimatedCost: iqd(180) });
    const plan = { ...PLAN, scheduledFor: NOW + 9 };
    const scheduled = replanned(draft, plan, NOW + 5);
    expect(scheduled).toEqual({ ...draft, ...plan, status: 'scheduled', updatedAt: NOW + 5 });
    expect(replanned(scheduled, PLAN, NOW + 6)).toEqual({
      ...draft,
      ...PLAN,
      status: 'draft',
      updatedAt: NOW + 6,
    });
  });
});

describe('the states of a campaign', () => {
  it.each<[CampaignStatus, boolean]>([
    ['draft', true],
    ['scheduled', true],
    ['running', false],
    ['completed', false],
    ['failed', false],
  ])('a %s campaign may be edited: %s', (status, expected) => {
    expect(isEditable({ status })).toBe(expected);
  });

  it('a campaign that fails at its start keeps the reason and never started', () => {
    const scheduled = aCampaign({ status: 'scheduled', scheduledFor: NOW });
    expect(failedAtStart(scheduled, 'No credit', NOW + 1)).toEqual({
      ...scheduled,
      status: 'failed',
      failureReason: 'No credit',
      completedAt: NOW + 1,
      updatedAt: NOW + 1,
    });
  });

  it('the schedule type tells whether the campaign has a time', () => {
    expect(scheduleTypeOf({ scheduledFor: null })).toBe('now');
    expect(scheduleTypeOf({ scheduledFor: 0 })).toBe('schedule');
  });
});

describe('the billing status', () => {
  const running = { status: 'running', startedAt: NOW, totalRecipients: 2, reserved: iqd(120) } as const;
  const ended = { ...running, status: 'completed' } as const;

  it.each<[string, Partial<Campaign>, string]>([
    ['a draft', {}, 'pending'],
    ['a scheduled campaign', { status: 'scheduled' }, 'pending'],
    ['one that failed at its start', { status: 'failed' }, 'released'],
    ['one that has just started', running, 'reserved'],
    ['one with a recipient that is queued', { ...running, sentCount: 1, captured: iqd(60) }, 'reserved'],
    ['one with money on hold', { ...ended, sentCount: 2, captured: iqd(60) }, 'reserved'],
    ['one with less than all resolved', { ...ended, sentCount: 2, released: iqd(119.999) }, 'reserved'],
    [
      'one with a part captured',
      { ...ended, sentCount: 1, failedCount: 1, captured: iqd(60), released: iqd(60) },
      'reconciled',
    ],
    ['one with everything captured', { ...ended, sentCount: 2, captured: iqd(120) }, 'reconciled'],
    ['one with nothing captured', { ...ended, failedCount: 2, released: iqd(120) }, 'released'],
    ['one that costs nothing, while it runs', { ...running, reserved: iqd(0), sentCount: 1 }, 'reserved'],
    ['one that costs nothing', { ...ended, reserved: iqd(0), sentCount: 1, failedCount: 1 }, 'released'],
  ])('the billing status of %s tells what became of the money', (_, given, expected) => {
    expect(billingStatusOf(aCampaign(given))).toBe(expected);
  });
});

describe('a start that was due', () => {
  it.each([
    ['a scheduled campaign waits for', { status: 'scheduled', scheduledFor: NOW }, true],
    [
      'a campaign that was planned anew does not wait for',
      { status: 'scheduled', scheduledFor: NOW + 1 },
      false,
    ],
    ['a draft does not wait for', { status: 'draft', scheduledFor: null }, false],
    ['a campaign that runs does not wait for', { status: 'running', scheduledFor: NOW }, false],
  ] as const)('%s a start that was due', (_, given, expected) => {
    expect(waitsForStartOf(aCampaign(given), NOW)).toBe(expected);
  });
});

describe('the name of a sample', () => {
  it.each([
    ['Spring', 'Spring (sample)'],
    ['x'.repeat(71), `${'x'.repeat(71)} (sample)`],
    ['x'.repeat(72), `${'x'.repeat(71)} (sample)`],
    ['x'.repeat(80), `${'x'.repeat(71)} (sample)`],
    [`${'x'.repeat(70)}😀😀`, `${'x'.repeat(70)} (sample)`],
    [`${'x'.repeat(69)}😀😀`, `${'x'.repeat(69)}😀 (sample)`],
    [`😀${'x'.repeat(78)}`, `😀${'x'.repeat(69)} (sample)`],
  ])('the sample of %s is called %s', (name, expected) => {
    expect(sampleNameOf({ name })).toBe(expected);
  });
});
