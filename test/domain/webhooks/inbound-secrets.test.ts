import { expect, it } from 'vitest';
import {
  onlySecret,
  overlapEndsAt,
  rotated,
  settled,
  signingSecrets,
} from '../../../src/domain/webhooks/inbound-secrets.ts';

const NOW = 1_000;
const rotating = { secret: 'old', nextSecret: 'new', nextSecretFrom: NOW + 60 };

it('a webhook with one secret signs with it alone', () => {
  expect(signingSecrets(onlySecret('one'), NOW)).toEqual(['one']);
  expect(overlapEndsAt(onlySecret('one'), NOW)).toBeNull();
});

it('in an overlap the old secret signs first, and the new one too', () => {
  expect(signingSecrets(rotating, NOW + 59)).toEqual(['old', 'new']);
  expect(overlapEndsAt(rotating, NOW + 59)).toBe(NOW + 60);
});

it('from the end of the overlap on the new secret signs alone', () => {
  expect(signingSecrets(rotating, NOW + 60)).toEqual(['new']);
  expect(overlapEndsAt(rotating, NOW + 60)).toBeNull();
  expect(settled(rotating, NOW + 60)).toEqual(onlySecret('new'));
});

it('a rotation keeps the old secret for the overlap', () => {
  expect(rotated(onlySecret('old'), 'new', NOW, 60)).toEqual(rotating);
});

it('a rotation without an overlap replaces every secret at once', () => {
  expect(rotated(onlySecret('old'), 'new', NOW, 0)).toEqual(onlySecret('new'));
  expect(rotated(rotating, 'newest', NOW, 0)).toEqual(onlySecret('newest'));
});

it('a rotation with an overlap is not possible while another overlap goes on', () => {
  expect(rotated(rotating, 'newest', NOW + 59, 60)).toBeNull();
  expect(rotated(rotating, 'newest', NOW + 60, 60)).toEqual({
    secret: 'new',
    nextSecret: 'newest',
    nextSecretFrom: NOW + 120,
  });
});
