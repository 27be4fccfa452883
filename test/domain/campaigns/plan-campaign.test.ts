import { describe, expect, it } from 'vitest';
import { type PlanRequest, planCampaign } from '../../../src/domain/campaigns/plan-campaign.ts';
import {
  aCampaign,
  anId,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  aWhatsappTemplate,
  NOW,
} from '../../support/builders.ts';

const NOTHING: PlanRequest = {
  name: null,
  templateId: null,
  whatsappPhoneId: null,
  scheduleType: null,
  scheduledFor: null,
};
const offer = aWhatsappTemplate({ id: anId(5), name: 'offer', category: 'MARKETING' });
const second = aWhatsappPhoneNumber({ id: anId(6) });
const BUSINESSES = [
  aWhatsappBusiness({
    whatsappAccounts: [
      aWhatsappAccount({
        phoneNumbers: [aWhatsappPhoneNumber(), second],
        templates: [aWhatsappTemplate(), offer],
      }),
    ],
  }),
];
const IDS = { templateId: aWhatsappTemplate().id, whatsappPhoneId: aWhatsappPhoneNumber().id };
const NEW: PlanRequest = { ...NOTHING, ...IDS, name: 'Autumn' };

const created = (given: Partial<PlanRequest> = {}) =>
  planCampaign(null, { ...NEW, ...given }, BUSINESSES, NOW);
const draft = aCampaign();
const scheduled = aCampaign({ status: 'scheduled', scheduledFor: NOW + 50 });
const updated = (current: typeof draft, given: Partial<PlanRequest>) =>
  planCampaign(current, { ...NOTHING, ...given }, BUSINESSES, NOW);
const planOf = (current: typeof draft) => ({
  name: current.name,
  ...IDS,
  category: 'UTILITY',
  scheduledFor: current.scheduledFor,
});

describe('the plan of a new campaign', () => {
  it('a new plan is what the request says, with the category of the template', () => {
    const plan = { name: 'Autumn', ...IDS, category: 'UTILITY', scheduledFor: null };
    expect(created()).toEqual({ kind: 'planned', plan });
    expect(created({ scheduleType: 'now' })).toEqual({ kind: 'planned', plan });
    expect(created({ templateId: offer.id, scheduleType: 'schedule', scheduledFor: NOW + 1 })).toEqual({
      kind: 'planned',
      plan: { ...plan, templateId: offer.id, category: 'MARKETING', scheduledFor: NOW + 1 },
    });
  });

  it.each<[Partial<PlanRequest>, string]>([
    [{ scheduleType: 'schedule' }, 'scheduled-for-missing'],
    [{ scheduledFor: NOW + 1 }, 'scheduled-for-unexpected'],
    [{ scheduleType: 'now', scheduledFor: NOW + 1 }, 'scheduled-for-unexpected'],
    [{ scheduleType: 'schedule', scheduledFor: NOW }, 'scheduled-for-past'],
    [{ templateId: null }, 'campaign-template-not-found'],
    [{ templateId: anId(99) }, 'campaign-template-not-found'],
    [{ whatsappPhoneId: null }, 'campaign-phone-not-found'],
    [{ whatsappPhoneId: anId(99) }, 'campaign-phone-not-found'],
    [{ scheduleType: 'schedule', templateId: anId(99) }, 'scheduled-for-missing'],
  ])('a new plan with %j is rejected: %s', (given, kind) => {
    expect(created(given)).toEqual({ kind });
  });

  it('a plan without a name has an empty one', () => {
    expect(created({ name: null })).toMatchObject({ plan: { name: '' } });
  });
});

describe('an update of a plan', () => {
  it('an update of nothing leaves the plan as it was, of a draft and of a scheduled campaign', () => {
    for (const current of [draft, scheduled]) {
      expect(updated(current, {})).toEqual({ kind: 'planned', plan: planOf(current) });
    }
  });

  it('an update replaces what it names', () => {
    expect(updated(draft, { name: 'Autumn' })).toMatchObject({ plan: { ...planOf(draft), name: 'Autumn' } });
    expect(updated(draft, { templateId: offer.id })).toMatchObject({
      plan: { ...planOf(draft), templateId: offer.id, category: 'MARKETING' },
    });
    expect(updated(draft, { whatsappPhoneId: second.id })).toMatchObject({
      plan: { ...planOf(draft), whatsappPhoneId: second.id },
    });
  });

  it.each<[string, typeof draft, Partial<PlanRequest>, number | null]>([
    ['schedules a draft', draft, { scheduleType: 'schedule', scheduledFor: NOW + 1 }, NOW + 1],
    ['makes a scheduled campaign a draft', scheduled, { scheduleType: 'now' }, null],
    ['keeps the time when it says schedule again', scheduled, { scheduleType: 'schedule' }, NOW + 50],
    ['moves the time', scheduled, { scheduledFor: NOW + 7 }, NOW + 7],
    [
      'moves the time under its type',
      scheduled,
      { scheduleType: 'schedule', scheduledFor: NOW + 8 },
      NOW + 8,
    ],
    ['keeps a draft a draft', draft, { scheduleType: 'now' }, null],
  ])('an update %s', (_, current, given, scheduledFor) => {
    expect(updated(current, given)).toEqual({ kind: 'planned', plan: { ...planOf(current), scheduledFor } });
  });

  it.each<[typeof draft, Partial<PlanRequest>, string]>([
    [draft, { scheduleType: 'schedule' }, 'scheduled-for-missing'],
    [draft, { scheduledFor: NOW + 1 }, 'scheduled-for-unexpected'],
    [scheduled, { scheduleType: 'now', scheduledFor: NOW + 1 }, 'scheduled-for-unexpected'],
    [scheduled, { scheduledFor: NOW }, 'scheduled-for-past'],
    [draft, { templateId: anId(99) }, 'campaign-template-not-found'],
  ])('an update of %j with %j is rejected', (current, given, kind) => {
    expect(updated(current, given)).toEqual({ kind });
  });

  it.each(['running', 'completed', 'failed'] as const)(
    'an update of a %s campaign is rejected first',
    (status) => {
      expect(updated(aCampaign({ status }), { scheduledFor: NOW })).toEqual({
        kind: 'campaign-not-editable',
      });
    },
  );
});
