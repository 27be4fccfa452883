import { describe, expect, it, test } from 'vitest';
import {
  isWorking,
  keyIdOf,
  keyStatus,
  lastFourOf,
  type ProjectKey,
  replacedKey,
  WORKING_KEYS_MAX,
} from '../../../src/domain/access/project-key.ts';
import { NOW, PROJECT_ID } from '../../support/builders.ts';

const KEY: ProjectKey = {
  digest: '0123456789abcdef'.repeat(4),
  projectId: PROJECT_ID,
  createdAt: NOW,
  lastFour: '4567',
  endsAt: null,
  revokedAt: null,
  lastUsedAt: null,
};

describe('the key of a project', () => {
  it('the public id of a key is the first 24 characters of its digest', () => {
    expect(keyIdOf(KEY.digest)).toBe('0123456789abcdef01234567');
  });

  it('a list shows the last four characters of a key', () => {
    expect(lastFourOf('sk_live_0123456789')).toBe('6789');
  });

  it('a project has at most a hundred keys that work', () => {
    expect(WORKING_KEYS_MAX).toBe(100);
  });

  test.each([
    ['active', null, null, true],
    ['ending', NOW + 1, null, true],
    ['ended', NOW, null, false],
    ['ended', NOW - 1, null, false],
    ['revoked', null, NOW + 1, false],
    ['revoked', NOW + 1, NOW, false],
  ] as const)('a key is %s with the end %s and the revocation %s', (status, endsAt, revokedAt, works) => {
    expect(keyStatus({ endsAt, revokedAt }, NOW)).toBe(status);
    expect(isWorking({ endsAt, revokedAt }, NOW)).toBe(works);
  });

  it('a key gets an end, and keeps an earlier one', () => {
    expect(replacedKey(KEY, NOW, 5)).toEqual({ ...KEY, endsAt: NOW + 5 });
    expect(replacedKey({ ...KEY, endsAt: NOW + 3 }, NOW, 5).endsAt).toBe(NOW + 3);
    expect(replacedKey({ ...KEY, endsAt: NOW + 9 }, NOW, 5).endsAt).toBe(NOW + 5);
    expect(replacedKey({ ...KEY, endsAt: NOW + 9 }, NOW, 0)).toEqual({
      ...KEY,
      endsAt: NOW + 9,
      revokedAt: NOW,
    });
  });
});
