import { expect, it } from 'vitest';
import {
  onlySecret,
  overlapEndsAt,
  rotated,
  secretsInUse,
  signingSecrets,
} from '../../../src/domain/webhooks/inbound-secrets.ts';
import { aSealedSecret } from '../../support/builders.ts';

const NOW = 1_000;
const OLD = aSealedSecret('old');
const NEW = aSealedSecret('new');
const NEWEST = aSealedSecret('newest');
const rotating = { secret: OLD, nextSecret: NEW, nextSecretFrom: NOW + 60 };

it('a webhook with one secret signs with it alone', () => {
  expect(signingSecrets(onlySecret(aSealedSecret('one')), NOW)).toEqual(['one']);
  expect(overlapEndsAt(onlySecret(aSealedSecret('one')), NOW)).toBeNull();
});

it('in an overlap the old secret signs first, and the new one too', () => {
  expect(signingSecrets(rotating, NOW + 59)).toEqual(['old', 'new']);
  expect(overlapEndsAt(rotating, NOW + 59)).toBe(NOW + 60);
});

it('from the end of the overlap on the new secret signs alone', () => {
  expect(signingSecrets(rotating, NOW + 60)).toEqual(['new']);
  expect(overlapEndsAt(rotating, NOW + 60)).toBeNull();
  expect(secretsInUse(rotating, NOW + 60)).toEqual(onlySecret(NEW));
});

it('a rotation keeps the old secret for the overlap', () => {
  expect(rotated(onlySecret(OLD), NEW, NOW, 60)).toEqual(rotating);
});

it('a rotation without an overlap replaces every secret at once', () => {
  expect(rotated(onlySecret(OLD), NEW, NOW, 0)).toEqual(onlySecret(NEW));
  expect(rotated(rotating, NEWEST, NOW, 0)).toEqual(onlySecret(NEWEST));
});

it('a rotation with an overlap is not possible while another overlap goes on', () => {
  expect(rotated(rotating, NEWEST, NOW + 59, 60)).toBeNull();
  expect(rotated(rotating, NEWEST, NOW + 60, 60)).toEqual({
    secret: 'new',
    nextSecret: 'newest',
    nextSecretFrom: NOW + 120,
  });
});
