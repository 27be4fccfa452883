import { describe, expect, it } from 'vitest';
import { changedFields } from '../../../src/domain/audit/audit-record.ts';
import {
  AUDITED_RESOURCES_MAX,
  auditedAccount,
  auditedCircuit,
  auditedInboundWebhook,
  auditedKey,
  auditedLowCredit,
  auditedPriceChanges,
  auditedProject,
  auditedRestore,
  auditedSenderId,
  auditedVersion,
  auditedWhatsapp,
} from '../../../src/domain/audit/audited.ts';
import { CLOSED_CIRCUIT } from '../../../src/domain/shared/circuit-breaker.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import {
  anAccount,
  anId,
  aPhoneNumber,
  aProject,
  aSealedSecret,
  aSenderId,
  aWhatsappBusiness,
  NOW,
  PROJECT_ID,
} from '../../support/builders.ts';

const NOW_TEXT = new Date(NOW).toISOString();

const KEY = {
  digest: 'ab'.repeat(32),
  projectId: PROJECT_ID,
  createdAt: NOW,
  lastFour: '4567',
  endsAt: null,
  revokedAt: null,
  lastUsedAt: null,
};

describe('what the audit log has', () => {
  it('the audit log has the name, the terms and the settings of a project, and nothing else', () => {
    const project = aProject();
    const settings = {
      ...project.settings,
      rateLimit: { maxRequests: 5, timeWindowMinutes: 10 },
      addressRateLimit: null,
      allowedIps: ['10.0.0.1'],
      attemptTimeoutMs: { verification: 30_000, other: 300_000 },
      retention: { days: 90, action: 'remove' as const },
      lowCredit: {
        amount: iqd(5_000.5),
        webhookUrl: 'https://shop.example:8443/credit?token=abc',
        webhookSecret: aSealedSecret(),
      },
      weight: 3,
    };
    const account = anAccount({
      paymentType: 'prepaid',
      spendingThreshold: iqd(5_000),
      trialPhoneNumber: aPhoneNumber(),
    });
    expect(auditedProject({ ...project, settings }, account)).toEqual({
      name: project.name,
      slug: project.slug,
      environment: project.environment,
      paymentType: 'prepaid',
      spendingThreshold: 5_000,
      isTrial: true,
      rateLimit: { maxRequests: 5, timeWindowMinutes: 10 },
      addressRateLimit: 'off',
      allowedIps: ['10.0.0.1'],
      ipRuleScope: settings.ipRuleScope,
      settlement: settings.settlement,
      billingUnits: settings.billingUnits,
      language: settings.language,
      attemptTimeoutMs: { verification: 30_000, other: 300_000 },
      retention: { days: 90, action: 'remove' },
      lowCredit: { amount: 5_000.5, endpoint: 'shop.example:8443/credit', isSigned: true },
      weight: 3,
    });
    const open = anAccount({ spendingThreshold: null, trialPhoneNumber: null });
    expect(auditedProject(project, open)).toMatchObject({
      spendingThreshold: 'off',
      isTrial: false,
      retention: 'off',
      lowCredit: 'off',
      weight: 1,
    });
  });

  it('the audit log has the public id of a key and its ends', () => {
    expect(auditedKey(KEY)).toEqual({ keyId: 'ab'.repeat(12), endsAt: null, revokedAt: null });
    expect(auditedKey({ ...KEY, endsAt: NOW, revokedAt: NOW })).toEqual({
      keyId: 'ab'.repeat(12),
      endsAt: NOW_TEXT,
      revokedAt: NOW_TEXT,
    });
  });

  it('the audit log has host and path of an inbound webhook, and neither its query nor a secret', () => {
    const webhook = {
      whatsappPhoneId: '664def456abc789012345678',
      projectId: 'p',
      url: 'https://shop.example:8443/in?token=abc',
      secret: 'sealed',
      nextSecret: 'sealed too',
      nextSecretFrom: Date.parse('2030-01-02T00:00:00.000Z'),
    };
    expect(auditedInboundWebhook(webhook)).toEqual({
      whatsappPhoneId: '664def456abc789012345678',
      endpoint: 'shop.example:8443/in',
      overlapEndsAt: '2030-01-02T00:00:00.000Z',
    });
  });

  it('the audit log has the amounts of an account in IQD', () => {
    const amounts = { balance: iqd(100), held: iqd(20), spent: iqd(3) };
    expect(auditedAccount(anAccount({ ...amounts, trialPhoneNumber: null }))).toEqual({
      balance: 100,
      held: 20,
      spent: 3,
      isTrial: false,
    });
    expect(auditedAccount(anAccount({ ...amounts, trialPhoneNumber: aPhoneNumber() })).isTrial).toBe(true);
  });

  it('the audit log has that a notice of low credit is signed or not', () => {
    const notice = { amount: iqd(1_000), webhookUrl: 'https://shop.example/credit', webhookSecret: null };
    const audited = { amount: 1_000, endpoint: 'shop.example/credit' };
    expect(auditedLowCredit(notice)).toEqual({ ...audited, isSigned: false });
    expect(auditedLowCredit({ ...notice, webhookSecret: aSealedSecret() })).toEqual({
      ...audited,
      isSigned: true,
    });
    expect(auditedLowCredit(null)).toBe('off');
  });

  it('the audit log has a sender ID with its prices in IQD, and not its project', () => {
    const pricePerSms = { korekTelecom: iqd(70), asiaCell: iqd(71), zainIraq: iqd(72.5), others: iqd(90) };
    const senderId = aSenderId({ id: anId(3), senderId: 'Shop', status: 'rejected', pricePerSms });
    expect(auditedSenderId({ ...senderId, reason: 'A name of another' })).toEqual({
      id: anId(3),
      senderId: 'Shop',
      status: 'rejected',
      reason: 'A name of another',
      pricePerSms: { korekTelecom: 70, asiaCell: 71, zainIraq: 72.5, others: 90 },
    });
  });

  it('the audit log counts whatsapp resources on both sides, and has at most 500 ids of a kind of change', () => {
    const none = { businessCount: 0, accountCount: 0, phoneNumberCount: 0, templateCount: 0 };
    const one = { businessCount: 1, accountCount: 1, phoneNumberCount: 1, templateCount: 1 };
    const ids = (kind: number, count: number) => Array.from({ length: count }, (_, n) => anId(kind + n));
    const few = { added: ids(1, 2), removed: ids(10, 1), changed: ids(20, 3) };
    expect(auditedWhatsapp([], [aWhatsappBusiness()], few)).toEqual({
      before: { ...none, removed: ids(10, 1) },
      after: { ...one, added: ids(1, 2), changed: ids(20, 3) },
    });
    const many = { added: ids(1, 501), removed: ids(1_000, 501), changed: ids(2_000, 501) };
    expect(auditedWhatsapp([aWhatsappBusiness()], [], many)).toEqual({
      before: { ...one, removed: ids(1_000, 500) },
      after: { ...none, added: ids(1, 500), changed: ids(2_000, 500) },
    });
  });

  it('the audit log has the restore point of a database, and at most 500 campaigns that lost their time', () => {
    const campaigns = Array.from({ length: 501 }, (_, n) => anId(n));
    expect(
      auditedRestore({ restorePoint: NOW, messagesDatedLater: 3, unscheduledCampaigns: campaigns }),
    ).toEqual({
      restorePoint: NOW_TEXT,
      messagesDatedLater: 3,
      unscheduledCampaigns: campaigns.slice(0, AUDITED_RESOURCES_MAX),
    });
    expect(
      auditedRestore({ restorePoint: null, messagesDatedLater: 0, unscheduledCampaigns: [anId(1)] }),
    ).toEqual({ restorePoint: null, messagesDatedLater: 0, unscheduledCampaigns: [anId(1)] });
  });

  it('the audit log has until when a circuit is open', () => {
    expect(auditedCircuit(CLOSED_CIRCUIT)).toEqual({ state: 'closed', until: null });
    expect(auditedCircuit({ ...CLOSED_CIRCUIT, openUntil: NOW })).toEqual({ state: 'open', until: NOW_TEXT });
  });

  const version = {
    id: anId(4),
    effectiveFrom: NOW,
    createdAt: NOW - 1,
    actor: 'operator',
    rowCount: 7,
    withdrawnAt: null,
  } as const;
  const auditedFields = { version: anId(4), effectiveFrom: NOW_TEXT, rows: 7, withdrawnAt: null };

  it('the audit log has a version of the price list without its prices', () => {
    expect(auditedVersion(version)).toEqual(auditedFields);
    expect(auditedVersion({ ...version, withdrawnAt: NOW })).toEqual({
      ...auditedFields,
      withdrawnAt: NOW_TEXT,
    });
  });

  it('the audit log has the system prices that an import changes, and how many rows', () => {
    const system = [
      { name: 'sms.others', before: iqd(100), after: iqd(99.5) },
      { name: 'telegram', before: null, after: iqd(40) },
    ];
    const counts = { system, added: 1, removed: 2, changed: 3 };
    expect(auditedPriceChanges(counts, anId(5), version)).toEqual({
      before: { version: anId(5), system: { 'sms.others': 100, telegram: null } },
      after: {
        ...auditedFields,
        system: { 'sms.others': 99.5, telegram: 40 },
        added: 1,
        removed: 2,
        changed: 3,
      },
    });
    expect(auditedPriceChanges({ ...counts, system: [] }, null, version).before).toEqual({
      version: null,
      system: {},
    });
  });

  it('a change has the fields that differ, on both sides', () => {
    expect(changedFields({ a: 1, b: [1], c: 'x' }, { a: 1, b: [2], c: 'y', d: null })).toEqual({
      before: { b: [1], c: 'x', d: undefined },
      after: { b: [2], c: 'y', d: null },
    });
  });
});
