import { describe, expect, expectTypeOf, it } from 'vitest';
import { Rejected } from '../../../src/application/errors/rejected.ts';
import { SealWebhook } from '../../../src/application/webhooks/seal-webhook.ts';
import type { PlainSecret, SealedSecret } from '../../../src/domain/shared/sealed-secret.ts';
import { aDeliveryReport, aSealedSecret } from '../../support/builders.ts';

/** Accepts https only and parses to lower case; seals a text as `sealed TEXT`. */
const sealWebhook = new SealWebhook({
  webhookTransport: {
    acceptUrl: (url) => (url.toLowerCase().startsWith('https://') ? url.toLowerCase() : null),
  },
  secretBox: { seal: (text) => aSealedSecret(`sealed ${text}`) },
});

describe('SealWebhook', () => {
  it('SealWebhook stores the parsed url and the sealed secret of a subscription', () => {
    const report = aDeliveryReport({ webhookUrl: 'HTTPS://Customer.example/', webhookSecret: 's3cret' });
    expect(sealWebhook.execute(report)).toEqual({
      ...report,
      webhookUrl: 'https://customer.example/',
      webhookSecret: 'sealed s3cret',
    });
  });

  it('SealWebhook leaves a subscription without a secret without one', () => {
    expect(sealWebhook.execute(aDeliveryReport())).toMatchObject({ webhookSecret: null });
  });

  it('the compiler lets no plain secret be stored, and none that is sealed be sealed again', () => {
    expectTypeOf<PlainSecret>().not.toExtend<SealedSecret>();
    expectTypeOf<SealedSecret>().not.toExtend<PlainSecret>();
    expectTypeOf<string>().toExtend<PlainSecret>();
  });

  it('SealWebhook rejects a url that webhooks are never sent to, and names the field that has it', () => {
    const report = aDeliveryReport({ webhookUrl: 'http://customer.example/' });
    expect(sealWebhook.tried(report)).toBeNull();
    expect(rejectionOf(() => sealWebhook.execute(report))).toEqual({ kind: 'webhook-url-refused' });
    expect(rejectionOf(() => sealWebhook.execute(report, 'url'))).toEqual({
      kind: 'webhook-url-refused',
      field: 'url',
    });
  });
});

function rejectionOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error instanceof Rejected ? error.rejection : error;
  }
}
