import { expect, it } from 'vitest';
import { iqd } from '../../../src/domain/shared/money.ts';
import { lowCreditEvent } from '../../../src/domain/webhooks/credit-event.ts';
import { aSealedSecret } from '../../support/builders.ts';

it('the event of low credit has slug, credit, amount and time in its body, and the secret beside it', () => {
  const event = lowCreditEvent('01b8dac5b400fd9b941b425b', {
    projectId: '664abc000000000000000001',
    slug: 'souq',
    credit: iqd(920.5),
    lowCredit: {
      amount: iqd(1_000),
      webhookUrl: 'https://shop.example/credit?token=abc',
      webhookSecret: aSealedSecret(),
    },
    at: Date.parse('2030-01-01T00:00:00.000Z'),
  });
  expect(event).toEqual({
    id: '01b8dac5b400fd9b941b425b',
    kind: 'credit',
    projectId: '664abc000000000000000001',
    orderingKey: 'credit.low/664abc000000000000000001',
    whatsappPhoneId: null,
    url: 'https://shop.example/credit?token=abc',
    endpoint: 'shop.example/credit',
    secret: 'sealed',
    body: '{"event":"credit.low","project":"souq","credit":920.5,"amount":1000,"at":"2030-01-01T00:00:00.000Z"}',
    state: 'pending',
    attempts: 0,
    firstAttemptAt: null,
    nextAttemptAt: null,
    lastError: null,
    createdAt: Date.parse('2030-01-01T00:00:00.000Z'),
    version: 0,
  });
});
