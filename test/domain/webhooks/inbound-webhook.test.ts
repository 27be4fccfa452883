import { describe, expect, it } from 'vitest';
import { onlySecret } from '../../../src/domain/webhooks/inbound-secrets.ts';
import { addressOf, type InboundWebhook, secretsFor } from '../../../src/domain/webhooks/inbound-webhook.ts';
import { anId, aSealedSecret, NOW, PROJECT_ID } from '../../support/builders.ts';

const URL = 'https://customer.example/in';
const EVENT = { projectId: PROJECT_ID, url: URL, secret: aSealedSecret('own') };
const WEBHOOK: InboundWebhook = {
  whatsappPhoneId: anId(7),
  projectId: PROJECT_ID,
  url: URL,
  secret: aSealedSecret('old'),
  nextSecret: aSealedSecret('new'),
  nextSecretFrom: NOW + 60,
};

describe('the secrets that sign an inbound event', () => {
  it('an event that goes to the address of its webhook is signed with all secrets of the webhook', () => {
    expect(secretsFor(EVENT, { ...WEBHOOK, ...onlySecret(aSealedSecret('one')) }, NOW)).toEqual(['one']);
    expect(secretsFor(EVENT, WEBHOOK, NOW + 59)).toEqual(['old', 'new']);
    expect(secretsFor(EVENT, WEBHOOK, NOW + 60)).toEqual(['new']);
  });

  it.each<[webhook: string, current: InboundWebhook | null]>([
    ['has no webhook any more', null],
    ['has a webhook at another address', { ...WEBHOOK, url: `${URL}/2` }],
    ['has a webhook of another project', { ...WEBHOOK, projectId: anId(8) }],
  ])('an event whose number %s is signed with its own secret', (_, current) => {
    expect(secretsFor(EVENT, current, NOW)).toEqual(['own']);
    expect(secretsFor({ ...EVENT, secret: null }, current, NOW)).toEqual([]);
  });
});

it('an event has the address of its webhook, and the secret that makes the one signature', () => {
  const address = { url: URL, endpoint: 'customer.example/in' };
  expect(addressOf(WEBHOOK, NOW + 59)).toEqual({ ...address, secret: 'old' });
  expect(addressOf(WEBHOOK, NOW + 60)).toEqual({ ...address, secret: 'new' });
});
