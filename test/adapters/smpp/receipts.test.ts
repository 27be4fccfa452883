import { expect, it } from 'vitest';
import { LOCKED_RESPONSE_MS } from '../../../src/adapters/smpp/receipt-inbox.ts';
import type { ProviderEvent } from '../../../src/application/ports/provider-events.ts';
import type { DeliveryReceipt } from '../../../src/domain/providers/delivery-receipt.ts';
import { aSubmission, MINUTE_MS } from '../../support/builders.ts';
import type { Smsc } from '../../support/smsc.ts';
import { describeWithSmsc, openSmsc } from './open-smsc.ts';

const ESME_ROK = 0x00;
const ESME_RX_T_APPN = 0x64;
const DATA_CODING_LATIN = 3;
const DATA_CODING_UCS2 = 8;

const receiptOf = (providerMessageId: string, receipt: DeliveryReceipt): ProviderEvent => ({
  kind: 'receipt',
  receipt: { channel: 'sms', providerMessageId, receipt },
});

const DELIVERED: DeliveryReceipt = { kind: 'delivered' };

const ascii = (text: string): string => Buffer.from(text, 'latin1').toString('hex');
const ucs2 = (text: string): string => Buffer.from(text, 'utf16le').swap16().toString('hex');

const deliver = (smsc: Smsc, fields: Record<string, string | number>, octets: string) =>
  smsc.tell({ order: 'deliver', fields, octets });

describeWithSmsc('the SMPP provider and receipts', () => {
  it.each<
    [dialect: string, fields: Record<string, string | number>, octets: string, expected: ProviderEvent]
  >([
    [
      'with all fields',
      { esm_class: 4 },
      ascii(
        'id:0123456789 sub:001 dlvrd:001 submit date:2611231200 done date:2611231201 stat:DELIVRD err:000 text:Hi',
      ),
      receiptOf('0123456789', DELIVERED),
    ],
    [
      'with an id of which the alphabet of GSM has no such octets',
      { esm_class: 4, data_coding: 0 },
      ascii('id:a_b@c$d stat:DELIVRD'),
      receiptOf('a_b@c$d', DELIVERED),
    ],
    [
      'in Latin',
      { esm_class: 4, data_coding: DATA_CODING_LATIN },
      ascii('id:77 stat:EXPIRED err:011'),
      receiptOf('77', { kind: 'failed', reason: 'The SMSC reports EXPIRED with error 011' }),
    ],
    [
      'in UCS-2',
      { esm_class: 4, data_coding: DATA_CODING_UCS2 },
      ucs2('id:77 stat:UNDELIV err:000'),
      receiptOf('77', { kind: 'failed', reason: 'The SMSC reports UNDELIVERABLE' }),
    ],
    [
      'in UCS-2 with a mark of its byte order',
      { esm_class: 4, data_coding: DATA_CODING_UCS2 },
      ucs2('\ufeffid:77 stat:DELIVRD'),
      receiptOf('77', DELIVERED),
    ],
    [
      'that repeats the password of the bind',
      { esm_class: 4 },
      ascii('id:77 stat:UNDELIV err:secret'),
      receiptOf('77', { kind: 'failed', reason: 'The SMSC reports UNDELIVERABLE with error ***' }),
    ],
    ...[DATA_CODING_UCS2, 0xf8, 0x19].map(
      (coding): [string, Record<string, number>, string, ProviderEvent] => [
        `in ASCII that carries the data_coding ${coding} of the text that was sent`,
        { esm_class: 4, data_coding: coding },
        ascii('id:77 sub:001 dlvrd:001 stat:DELIVRD err:000 text:Hi'),
        receiptOf('77', DELIVERED),
      ],
    ),
    [
      'behind a header with an odd number of octets',
      { esm_class: 0x44, data_coding: DATA_CODING_UCS2 },
      `06080400010101${ucs2('id:77 stat:DELIVRD')}`,
      receiptOf('77', DELIVERED),
    ],
    [
      'in optional parameters, without a text',
      { esm_class: 4, receipted_message_id: 'AB12\0', message_state: '\u0002' },
      '',
      receiptOf('AB12', DELIVERED),
    ],
    [
      'that only the id in an optional parameter tells from a message',
      { esm_class: 0, receipted_message_id: 'AB12', message_state: '\u0005' },
      '',
      receiptOf('AB12', { kind: 'failed', reason: 'The SMSC reports UNDELIVERABLE' }),
    ],
    [
      'in message_payload',
      { esm_class: 4, message_payload: 'id:77 stat:DELIVRD' },
      '',
      receiptOf('77', DELIVERED),
    ],
    [
      'of a message that is still on its way',
      { esm_class: 0x20 },
      ascii('id:77 stat:ENROUTE'),
      receiptOf('77', { kind: 'sent' }),
    ],
  ])('the SMPP provider reads a receipt %s', async (_, fields, octets, expected) => {
    const { smsc, world } = await openSmsc();
    await deliver(smsc, fields, octets);
    expect(await smsc.seen('deliver_sm_resp')).toMatchObject([{ status: ESME_ROK }]);
    expect(world.events).toEqual([expected]);
  });

  it('the SMPP provider acknowledges a receipt only when it is recorded, and gets it again otherwise', async () => {
    const { smsc, world } = await openSmsc();
    world.isStorageAway = true;
    await smsc.tell({ order: 'receipt', id: '77', stat: 'DELIVRD' });
    expect(await smsc.seen('deliver_sm_resp')).toMatchObject([{ status: ESME_RX_T_APPN }]);
    expect(world.logger.count('provider_event_failed')).toBe(1);
    world.isStorageAway = false;
    await smsc.redeliver();
    expect(await smsc.seen('deliver_sm_resp', 2)).toMatchObject([{}, { status: ESME_ROK }]);
    expect(world.events).toEqual([receiptOf('77', DELIVERED)]);
  });

  it('the SMPP provider records receipts that come together at once, and responds to each', async () => {
    const { smsc, world } = await openSmsc();
    world.holdSink();
    await smsc.tell({ order: 'receipt', id: '1', stat: 'DELIVRD' });
    await world.called(1);
    for (const id of ['2', '3', '4']) await smsc.tell({ order: 'receipt', id, stat: 'DELIVRD' });
    // The response comes after the receipts, over the same connection.
    await world.provider.submit(aSubmission());
    expect(smsc.of('deliver_sm_resp')).toEqual([]);
    world.releaseSink();
    await world.called(2);
    world.releaseSink();
    const responses = await smsc.seen('deliver_sm_resp', 4);
    expect(responses.map(({ sequence, status }) => [sequence, status])).toEqual([
      [1, ESME_ROK],
      [2, ESME_ROK],
      [3, ESME_ROK],
      [4, ESME_ROK],
    ]);
    expect(world.batches).toEqual([1, 3]);
  });

  it('a receipt that cannot be recorded does not keep those beside it from being recorded', async () => {
    const { smsc, world } = await openSmsc();
    world.unrecordable = '3';
    world.holdSink();
    await smsc.tell({ order: 'receipt', id: '1', stat: 'DELIVRD' });
    await world.called(1);
    for (const id of ['2', '3']) await smsc.tell({ order: 'receipt', id, stat: 'DELIVRD' });
    await world.provider.submit(aSubmission());
    world.releaseAlways();
    const responses = await smsc.seen('deliver_sm_resp', 3);
    expect(responses.map(({ sequence, status }) => [sequence, status])).toEqual([
      [1, ESME_ROK],
      [2, ESME_ROK],
      [3, ESME_RX_T_APPN],
    ]);
    expect(world.events).toEqual([receiptOf('1', DELIVERED), receiptOf('2', DELIVERED)]);
  });

  it('a receipt whose project is locked holds up neither those beside it nor later ones, and is not acknowledged', async () => {
    const { smsc, world } = await openSmsc();
    world.locked = '2';
    world.holdSink();
    await smsc.tell({ order: 'receipt', id: '1', stat: 'DELIVRD' });
    await world.called(1);
    for (const id of ['2', '3']) await smsc.tell({ order: 'receipt', id, stat: 'DELIVRD' });
    await world.provider.submit(aSubmission());
    world.releaseAlways();
    await smsc.tell({ order: 'receipt', id: '4', stat: 'DELIVRD' });
    const statuses = async (count: number) =>
      (await smsc.seen('deliver_sm_resp', count)).map(({ sequence, status }) => [sequence, status]);
    expect(await statuses(3)).toEqual([
      [1, ESME_ROK],
      [3, ESME_ROK],
      [4, ESME_ROK],
    ]);
    world.timers.expire(LOCKED_RESPONSE_MS);
    expect((await statuses(4)).at(-1)).toEqual([2, ESME_RX_T_APPN]);
    expect(world.logger.entries.slice(1)).toEqual([
      { level: 'warn', event: 'provider_receipts_locked', fields: { provider: 'smsc', count: 1 } },
    ]);
  });

  it('a receipt that waits for a lock when the SMPP provider is closed is not acknowledged', async () => {
    const { smsc, world } = await openSmsc();
    world.locked = '1';
    await smsc.tell({ order: 'receipt', id: '1', stat: 'DELIVRD' });
    await world.timers.begun(LOCKED_RESPONSE_MS);
    await world.provider.close();
    await smsc.seen('closed');
    expect(smsc.of('deliver_sm_resp')).toMatchObject([{ sequence: 1, status: ESME_RX_T_APPN }]);
    expect(world.timers.all).not.toContain(LOCKED_RESPONSE_MS);
  });

  it('the sink of a closed SMPP provider gets no receipt that waited for it', async () => {
    const { smsc, world } = await openSmsc();
    world.holdSink();
    await smsc.tell({ order: 'receipt', id: '1', stat: 'DELIVRD' });
    await world.called(1);
    await smsc.tell({ order: 'receipt', id: '2', stat: 'DELIVRD' });
    await world.provider.submit(aSubmission());
    const closing = world.provider.close();
    world.releaseAlways();
    await closing;
    expect(world.batches).toEqual([1]);
    // All that was sent on the connection has arrived.
    await smsc.seen('closed');
    expect(smsc.of('deliver_sm_resp').map(({ sequence, status }) => [sequence, status])).toEqual([
      [1, ESME_ROK],
    ]);
  });

  it('a receipt may come before the response to its message', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'plan', submits: [{ hold: true, receiptFirst: 'DELIVRD' }] });
    const submitting = world.provider.submit(aSubmission());
    await smsc.seen('submit');
    await smsc.tell({ order: 'release' });
    const result = await submitting;
    await world.came(1);
    const [submit] = smsc.of('submit');
    expect(result).toEqual({ kind: 'accepted', providerMessageIds: [submit?.id] });
    expect(world.events).toEqual([receiptOf(submit?.id ?? '', DELIVERED)]);
  });

  it('the SMPP provider acknowledges receipts that make no sense, and says so once a minute', async () => {
    const { smsc, world } = await openSmsc();
    await deliver(smsc, { esm_class: 4 }, ascii('Thank you for your message'));
    await deliver(smsc, { esm_class: 4 }, '');
    await deliver(smsc, { esm_class: 4 }, ascii('id:77 stat:MAYBE'));
    expect(await smsc.seen('deliver_sm_resp', 3)).toMatchObject(Array(3).fill({ status: ESME_ROK }));
    expect(world.events).toEqual([]);
    world.clock.at += MINUTE_MS;
    await deliver(smsc, { esm_class: 4 }, '');
    await smsc.seen('deliver_sm_resp', 4);
    expect(world.logger.entries.filter(({ event }) => event === 'smpp_pdu_invalid')).toEqual([
      {
        level: 'warn',
        event: 'smpp_pdu_invalid',
        fields: { provider: 'smsc', count: 1, problem: 'receipt' },
      },
      {
        level: 'warn',
        event: 'smpp_pdu_invalid',
        fields: { provider: 'smsc', count: 3, problem: 'receipt' },
      },
    ]);
  });

  it('the SMPP provider acknowledges a delivery that goes past its end, and goes on', async () => {
    const { smsc, world } = await openSmsc();
    // Its last parameter is message_state, without the octet of the state.
    const body = '0000000000000004000000000000000000';
    await smsc.tell({ order: 'raw', octets: `00000025000000050000000000000063${body}04270000` });
    expect(await smsc.seen('deliver_sm_resp')).toMatchObject([{ sequence: 0x63, status: ESME_ROK }]);
    await smsc.tell({ order: 'receipt', id: '77', stat: 'DELIVRD' });
    await world.came(1);
    expect(world.logger.entries).toMatchObject([
      { event: 'smpp_bind_opened' },
      { event: 'smpp_pdu_invalid', fields: { problem: 'deliver_sm' } },
    ]);
  });

  it('the SMPP provider acknowledges and drops what handsets write, and logs no word of it', async () => {
    const { smsc, world } = await openSmsc();
    await deliver(smsc, { esm_class: 0 }, ascii('STOP'));
    await deliver(smsc, { esm_class: 0 }, ascii('STOP'));
    expect(await smsc.seen('deliver_sm_resp', 2)).toMatchObject(Array(2).fill({ status: ESME_ROK }));
    expect(world.events).toEqual([]);
    expect(world.logger.entries.filter(({ event }) => event === 'smpp_message_ignored')).toEqual([
      {
        level: 'warn',
        event: 'smpp_message_ignored',
        fields: { provider: 'smsc', count: 1, problem: 'not a receipt' },
      },
    ]);
  });
});
