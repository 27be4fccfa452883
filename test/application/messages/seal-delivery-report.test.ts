import { describe, expect, it } from 'vitest';
import { Rejected } from '../../../src/application/errors/rejected.ts';
import { SealDeliveryReport } from '../../../src/application/messages/seal-delivery-report.ts';
import { aDeliveryReport } from '../../support/builders.ts';

/** Accepts https only and parses to lower case; seals a text as `sealed TEXT`. */
const sealReport = new SealDeliveryReport({
  webhookTransport: {
    acceptUrl: (url: string) => (url.toLowerCase().startsWith('https://') ? url.toLowerCase() : null),
  } as never,
  secretBox: { seal: (text) => `sealed ${text}`, open: () => '' },
});

describe('SealDeliveryReport', () => {
  it('SealDeliveryReport stores the parsed url and the sealed secret of a subscription', () => {
    const report = aDeliveryReport({ webhookUrl: 'HTTPS://Customer.example/', webhookSecret: 's3cret' });
    expect(sealReport.execute(report)).toEqual({
      ...report,
      webhookUrl: 'https://customer.example/',
      webhookSecret: 'sealed s3cret',
    });
  });

  it('SealDeliveryReport leaves a subscription without a secret without one, and a request without a subscription', () => {
    expect(sealReport.execute(aDeliveryReport())).toMatchObject({ webhookSecret: null });
    expect(sealReport.execute(null)).toBeNull();
  });

  it('SealDeliveryReport rejects a url that webhooks are never sent to', () => {
    const report = aDeliveryReport({ webhookUrl: 'http://customer.example/' });
    expect(() => sealReport.execute(report)).toThrow(new Rejected({ kind: 'webhook-url-refused' }));
  });
});
