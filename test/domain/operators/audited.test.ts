import { describe, expect, it } from 'vitest';
import { changedFields } from '../../../src/domain/operators/audit-record.ts';
import {
  auditedAccount,
  auditedInboundWebhook,
  auditedKey,
  auditedProject,
} from '../../../src/domain/operators/audited.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { anAccount, aPhoneNumber, aProject, NOW, PROJECT_ID } from '../../support/builders.ts';

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
        webhookSecret: 'sealed',
      },
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
    });
    const open = anAccount({ spendingThreshold: null, trialPhoneNumber: null });
    expect(auditedProject(project, open)).toMatchObject({
      spendingThreshold: 'off',
      isTrial: false,
      retention: 'off',
      lowCredit: 'off',
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

  it('a change has the fields that differ, on both sides', () => {
    expect(changedFields({ a: 1, b: [1], c: 'x' }, { a: 1, b: [2], c: 'y', d: null })).toEqual({
      before: { b: [1], c: 'x', d: undefined },
      after: { b: [2], c: 'y', d: null },
    });
  });
});
