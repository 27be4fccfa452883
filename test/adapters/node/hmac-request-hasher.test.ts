import { expect, it } from 'vitest';
import { HmacKeyHasher } from '../../../src/adapters/node/hmac-key-hasher.ts';
import { HmacRequestHasher } from '../../../src/adapters/node/hmac-request-hasher.ts';

const secretKey = Buffer.alloc(32, 7);

it('the request hasher makes the digest that openssl makes of the same text under the same key', () => {
  // printf 'request:a text' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0707...
  expect(new HmacRequestHasher({ secretKey }).digest('a text')).toBe(
    '0b970e4e63ebba71d9a2e873c5bc03e969c718ce40ebd8225519cf636e912dd5',
  );
});

it('the request hasher makes other digests under another key, and other digests than the hasher of API keys', () => {
  const digest = new HmacRequestHasher({ secretKey }).digest('a text');
  expect(new HmacRequestHasher({ secretKey: Buffer.alloc(32, 8) }).digest('a text')).not.toBe(digest);
  expect(new HmacKeyHasher({ secretKey }).digest('a text')).not.toBe(digest);
});
