import { describe, expect, it } from 'vitest';
import {
  type AttachedRecipients,
  attachRecipients,
  joinCampaign,
  parametersRejection,
  RECIPIENTS_PER_CAMPAIGN_MAX,
} from '../../../src/domain/campaigns/attach-recipients.ts';
import type { NewRecipient } from '../../../src/domain/campaigns/recipient.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import {
  aCampaign,
  anId,
  aPhoneNumber,
  aRecipient,
  aTestNumber,
  aWhatsappTemplate,
  NOW,
  somePrices,
} from '../../support/builders.ts';

const LAYLA = { body: { '1': 'Layla' } };
const given = (phoneNumber: string, more: Partial<NewRecipient> = {}): NewRecipient => ({
  phoneNumber: aPhoneNumber(phoneNumber),
  phoneNumberAsSent: phoneNumber,
  templateParameters: LAYLA,
  ...more,
});
const numbered = (n: number) => given(`96477${String(n).padStart(8, '0')}`);
const many = (count: number, from = 0) => Array.from({ length: count }, (_, n) => numbered(from + n));
const onCampaign = (recipients: readonly NewRecipient[], parameterBytes = 0): AttachedRecipients => ({
  numbers: new Set(recipients.map(({ phoneNumber }) => phoneNumber)),
  parameterBytes,
});

const STATE = {
  campaign: { status: 'draft' },
  attached: onCampaign([]),
  environment: 'dev',
  prices: somePrices(),
  template: aWhatsappTemplate(),
} as const;
const attach = (
  recipients: readonly NewRecipient[],
  state: Partial<Parameters<typeof attachRecipients>[0]> = {},
) => attachRecipients({ ...STATE, ...state }, recipients);

describe('attaching recipients', () => {
  it('a campaign takes recipients in their order', () => {
    const added = [numbered(3), numbered(1), numbered(2)];
    expect(attach(added)).toEqual({ kind: 'attached', added, skippedCount: 0, duplicateCount: 0 });
    expect(attach(added, { campaign: { status: 'scheduled' } })).toMatchObject({ kind: 'attached' });
  });

  it('a campaign keeps the first entry of a number that comes again, whatever its spelling', () => {
    const first = given('9647701234567', { phoneNumberAsSent: '07701234567' });
    const again = given('9647701234567', { templateParameters: { body: { '1': 'Omar' } } });
    expect(attach([first, numbered(1), again, again])).toEqual({
      kind: 'attached',
      added: [first, numbered(1)],
      skippedCount: 0,
      duplicateCount: 2,
    });
  });

  it('a campaign skips the numbers that it has, and counts a number that comes again once as skipped', () => {
    const attached = onCampaign([numbered(1), numbered(2)]);
    expect(attach([numbered(1), numbered(3), numbered(1), numbered(2)], { attached })).toEqual({
      kind: 'attached',
      added: [numbered(3)],
      skippedCount: 2,
      duplicateCount: 1,
    });
  });

  it('a campaign rejects a request whose every number it has, before parameters are read', () => {
    const attached = onCampaign([numbered(1)]);
    const unfit = { ...numbered(1), templateParameters: {} };
    expect(attach([unfit, unfit], { attached })).toEqual({ kind: 'recipients-already-attached' });
    expect(attach([])).toEqual({ kind: 'recipients-already-attached' });
  });

  it('the parameters of a number that is skipped are not read', () => {
    const unfit = { ...numbered(1), templateParameters: {} };
    expect(attach([unfit, numbered(2)], { attached: onCampaign([numbered(1)]) })).toMatchObject({
      kind: 'attached',
      added: [numbered(2)],
    });
  });

  it('a request fills the campaign up to 1,000 recipients', () => {
    expect(RECIPIENTS_PER_CAMPAIGN_MAX).toBe(1_000);
    expect(attach(many(1_000))).toMatchObject({ kind: 'attached' });
    expect(attach(many(1_001))).toEqual({ kind: 'too-many-recipients' });
    const attached = onCampaign(many(999));
    expect(attach(many(2, 998), { attached })).toMatchObject({ kind: 'attached', skippedCount: 1 });
    expect(attach(many(2, 999), { attached })).toEqual({ kind: 'too-many-recipients' });
  });

  it('a campaign takes parameters of 1 MB', () => {
    // {"body":{"1":"Layla"}} has 22 bytes, and the same of «ليلى» 25.
    const [layla, arabic] = [
      numbered(1),
      given('9647701234567', { templateParameters: { body: { '1': 'ليلى' } } }),
    ];
    const left = (bytes: number) => ({ attached: onCampaign([numbered(9)], 1_048_576 - bytes) });
    expect(attach([layla, arabic], left(47))).toMatchObject({ kind: 'attached' });
    expect(attach([layla, arabic], left(46))).toEqual({ kind: 'recipients-too-large' });
    expect(attach([numbered(9), layla], left(22))).toMatchObject({ kind: 'attached', skippedCount: 1 });
  });

  it.each(['running', 'completed', 'failed'] as const)('a %s campaign takes no recipients', (status) => {
    expect(attach([numbered(1)], { campaign: { status } })).toEqual({ kind: 'campaign-not-editable' });
  });

  it('a campaign rejects all recipients when some are of countries without a price, and names them as they were sent', () => {
    const recipients = [
      given('905321234567'),
      given('14155550123', { phoneNumberAsSent: '0014155550123' }),
      numbered(1),
      given('447700900123'),
    ];
    expect(attach(recipients)).toEqual({
      kind: 'unsupported-numbers',
      phoneNumbers: ['0014155550123', '447700900123'],
    });
    expect(attach(recipients.slice(0, 1))).toMatchObject({ kind: 'attached' });
  });

  it('a campaign takes test numbers of a dev project but those that stand for an unsupported one, and none of a live project', () => {
    const [fine, unsupported] = [given(aTestNumber('0001')), given(aTestNumber('0201'))];
    expect(attach([fine])).toMatchObject({ kind: 'attached', added: [fine] });
    expect(attach([fine, unsupported])).toEqual({
      kind: 'unsupported-numbers',
      phoneNumbers: [unsupported.phoneNumber],
    });
    expect(attach([fine, numbered(1)], { environment: 'live' })).toEqual({
      kind: 'unsupported-numbers',
      phoneNumbers: [fine.phoneNumber],
    });
    expect(attach([numbered(1)], { environment: 'live' })).toMatchObject({ kind: 'attached' });
  });

  it('a campaign rejects all recipients when the parameters of one do not fit the template', () => {
    const unfit = given('9647701234567', { phoneNumberAsSent: '07701234567', templateParameters: {} });
    expect(attach([numbered(1), unfit, numbered(2)])).toEqual({
      kind: 'recipient-parameters',
      phoneNumber: '07701234567',
      rejection: { kind: 'template-parameter-missing', path: 'templateParameters.body.1' },
    });
  });
});

describe('joining a campaign', () => {
  const campaign = aCampaign({ id: anId(7), totalRecipients: 3, estimatedCost: iqd(100) });
  const added = [numbered(1), numbered(2)];
  const join = (ids: readonly string[]) => joinCampaign(campaign, added, { ids, cost: iqd(60) }, NOW + 5);

  it('recipients that join a campaign stand behind those it has, and add their cost', () => {
    expect(join([anId(11), anId(12)])).toEqual({
      campaign: { ...campaign, totalRecipients: 5, estimatedCost: iqd(220), updatedAt: NOW + 5 },
      recipients: [
        aRecipient({ ...numbered(1), id: anId(11), campaignId: anId(7), position: 3 }),
        aRecipient({ ...numbered(2), id: anId(12), campaignId: anId(7), position: 4 }),
      ],
    });
  });

  it('recipients join a campaign with the first ids of those given, and not with too few', () => {
    expect(join([anId(11), anId(12), anId(13)]).recipients.map(({ id }) => id)).toEqual([anId(11), anId(12)]);
    expect(() => join([anId(11)])).toThrow('every recipient that joins has an id');
  });
});

describe('the parameters of recipients', () => {
  it('parameters name the first recipient that does not fit, and are fine when all do', () => {
    const template = aWhatsappTemplate();
    const unknown = { ...numbered(2), templateParameters: { ...LAYLA, header: { '1': 'x' } } };
    const missing = { ...numbered(3), templateParameters: {} };
    expect(parametersRejection([numbered(1), unknown, missing], template)).toEqual({
      kind: 'recipient-parameters',
      phoneNumber: numbered(2).phoneNumber,
      rejection: { kind: 'template-parameter-unknown', path: 'templateParameters.header.1' },
    });
    expect(parametersRejection([numbered(1), numbered(2)], template)).toBeNull();
    expect(parametersRejection([], template)).toBeNull();
  });

  it('a template is read once for all recipients', () => {
    let reads = 0;
    const template = Object.defineProperty({ ...aWhatsappTemplate() }, 'components', {
      get() {
        reads += 1;
        return [{ type: 'BODY', text: 'Hello {{1}}' }];
      },
    });
    parametersRejection(many(1), template);
    const once = reads;
    expect(once).toBeGreaterThan(0);
    expect(parametersRejection(many(1_000), template)).toBeNull();
    expect(reads).toBe(2 * once);
  });
});
