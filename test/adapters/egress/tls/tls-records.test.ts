import { expect, it } from 'vitest';
import { TlsRecords } from '../../../../src/adapters/egress/tls/tls-records.ts';

const CHANGE = 20;
const ALERT = 21;
const HANDSHAKE = 22;
const DATA = 23;

function record(kind: number, bytes: number): Buffer {
  return Buffer.concat([Buffer.from([kind, 3, 3, bytes >> 8, bytes & 255]), Buffer.alloc(bytes, HANDSHAKE)]);
}

const TLS_1_2 = [record(HANDSHAKE, 90), record(HANDSHAKE, 4_000), record(CHANGE, 1), record(HANDSHAKE, 40)];
const TLS_1_3 = [record(HANDSHAKE, 122), record(CHANGE, 1), record(DATA, 4_000), record(DATA, 250)];
const WITH_RETRY = [record(HANDSHAKE, 88), record(CHANGE, 1), record(HANDSHAKE, 155), record(DATA, 4_000)];
const RESPONSES = [record(DATA, 16_384), record(DATA, 20), record(ALERT, 26)];

const accepted = (records: readonly Buffer[], chunkBytes: number): boolean => {
  const tlsRecords = new TlsRecords();
  const all = Buffer.concat(records);
  for (let at = 0; at < all.length; at += chunkBytes) {
    if (!tlsRecords.accept(all.subarray(at, at + chunkBytes))) return false;
  }
  return true;
};

it.each([1, 3, 1_000, 100_000])(
  'what a handshake and its responses need is accepted, in chunks of %i',
  (bytes) => {
    for (const handshake of [TLS_1_2, TLS_1_3, WITH_RETRY]) {
      expect(accepted([...handshake, ...RESPONSES], bytes)).toBe(true);
    }
  },
);

it.each([1, 3, 1_000, 100_000])('a second handshake is not accepted, in chunks of %i', (bytes) => {
  expect(accepted([...TLS_1_2, record(HANDSHAKE, 28)], bytes)).toBe(false);
  expect(accepted([...TLS_1_2, ...RESPONSES, record(HANDSHAKE, 28)], bytes)).toBe(false);
  expect(accepted([...TLS_1_2, record(CHANGE, 1), record(HANDSHAKE, 28)], bytes)).toBe(false);
});

it('the last record of a handshake has nothing else in it', () => {
  const before = TLS_1_2.slice(0, 3);
  expect(accepted([...before, record(HANDSHAKE, 512)], 1_000)).toBe(true);
  expect(accepted([...before, record(HANDSHAKE, 513)], 1_000)).toBe(false);
});
