import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodePdu } from '../../../src/adapters/smpp/packaged-pdu.ts';
import { PartReferences, REFERENCED_NUMBERS_MAX } from '../../../src/adapters/smpp/part-references.ts';
import { PDU_BYTES_MAX } from '../../../src/adapters/smpp/pdu.ts';
import { PduFramer } from '../../../src/adapters/smpp/pdu-framer.ts';
import { decodePdu } from '../../../src/adapters/smpp/pdu-reader.ts';
import { validityPeriod } from '../../../src/adapters/smpp/submit-fields.ts';

describe('the PDUs of SMPP', () => {
  it('a request without fields is its header', () => {
    expect(encodePdu('enquire_link', 7).toString('hex')).toBe('00000010000000150000000000000007');
  });

  it('a response with an error has no body', () => {
    expect(encodePdu('deliver_sm_resp', 7, { command_status: 0x64 }).toString('hex')).toBe(
      '00000010800000050000006400000007',
    );
  });

  it('no octets of an SMSC make the decoder throw', () => {
    const commands = fc.constantFrom(
      0x05,
      0x80000004,
      0x80000009,
      0x80000015,
      0x80000000,
      0x06,
      0x103,
      0x777,
    );
    fc.assert(
      fc.property(commands, fc.uint8Array({ maxLength: 300 }), (command, body) => {
        const header = Buffer.alloc(16);
        header.writeUInt32BE(16 + body.length, 0);
        header.writeUInt32BE(command, 4);
        header.writeUInt32BE(9, 12);
        expect(decodePdu(Buffer.concat([header, body]))).toMatchObject({
          sequence: 9,
          isResponse: command >= 0x80000000,
        });
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the framing of PDUs', () => {
  it('PDUs come out whole, however the connection cuts them', () => {
    const pdus = fc.array(
      fc.uint8Array({ maxLength: 200 }).map((body) => {
        const header = Buffer.alloc(16);
        header.writeUInt32BE(16 + body.length, 0);
        return Buffer.concat([header, body]);
      }),
      { maxLength: 10 },
    );
    fc.assert(
      fc.property(pdus, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (given, cuts) => {
        const framer = new PduFramer();
        const all = Buffer.concat(given);
        const found: string[] = [];
        for (let at = 0, cut = 0; at < all.length; cut += 1) {
          const end = at + (cuts[cut % cuts.length] ?? 1);
          framer.push(all.subarray(at, end));
          for (let pdu = framer.next(); pdu !== null; pdu = framer.next()) found.push(pdu.toString('hex'));
          at = end;
        }
        expect(found).toEqual(given.map((pdu) => pdu.toString('hex')));
      }),
    );
  });

  it('the PDUs before a length that makes no sense still come out', () => {
    const framer = new PduFramer();
    const sound = encodePdu('enquire_link', 1);
    framer.push(Buffer.concat([sound, Buffer.from('ffffffff', 'hex')]));
    expect(framer.next()).toEqual(sound);
    expect(() => framer.next()).toThrow('The SMSC sent a PDU with a length of 4294967295 octets');
  });

  it.each([[15], [PDU_BYTES_MAX + 1]])('a length of %d octets is not accepted', (length) => {
    const octets = Buffer.alloc(4);
    octets.writeUInt32BE(length);
    const framer = new PduFramer();
    framer.push(octets);
    expect(() => framer.next()).toThrow(`a length of ${length} octets`);
  });
});

describe('the validity period of SMPP', () => {
  it.each([
    [0, '000000000001000R'],
    [1, '000000000001000R'],
    [1_000, '000000000001000R'],
    [1_999, '000000000001000R'],
    [30_000, '000000000030000R'],
    [3_600_000, '000000010000000R'],
    [86_399_999, '000000235959000R'],
    [86_400_000, '000001000000000R'],
    [2_592_000_000, '000030000000000R'],
    [9_000_000_000_000, '000030000000000R'],
  ])('a time of %d ms is written as %s', (ms, text) => {
    expect(validityPeriod(ms)).toBe(text);
  });
});

describe('the references of long messages', () => {
  it('a number gets each of the 256 references before it gets one again', () => {
    const references = new PartReferences(() => 0.999);
    const given = Array.from({ length: 257 }, () => references.next('9647701234567'));
    expect(new Set(given.slice(0, 256)).size).toBe(256);
    expect(given[256]).toBe(given[0]);
    expect(given.slice(0, 2)).toEqual([0, 1]);
  });

  it('the number that was used longest ago is forgotten first', () => {
    let chance = 0;
    const references = new PartReferences(() => chance);
    expect([references.next('first'), references.next('second')]).toEqual([1, 1]);
    for (let n = 3; n <= REFERENCED_NUMBERS_MAX; n += 1) references.next(`${n}`);
    expect(references.next('first')).toBe(2);
    references.next('one more');
    chance = 0.5;
    expect([references.next('first'), references.next('second')]).toEqual([3, 129]);
  });
});
