import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AesSecretBox } from '../../../src/adapters/node/aes-secret-box.ts';
import { aSealedSecret } from '../../support/builders.ts';

const KEY = Buffer.alloc(32, 7);
const SECRET = 'customer-secret-1';

const box = (secretKey = KEY) => new AesSecretBox({ secretKey });

describe('AesSecretBox', () => {
  it.each(['', 'a', SECRET, 'سرّ 🔑', 'x'.repeat(10_000)])(
    'the secret box opens what it sealed: %#',
    (secret) => {
      const sealed = box().seal(secret);
      // Another box of the same key, as after a restart.
      expect(box().open(sealed)).toBe(secret);
    },
  );

  it('the secret box opens what an earlier version of the service sealed', () => {
    const sealed = aSealedSecret('v1:raoojOyATmGCZeynR20suJpiVnJ6CzFF9y9OiILrneBPLkn+mCJ6CMijybcc');
    expect(box().open(sealed)).toBe(SECRET);
  });

  it('the secret box hides a secret, and seals it differently each time it is new', () => {
    const sealed = [box().seal(SECRET), box().seal(SECRET)];
    expect(sealed[0]).not.toBe(sealed[1]);
    for (const text of sealed) {
      expect(text).toMatch(/^v1:[A-Za-z0-9+/]+=*$/);
      expect(Buffer.from(text.slice(3), 'base64').toString('latin1')).not.toContain(SECRET);
    }
  });

  it('the secret box opens nothing that another key sealed', () => {
    const sealed = box(randomBytes(32)).seal(SECRET);
    expect(() => box().open(sealed)).toThrow();
  });

  it('the secret box opens nothing that was changed in any byte', () => {
    const bytes = Buffer.from(box().seal(SECRET).slice(3), 'base64');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => box().open(aSealedSecret(`v1:${changed.toString('base64')}`))).toThrow();
    }
  });

  it.each(['', SECRET, 'v1:', 'v2:AAAA', `v1:${Buffer.alloc(12 + 15).toString('base64')}`])(
    'the secret box opens nothing that is not sealed: %j',
    (text) => {
      expect(() => box().open(aSealedSecret(text))).toThrow();
    },
  );

  it('the secret box mixes up no secrets, however many it has seen', () => {
    const one = box();
    const secrets = Array.from({ length: 2_500 }, (_, index) => `secret ${index}`);
    const sealed = secrets.map((secret) => one.seal(secret));
    expect(sealed.map((text) => one.open(text))).toEqual(secrets);
    expect(secrets.map((secret) => one.open(one.seal(secret)))).toEqual(secrets);
  });
});
