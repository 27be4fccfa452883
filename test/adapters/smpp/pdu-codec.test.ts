import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodePdu } from '../../../src/adapters/smpp/packaged-pdu.ts';
import { decodePdu } from '../../../src/adapters/smpp/pdu-reader.ts';
import { PduWriter, type ShortMessage, type SubmitFields } from '../../../src/adapters/smpp/pdu-writer.ts';
import { octetPartsOf } from '../../support/sms-decoding.ts';
import { packagedDelivery, packagedMessageId, packagedPdu } from './packaged-pdus.ts';

const RUNS = 2_000;

const octet = fc.integer({ min: 0, max: 255 });
const sequences = fc.integer({ min: 1, max: 0x7fff_ffff });
const octets = (maxLength: number) => fc.uint8Array({ maxLength }).map((each) => Buffer.from(each));
/** Without a zero, which ends a text. */
const ascii = (maxLength: number) =>
  fc.array(fc.integer({ min: 1, max: 0x7f }), { maxLength }).map((codes) => String.fromCharCode(...codes));

const texts = fc.oneof(ascii(60), fc.string({ unit: 'grapheme', maxLength: 30 }), fc.constant('€[مرحبا'));
const shortMessages: fc.Arbitrary<ShortMessage> = fc
  .tuple(texts, fc.constantFrom([], [5, 0, 3, 7, 2, 1]))
  .map(([text, header]) => ({ header, encoding: octetPartsOf(text).encoding, text }));

const submits: fc.Arbitrary<SubmitFields> = fc.record({
  source_addr_ton: octet,
  source_addr_npi: octet,
  source_addr: ascii(20),
  dest_addr_ton: octet,
  dest_addr_npi: octet,
  destination_addr: ascii(20),
  esm_class: octet,
  validity_period: fc.constantFrom('', '000000000130000R'),
  registered_delivery: octet,
  data_coding: octet,
  short_message: shortMessages,
});

const asPackaged = (sequence: number, fields: SubmitFields): Buffer => {
  const { header, text } = fields.short_message;
  const [part = new Uint8Array()] = octetPartsOf(text).parts;
  return packagedPdu('submit_sm', sequence, {
    ...fields,
    short_message: Buffer.from([...header, ...part]),
  });
};

/** Tags that the package knows as octets, as a number, and not at all. */
const parameters = fc.oneof(
  fc.tuple(fc.constantFrom(0x001e, 0x0424, 0x0423, 0x1400, 0x3fff, 0xffff), octets(40)),
  fc.tuple(
    fc.constant(0x0427),
    fc.uint8Array({ minLength: 1, maxLength: 2 }).map((each) => Buffer.from(each)),
  ),
);

const withParameters = (pdu: Buffer, given: readonly [number, Buffer][]): Buffer =>
  Buffer.concat([
    pdu,
    ...given.map(([tag, value]) => {
      const head = Buffer.alloc(4);
      head.writeUInt16BE(tag, 0);
      head.writeUInt16BE(value.length, 2);
      return Buffer.concat([head, value]);
    }),
  ]);

/** The first octets of a PDU, whose length says that they are all. */
const cutTo = (pdu: Buffer, length: number): Buffer => {
  const cut = Buffer.from(pdu.subarray(0, Math.max(16, length)));
  cut.writeUInt32BE(cut.length, 0);
  return cut;
};

const whole = (pdu: Buffer): Buffer => cutTo(pdu, pdu.length);

const deliveries = fc
  .record({
    service_type: ascii(5),
    source_addr_ton: octet,
    source_addr: ascii(20),
    destination_addr: ascii(20),
    esm_class: octet,
    schedule_delivery_time: ascii(16),
    validity_period: ascii(16),
    data_coding: octet,
    short_message: fc.oneof(fc.constant(Buffer.alloc(0)), octets(254)),
  })
  .chain((fields) =>
    fc
      .array(parameters, { maxLength: 6 })
      .map((given) => whole(withParameters(packagedPdu('deliver_sm', 9, fields), given))),
  );

describe('the PDUs of every message', () => {
  it('a submit_sm is written as the package writes it, however many are taken at once', () => {
    const written = fc.array(fc.tuple(sequences, submits, fc.boolean()), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(written, (all) => {
        const writer = new PduWriter();
        const taken: Buffer[] = [];
        for (const [sequence, fields, takes] of all) {
          writer.submit(sequence, fields);
          if (takes) taken.push(writer.take());
        }
        taken.push(writer.take());
        const expected = Buffer.concat(all.map(([sequence, fields]) => asPackaged(sequence, fields)));
        expect(Buffer.concat(taken).equals(expected)).toBe(true);
        expect(writer.length).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  it('the response to a deliver_sm is written as the package writes it', () => {
    fc.assert(
      fc.property(sequences, fc.constantFrom(0, 0x64), (sequence, status) => {
        const writer = new PduWriter();
        writer.deliverResponse(sequence, status);
        expect(writer.take()).toEqual(encodePdu('deliver_sm_resp', sequence, { command_status: status }));
      }),
    );
  });

  it('what is written stays in its order while the memory of the writer grows', () => {
    const writer = new PduWriter();
    const pdus = Array.from({ length: 3_000 }, (_, index) => encodePdu('enquire_link', index + 1));
    for (const pdu of pdus) writer.add(pdu);
    expect(writer.take().equals(Buffer.concat(pdus))).toBe(true);
  });

  it('octets that were taken stay what they were when more is written', () => {
    const writer = new PduWriter();
    const enquiry = encodePdu('enquire_link', 1);
    const taken: Buffer[] = [];
    for (let n = 0; n < 3_000; n += 1) {
      writer.add(enquiry);
      taken.push(writer.take());
    }
    expect(taken.every((each) => each.equals(enquiry))).toBe(true);
  });

  it('a deliver_sm is read as the package reads it, also when it ends too early', () => {
    fc.assert(
      fc.property(deliveries, fc.nat({ max: 600 }), (pdu, length) => {
        for (const each of [pdu, cutTo(pdu, length)]) {
          expect(decodePdu(each)).toEqual({
            isResponse: false,
            command: 'deliver_sm',
            status: 0,
            sequence: 9,
            messageId: '',
            delivery: packagedDelivery(each),
          });
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('a submit_sm_resp is read as the package reads it, also when it ends too early', () => {
    fc.assert(
      fc.property(ascii(65), sequences, fc.nat({ max: 90 }), (id, sequence, length) => {
        const pdu = packagedPdu('submit_sm_resp', sequence, { message_id: id });
        for (const each of [pdu, cutTo(pdu, length)]) {
          expect(decodePdu(each)).toEqual({
            isResponse: true,
            command: 'submit_sm_resp',
            status: 0,
            sequence,
            messageId: packagedMessageId(each),
            delivery: null,
          });
        }
        expect(decodePdu(pdu).messageId).toBe(id);
      }),
      { numRuns: RUNS },
    );
  });

  it('the octets of a message id stay as they are', () => {
    const pdu = Buffer.concat([
      packagedPdu('submit_sm_resp', 1, { message_id: '' }).subarray(0, 16),
      Buffer.of(0xb1, 0xb2, 0),
    ]);
    expect(decodePdu(whole(pdu)).messageId).toBe('\u00b1\u00b2');
  });

  it.each([
    ['at the end', '04270000'],
    ['before another parameter', '04270000142300020101'],
  ])('a deliver_sm with a message_state without an octet %s is not read', (_, parameter) => {
    const body = '0000000000000004000000000000000000';
    const octets = Buffer.from(`00000000000000050000000000000063${body}${parameter}`, 'hex');
    expect(decodePdu(whole(octets))).toMatchObject({ sequence: 0x63, delivery: null });
  });
});
