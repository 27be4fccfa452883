import { expect, it } from 'vitest';
import {
  BEGUN_TIMEOUT_MS,
  CLOSE_TIMEOUT_MS,
  type SmppProviderOptions,
} from '../../../src/adapters/smpp/smpp-provider.ts';
import { UNBOUND_TIMEOUT_MS } from '../../../src/adapters/smpp/smpp-session.ts';
import { RESPONSE_TIMEOUT_MS } from '../../../src/adapters/smpp/submit-deadlines.ts';
import { PUT_OFF_PART_WAIT_MS } from '../../../src/adapters/smpp/submit-queue.ts';
import { PROVIDER_WAIT_MS } from '../../../src/application/ports/channel-provider.ts';
import { CLOSED_CAPACITY } from '../../../src/domain/providers/provider-capacity.ts';
import type { SubmitResult } from '../../../src/domain/providers/submit-result.ts';
import { anSmsId, aPhoneNumber, aSubmission, HOUR_MS } from '../../support/builders.ts';
import type { Smsc, SubmitPlan } from '../../support/smsc.ts';
import { submitAll } from '../../support/submit-all.ts';
import { aWorld, describeWithSmsc, openSmsc, startSmsc } from './open-smsc.ts';
import type { SmppWorld } from './smpp-world.ts';

const ESME_RTHROTTLED = 0x58;
const ESME_RMSGQFUL = 0x14;
const ESME_RINVSRCADR = 0x0a;
const ESME_RINVDSTADR = 0x0b;
const ESME_RSYSERR = 0x08;
const ESME_RINVBNDSTS = 0x04;
const VENDOR_ERROR = 0x0400;

/** After a throttling the first message goes out at 7 a second, when the SMSC took little. */
const FIRST_WAIT_MS = 143;
/** An SMSC that took everything for so long has no rate. */
const THROTTLED_MS = 30_000;

/** Three parts in the alphabet of GSM. */
const THREE_PARTS = 'a'.repeat(400);

const OF_A = { projectId: 'A', phoneNumber: aPhoneNumber('9647700000001') };
const OF_B = { projectId: 'B', phoneNumber: aPhoneNumber('9647700000002') };
const OF_C = { projectId: 'C', phoneNumber: aPhoneNumber('9647700000003') };

/** The projects of all parts, in their order. */
const projectsOf = async (smsc: Smsc): Promise<string> =>
  (await smsc.submits()).map(({ destination_addr }) => ' ABC'[Number(destination_addr.at(-1))]).join('');

/** Resolves once every response of the SMSC until now came. */
async function responded(smsc: Smsc, world: SmppWorld): Promise<void> {
  await smsc.tell({ order: 'receipt', id: '77', stat: 'DELIVRD' });
  await world.came(1);
}

/** Lets so much time pass, and the timeouts of that length expire. */
function pass(world: SmppWorld, ms: number): void {
  world.uptimeMs += ms;
  world.timers.expire(ms);
}

const messages = (count: number, text = 'Hello') =>
  Array.from({ length: count }, (_, index) => aSubmission({ smsId: anSmsId(index), text }));

const BUSY = { kind: 'rejected', cause: 'busy', endsChain: false } as const;
const THROTTLED = { kind: 'rejected', cause: 'throttled', endsChain: false } as const;

describeWithSmsc('the SMPP provider submits', () => {
  it('the SMPP provider binds as a transceiver of version 3.4', async () => {
    const { smsc } = await openSmsc();
    expect(await smsc.seen('bind')).toEqual([
      {
        event: 'bind',
        connection: 1,
        system_id: 'barid',
        password: 'secret',
        system_type: 'VMA',
        interface_version: 0x34,
      },
    ]);
  });

  it('the SMPP provider submits a short message in one part that asks for a receipt', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'ids', submit: 'Abc%d', receipt: 'Abc%d' });
    const result = await world.provider.submit(
      aSubmission({
        text: 'Code @1 €',
        phoneNumber: aPhoneNumber('9647701234567'),
        attemptTimeoutMs: 90_001,
      }),
    );
    const [submit] = await smsc.seen('submit');
    expect(submit).toEqual({
      event: 'submit',
      connection: 1,
      id: expect.stringMatching(/^Abc\d+$/),
      source_addr_ton: 5,
      source_addr_npi: 0,
      source_addr: 'Barid',
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      destination_addr: '9647701234567',
      esm_class: 0,
      validity_period: '000000000130000R',
      registered_delivery: 1,
      data_coding: 0,
      short_message: '436f6465200031201b65',
    });
    expect(result).toEqual({ kind: 'accepted', providerMessageIds: [submit?.id] });
  });

  it.each([
    ['a name', 'Korek', { ton: 5, npi: 0, addr: 'Korek' }],
    ['a name of digits and letters', '1Bank', { ton: 5, npi: 0, addr: '1Bank' }],
    ['a short code', '4455', { ton: 3, npi: 0, addr: '4455' }],
    ['an international number', '9647701234567', { ton: 1, npi: 1, addr: '9647701234567' }],
    ['an international number with a plus', '+9647701234567', { ton: 1, npi: 1, addr: '9647701234567' }],
  ])('the SMPP provider tells the SMSC that the sender is %s', async (_, senderId, expected) => {
    const { smsc, world } = await openSmsc();
    await world.provider.submit(aSubmission({ senderId }));
    const [submit] = await smsc.seen('submit');
    expect({ ton: submit?.source_addr_ton, npi: submit?.source_addr_npi, addr: submit?.source_addr }).toEqual(
      expected,
    );
  });

  it('the SMPP provider leaves the sender to the SMSC when neither the message nor the settings name one', async () => {
    const { smsc, world } = await openSmsc({
      submit: { defaultSenderId: null, source: null, destination: { ton: 1, npi: 1 }, dataCodingGsm: 0 },
    });
    await world.provider.submit(aSubmission());
    expect(await smsc.seen('submit')).toMatchObject([
      { source_addr_ton: 0, source_addr_npi: 0, source_addr: '' },
    ]);
  });

  it('the SMPP provider uses the number types and the coding of its settings', async () => {
    const { smsc, world } = await openSmsc({
      submit: {
        defaultSenderId: 'Barid',
        source: { ton: 0, npi: 8 },
        destination: { ton: 2, npi: 6 },
        dataCodingGsm: 0xf1,
      },
    });
    await world.provider.submit(aSubmission());
    expect(await smsc.seen('submit')).toMatchObject([
      { source_addr_ton: 0, source_addr_npi: 8, dest_addr_ton: 2, dest_addr_npi: 6, data_coding: 0xf1 },
    ]);
  });

  it('the SMPP provider rejects a sender ID that SMPP cannot carry, and sends nothing', async () => {
    const { smsc, world } = await openSmsc();
    expect(await submitAll(world.provider, [aSubmission({ senderId: 'بريد' }), aSubmission()])).toEqual([
      { kind: 'rejected', reason: 'SMPP cannot carry this sender ID', endsChain: false, cause: 'sender' },
      { kind: 'accepted', providerMessageIds: [expect.any(String)] },
    ]);
    expect(await smsc.submits()).toHaveLength(1);
  });

  it('the SMPP provider gives one id for each part of a long message, in the order of the parts', async () => {
    const { smsc, world } = await openSmsc();
    const result = await world.provider.submit(aSubmission({ text: THREE_PARTS }));
    const submits = await smsc.seen('submit', 3);
    expect(result).toEqual({ kind: 'accepted', providerMessageIds: submits.map(({ id }) => id) });
    expect(submits.map(({ esm_class, short_message }) => [esm_class, short_message.slice(0, 12)])).toEqual([
      [0x40, '050003810301'],
      [0x40, '050003810302'],
      [0x40, '050003810303'],
    ]);
  });

  it('the SMPP provider ties the parts of the next message to a number with another reference', async () => {
    const { smsc, world } = await openSmsc();
    await submitAll(world.provider, messages(2, THREE_PARTS));
    const submits = await smsc.seen('submit', 6);
    expect(new Set(submits.map(({ short_message }) => short_message.slice(6, 8)))).toEqual(
      new Set(['81', '82']),
    );
  });

  it('the SMPP provider brings the ids of submit responses and receipts to one form', async () => {
    const { smsc, world } = await openSmsc({ ids: { submitIds: 'hex', receiptIds: 'decimal' } });
    await smsc.tell({ order: 'ids', submit: '00%X', receipt: '%012d' });
    const result = await world.provider.submit(aSubmission());
    const [submit] = await smsc.seen('submit');
    const id = String(Number(submit?.id));
    expect(result).toEqual({ kind: 'accepted', providerMessageIds: [id] });
    await smsc.tell({ order: 'receipt', id: submit?.id ?? '', stat: 'DELIVRD' });
    await world.came(1);
    expect(world.events).toMatchObject([{ receipt: { providerMessageId: id } }]);
  });
});

describeWithSmsc('the SMPP provider and a rejection', () => {
  it.each<[name: string, status: number, result: Partial<SubmitResult>]>([
    ['throttling', ESME_RTHROTTLED, THROTTLED],
    ['a full queue', ESME_RMSGQFUL, THROTTLED],
    ['a system error', ESME_RSYSERR, BUSY],
    ['an unknown sender', ESME_RINVSRCADR, { kind: 'rejected', cause: 'sender', endsChain: false }],
    ['a bad number', ESME_RINVDSTADR, { kind: 'rejected', endsChain: false }],
    ['an error of the vendor', VENDOR_ERROR, { kind: 'rejected', endsChain: false }],
  ])('the SMPP provider takes %s for what it is', async (_, status, result) => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'plan', submits: [{ status }] });
    expect(await world.provider.submit(aSubmission({ text: THREE_PARTS }))).toEqual({
      ...result,
      reason: expect.stringMatching(/ESME_|0x00000400/),
    });
    expect(await smsc.submits()).toHaveLength(1);
  });

  it('the SMPP provider takes a generic_nack of a submission as its rejection', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'plan', submits: [{ nack: ESME_RSYSERR }, { nack: 0 }] });
    expect(await submitAll(world.provider, messages(2))).toMatchObject([
      BUSY,
      { kind: 'unknown', reason: 'The SMSC sent a generic_nack without a reason' },
    ]);
  });

  it('a message of which the SMSC took the first parts only is unknown, and nothing is sent again', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'plan', submits: [{ status: 0 }, { status: ESME_RINVDSTADR }] });
    const result = await world.provider.submit(aSubmission({ text: THREE_PARTS }));
    await smsc.seen('submit', 3);
    expect(result).toEqual({
      kind: 'unknown',
      reason: expect.stringContaining('The SMSC took 1 of 3 parts'),
      providerMessageIds: [],
    });
    expect(await smsc.submits()).toHaveLength(3);
  });

  it('a later part that the SMSC throttles is sent again a second later', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'plan', submits: [{ status: 0 }, { status: ESME_RTHROTTLED }] });
    const submitting = world.provider.submit(aSubmission({ text: 'a'.repeat(200) }));
    await world.timers.begun(PUT_OFF_PART_WAIT_MS);
    expect(await smsc.submits()).toHaveLength(2);
    pass(world, PUT_OFF_PART_WAIT_MS);
    expect(await submitting).toMatchObject({
      kind: 'accepted',
      providerMessageIds: [expect.any(String), expect.any(String)],
    });
    expect((await smsc.submits()).map(({ short_message }) => short_message.slice(10, 12))).toEqual([
      '01',
      '02',
      '02',
    ]);
  });

  it.each([
    ['may not be submitted over its bind', ESME_RINVBNDSTS],
    ['meets an error of the SMSC', ESME_RSYSERR],
  ])('a later part that %s is sent again a second later', async (_, status) => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'plan', submits: [{ status: 0 }, { status }] });
    const submitting = world.provider.submit(aSubmission({ text: 'a'.repeat(200) }));
    await world.timers.begun(PUT_OFF_PART_WAIT_MS);
    pass(world, PUT_OFF_PART_WAIT_MS);
    expect(await submitting).toMatchObject({ kind: 'accepted', providerMessageIds: { length: 2 } });
    expect(await smsc.submits()).toHaveLength(3);
  });

  it('a later part is sent again as often as the SMSC throttles it', async () => {
    const { smsc, world } = await openSmsc();
    const throttled = Array.from({ length: 6 }, () => ({ status: ESME_RTHROTTLED }));
    await smsc.tell({ order: 'plan', submits: [{ status: 0 }, ...throttled] });
    const submitting = world.provider.submit(aSubmission({ text: 'a'.repeat(200) }));
    for (const _ of throttled) {
      await world.timers.begun(PUT_OFF_PART_WAIT_MS);
      pass(world, PUT_OFF_PART_WAIT_MS);
    }
    expect(await submitting).toMatchObject({ kind: 'accepted' });
    expect(await smsc.submits()).toHaveLength(8);
  });

  it('a later part that is throttled waits as long when the SMSC takes everything of others', async () => {
    const { smsc, world } = await openSmsc();
    await submitAll(
      world.provider,
      messages(20).map((each) => ({ ...each, ...OF_B })),
    );
    await smsc.tell({ order: 'plan', submits: [{ status: 0 }, { status: ESME_RTHROTTLED }] });
    const submitting = world.provider.submit(aSubmission({ ...OF_A, text: 'a'.repeat(200) }));
    await world.timers.begun(PUT_OFF_PART_WAIT_MS);
    expect(world.provider.capacity({ priority: 'code', projectId: 'B' })).not.toHaveProperty('ofRate');
    expect(await smsc.submits()).toHaveLength(22);
    pass(world, PUT_OFF_PART_WAIT_MS);
    expect(await submitting).toMatchObject({ kind: 'accepted' });
    expect(await smsc.submits()).toHaveLength(23);
  });

  it('the SMPP provider sends the next message at the rate of the SMSC after it was throttled', async () => {
    const { smsc, world } = await openSmsc({ window: 1 });
    await smsc.tell({ order: 'plan', submits: [{ status: ESME_RTHROTTLED }] });
    const submitting = submitAll(world.provider, messages(2));
    await world.timers.begun(FIRST_WAIT_MS);
    expect(await smsc.submits()).toHaveLength(1);
    pass(world, FIRST_WAIT_MS);
    expect(await submitting).toMatchObject([THROTTLED, { kind: 'accepted' }]);
  });

  it('an accepted message without an id is unknown, because no receipt could be matched', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'plan', submits: [{ id: '' }] });
    expect(await world.provider.submit(aSubmission())).toEqual({
      kind: 'unknown',
      reason: 'The SMSC took the message and gave no usable id',
      providerMessageIds: [],
    });
  });
});

describeWithSmsc('the SMPP provider and its limits', () => {
  it('the SMPP provider has no more submissions without a response than its window', async () => {
    const { smsc, world } = await openSmsc({ window: 2 });
    await smsc.tell({ order: 'plan', submits: [{ hold: true }, { hold: true }, { hold: true }] });
    const submissions = messages(4).map((each, index) => ({ ...each, projectId: 'AABB'.charAt(index) }));
    const submitting = submitAll(world.provider, submissions);
    await smsc.seen('submit', 2);
    expect(await smsc.submits()).toHaveLength(2);
    await smsc.tell({ order: 'release' });
    await smsc.seen('submit', 4);
    await smsc.tell({ order: 'release' });
    expect(await submitting).toMatchObject(messages(4).map(() => ({ kind: 'accepted' })));
  });

  it('while messages of one project get no response, the SMPP provider sends those of another at once', async () => {
    const { smsc, world } = await openSmsc({ window: 10 });
    await smsc.tell({ order: 'plan', submits: Array(9).fill({ silent: true }) });
    const silent = submitAll(
      world.provider,
      messages(20).map((each) => ({ ...each, ...OF_A })),
    );
    await smsc.seen('submit', 9);
    for (const sent of [10, 11]) {
      expect(await world.provider.submit(aSubmission(OF_B))).toMatchObject({ kind: 'accepted' });
      expect(await smsc.submits()).toHaveLength(sent);
    }
    world.timers.expire(PROVIDER_WAIT_MS);
    world.timers.expire(RESPONSE_TIMEOUT_MS);
    expect((await silent).map(({ kind }) => kind)).toEqual([
      ...Array(9).fill('unknown'),
      ...Array(11).fill('rejected'),
    ]);
  });

  it('the SMPP provider has the capacity of its window, and tells how many of a backlog wait for it', async () => {
    const { smsc, world } = await openSmsc({ window: 5 });
    const backlog = { priority: 'code', projectId: OF_A.projectId } as const;
    expect(world.provider.capacity(backlog)).toMatchObject({ free: 5, waiting: 0, ahead: 0 });
    await smsc.tell({ order: 'plan', submits: Array(5).fill({ hold: true }) });
    const some = submitAll(world.provider, [aSubmission(OF_A), aSubmission(OF_B)]);
    await smsc.seen('submit', 2);
    expect(world.provider.capacity(backlog)).toMatchObject({ free: 3, waiting: 0, ahead: 0 });
    const submitting = submitAll(world.provider, [aSubmission(OF_C), aSubmission(OF_A), aSubmission(OF_A)]);
    await smsc.seen('submit', 4);
    expect(world.provider.capacity(backlog)).toMatchObject({ free: 0, waiting: 1, ahead: 1 });
    await smsc.tell({ order: 'release' });
    await smsc.seen('submit', 5);
    await smsc.tell({ order: 'release' });
    const results = await Promise.all([some, submitting]);
    expect(results.flat().map(({ kind }) => kind)).toEqual(Array(5).fill('accepted'));
  });

  it('the SMPP provider tells of each message once, by its backlog, as it writes the first part', async () => {
    const { smsc, world } = await openSmsc({ window: 1 });
    const told: string[] = [];
    world.provider.whenHandedOver(({ priority, projectId }) => told.push(`${priority} ${projectId}`));
    await smsc.tell({ order: 'plan', submits: [{ hold: true }] });
    const long = aSubmission({ ...OF_B, text: 'a'.repeat(200), priority: 'text' });
    const submitting = submitAll(world.provider, [aSubmission(OF_A), long]);
    await smsc.seen('submit');
    expect(told).toEqual(['code A']);
    await smsc.tell({ order: 'release' });
    await submitting;
    expect(told).toEqual(['code A', 'text B']);
  });

  it('the SMPP provider has no more capacity than its limit leaves in this second', async () => {
    const { world } = await openSmsc({ window: 50, perSecond: 3 });
    const backlog = { priority: 'code', projectId: OF_A.projectId } as const;
    expect(world.provider.capacity(backlog)).toMatchObject({ free: 3, waiting: 0, ahead: 0 });
    await world.provider.submit(aSubmission(OF_A));
    expect(world.provider.capacity(backlog)).toMatchObject({ free: 2, waiting: 0, ahead: 0 });
  });

  it('the SMPP provider has capacity for one after it was throttled, when its rate allows that', async () => {
    const { smsc, world } = await openSmsc({ window: 5 });
    const backlog = { priority: 'code', projectId: OF_A.projectId } as const;
    await smsc.tell({ order: 'plan', submits: [{ status: ESME_RTHROTTLED }] });
    await world.provider.submit(aSubmission(OF_A));
    expect(world.provider.capacity(backlog)).toMatchObject({ free: 5, waiting: 0, ofRate: 0 });
    world.uptimeMs += FIRST_WAIT_MS;
    expect(world.provider.capacity(backlog)).toMatchObject({ free: 5, waiting: 0, ofRate: 1 });
    world.uptimeMs += THROTTLED_MS;
    expect(world.provider.capacity(backlog)).not.toHaveProperty('ofRate');
  });

  it('the SMPP provider is closed while it is not connected, because it takes nothing', async () => {
    const world = aWorld(1);
    expect(world.provider.capacity({ priority: 'code', projectId: 'A' })).toEqual(CLOSED_CAPACITY);
  });

  it('later parts of a message wait for the window as well', async () => {
    const { smsc, world } = await openSmsc({ window: 1 });
    await smsc.tell({ order: 'plan', submits: [{ status: 0 }, { hold: true }] });
    const submitting = world.provider.submit(aSubmission({ text: THREE_PARTS }));
    await smsc.seen('submit', 2);
    expect(await smsc.submits()).toHaveLength(2);
    await smsc.tell({ order: 'release' });
    expect(await submitting).toMatchObject({ kind: 'accepted' });
  });

  it('a part without a response gives its place in the window back, also when its message has its result', async () => {
    const { smsc, world } = await openSmsc({ window: 3 });
    await smsc.tell({ order: 'plan', submits: [{ status: 0 }, { hold: true }, { status: ESME_RINVDSTADR }] });
    expect(await world.provider.submit(aSubmission({ text: THREE_PARTS }))).toMatchObject({
      kind: 'unknown',
    });
    world.timers.expire(RESPONSE_TIMEOUT_MS);
    await smsc.tell({ order: 'plan', submits: [{ hold: true }, { hold: true }] });
    const submitting = submitAll(world.provider, messages(2));
    await smsc.seen('submit', 5);
    await smsc.tell({ order: 'release' });
    expect(await submitting).toMatchObject([{ kind: 'accepted' }, { kind: 'accepted' }]);
  });

  it('a message that waits too long for the window was not sent, and may be sent later', async () => {
    const { smsc, world } = await openSmsc({ window: 1 });
    await smsc.tell({ order: 'plan', submits: [{ hold: true }] });
    const submitting = submitAll(world.provider, messages(3));
    await smsc.seen('submit');
    world.timers.expire(PROVIDER_WAIT_MS);
    await smsc.tell({ order: 'release' });
    const reason = 'More messages wait than the provider takes';
    expect(await submitting).toEqual([
      { kind: 'accepted', providerMessageIds: [expect.any(String)] },
      { ...BUSY, reason, cause: 'limited' },
      { ...BUSY, reason, cause: 'limited' },
    ]);
    expect(await world.provider.submit(aSubmission())).toMatchObject({ kind: 'accepted' });
    expect(await smsc.submits()).toHaveLength(2);
  });

  it('the SMPP provider sends no more parts in a second than its limit, over all binds', async () => {
    const { smsc, world } = await openSmsc({ perSecond: 3, binds: 2 });
    const submitting = submitAll(world.provider, messages(5));
    await smsc.seen('submit', 3);
    await smsc.tell({ order: 'release' });
    expect(await smsc.submits()).toHaveLength(3);
    world.timers.expire(1_000);
    expect(await submitting).toMatchObject(messages(5).map(() => ({ kind: 'accepted' })));
    expect(await smsc.submits()).toHaveLength(5);
  });

  it('the SMPP provider sends the code of another project after one message more of a backlog that waits for the limit', async () => {
    const { smsc, world } = await openSmsc({ perSecond: 1 });
    const backlog = submitAll(world.provider, messages(20));
    await smsc.seen('submit', 1);
    const code = world.provider.submit(
      aSubmission({ projectId: '664abc000000000000000002', phoneNumber: aPhoneNumber('9647709999999') }),
    );
    world.timers.expire(1_000);
    await smsc.seen('submit', 2);
    world.timers.expire(1_000);
    expect(await code).toMatchObject({ kind: 'accepted' });
    world.timers.expire(PROVIDER_WAIT_MS);
    const results = await backlog;
    expect(results.filter(({ kind }) => kind === 'accepted')).toHaveLength(2);
    expect(results.filter((result) => result.kind === 'rejected' && result.cause === 'limited')).toHaveLength(
      18,
    );
  });

  it('the SMPP provider sends codes before texts, and texts before campaigns', async () => {
    const { smsc, world } = await openSmsc({ perSecond: 1 });
    const first = world.provider.submit(aSubmission());
    const results = submitAll(
      world.provider,
      (['campaign', 'text', 'code'] as const).map((priority, index) =>
        aSubmission({ priority, phoneNumber: aPhoneNumber(`96477000000${index}0`) }),
      ),
    );
    for (const sent of [1, 2, 3]) {
      await smsc.seen('submit', sent);
      world.timers.expire(1_000);
    }
    await Promise.all([first, results]);
    const numbers = (await smsc.submits()).slice(1).map(({ destination_addr }) => destination_addr);
    expect(numbers).toEqual(['9647700000020', '9647700000010', '9647700000000']);
  });

  it('the SMPP provider sends the most urgent of the messages that come in one turn first', async () => {
    const { smsc, world } = await openSmsc({ window: 1 });
    const priorities = ['campaign', 'text', 'code'] as const;
    await submitAll(
      world.provider,
      priorities.map((priority, index) =>
        aSubmission({ priority, phoneNumber: aPhoneNumber(`96477000000${index}0`) }),
      ),
    );
    const numbers = (await smsc.submits()).map(({ destination_addr }) => destination_addr);
    expect(numbers).toEqual(['9647700000020', '9647700000010', '9647700000000']);
  });

  it('the SMPP provider sends a code before the next part of a text that it has begun', async () => {
    const { smsc, world } = await openSmsc({ perSecond: 1 });
    const text = world.provider.submit(aSubmission({ ...OF_A, priority: 'text', text: THREE_PARTS }));
    await smsc.seen('submit', 1);
    await responded(smsc, world);
    const code = world.provider.submit(aSubmission(OF_B));
    for (const sent of [2, 3, 4]) {
      world.timers.expire(1_000);
      await smsc.seen('submit', sent);
    }
    expect(await Promise.all([text, code])).toMatchObject([{ kind: 'accepted' }, { kind: 'accepted' }]);
    expect(await projectsOf(smsc)).toBe('ABAA');
  });

  it('the SMPP provider sends the parts of texts that it has begun in rotation over the projects', async () => {
    const { smsc, world } = await openSmsc({ perSecond: 3 });
    const submitting = submitAll(world.provider, [
      aSubmission(OF_C),
      aSubmission({ ...OF_A, priority: 'text', text: THREE_PARTS }),
      aSubmission({ ...OF_B, priority: 'text', text: THREE_PARTS }),
    ]);
    await smsc.seen('submit', 3);
    await responded(smsc, world);
    world.timers.expire(1_000);
    await smsc.seen('submit', 6);
    world.timers.expire(1_000);
    await submitting;
    expect(await projectsOf(smsc)).toBe('CABABAB');
  });

  it('a text of another project waits for one part of a text that was begun, not for all of them', async () => {
    const { smsc, world } = await openSmsc({ perSecond: 1 });
    const long = world.provider.submit(aSubmission({ ...OF_A, text: THREE_PARTS }));
    await smsc.seen('submit', 1);
    await responded(smsc, world);
    const short = world.provider.submit(aSubmission(OF_B));
    const later = world.provider.submit(aSubmission(OF_A));
    for (const sent of [2, 3, 4, 5]) {
      world.timers.expire(1_000);
      await smsc.seen('submit', sent);
    }
    expect(await Promise.all([long, short, later])).toMatchObject(Array(3).fill({ kind: 'accepted' }));
    expect(await projectsOf(smsc)).toBe('AABAA');
    // The later text of the same project goes behind all parts of the one that was begun.
    expect((await smsc.submits()).map(({ esm_class }) => esm_class)).toEqual([0x40, 0x40, 0, 0x40, 0]);
  });

  it('a new text of another project goes out while the parts of one that were throttled wait', async () => {
    const { smsc, world } = await openSmsc();
    const throttled = { status: ESME_RTHROTTLED };
    await smsc.tell({ order: 'plan', submits: [{ status: 0 }, throttled, throttled] });
    const long = world.provider.submit(aSubmission({ ...OF_A, text: THREE_PARTS }));
    await world.timers.begun(PUT_OFF_PART_WAIT_MS);
    await responded(smsc, world);
    expect(await world.provider.submit(aSubmission(OF_B))).toMatchObject({ kind: 'accepted' });
    // One for both parts: each has been sent again once when its time is over.
    expect(world.timers.all.filter((ms) => ms === PUT_OFF_PART_WAIT_MS)).toHaveLength(1);
    pass(world, PUT_OFF_PART_WAIT_MS);
    // At 9.65 a second the next one may go out after 104 ms, of which 50 count as over.
    await world.timers.begun(54);
    pass(world, 54);
    expect(await long).toMatchObject({ kind: 'accepted' });
    expect(await projectsOf(smsc)).toBe('AAABAA');
  });

  it('the parts that wait of a project at a rate hold up no text in parts of another, and few of its own begin', async () => {
    const { smsc, world } = await openSmsc({ window: 4 });
    const throttled = { status: ESME_RTHROTTLED };
    await smsc.tell({
      order: 'plan',
      submits: [{ status: 0 }, throttled, throttled, { hold: true }, { hold: true }, { hold: true }],
    });
    const long = world.provider.submit(aSubmission({ ...OF_A, text: THREE_PARTS }));
    await world.timers.begun(PUT_OFF_PART_WAIT_MS);
    await responded(smsc, world);
    const ofA = (index: number) =>
      world.provider.submit(aSubmission({ ...OF_A, smsId: anSmsId(index), text: THREE_PARTS }));
    const [second, third] = [ofA(1), ofA(2)];
    await world.timers.begun(FIRST_WAIT_MS);
    // Two parts are left, fewer than go out in a second: the second one begins, and with its parts four are left.
    pass(world, FIRST_WAIT_MS);
    await smsc.seen('submit', 4);
    const others = submitAll(
      world.provider,
      messages(2, THREE_PARTS).map((each) => ({ ...each, ...OF_B })),
    );
    // The first parts of both, while neither has a response.
    await smsc.seen('submit', 6);
    await smsc.tell({ order: 'release' });
    expect(await others).toMatchObject(Array(2).fill({ kind: 'accepted' }));
    expect((await projectsOf(smsc)).slice(3)).toBe('ABBBBBB');
    world.uptimeMs += aSubmission().attemptTimeoutMs;
    world.timers.finish();
    expect(await Promise.all([long, second, third])).toMatchObject([
      { kind: 'unknown' },
      { kind: 'unknown' },
      { kind: 'rejected' },
    ]);
  });

  it('the SMPP provider begins no more long texts than it can soon go on with, and short ones meanwhile', async () => {
    const { smsc, world } = await openSmsc({ window: 3 });
    await smsc.tell({ order: 'plan', submits: [{ hold: true }, { hold: true }, { hold: true }] });
    const long = messages(4, THREE_PARTS).map((each) => ({ ...each, ...OF_A }));
    const backlog = submitAll(world.provider, long);
    await smsc.seen('submit', 2);
    const short = world.provider.submit(aSubmission(OF_B));
    await smsc.seen('submit', 3);
    expect(await projectsOf(smsc)).toBe('AAB');
    await smsc.tell({ order: 'release' });
    expect([await short, ...(await backlog)]).toMatchObject(Array(5).fill({ kind: 'accepted' }));
    expect(await smsc.submits()).toHaveLength(13);
  });

  it('long texts of a project that get no response hold up no long text of another one', async () => {
    const { smsc, world } = await openSmsc({ window: 10 });
    const held = { hold: true } as const;
    await smsc.tell({ order: 'plan', submits: [held, held, held, held, held, held] });
    const silent = submitAll(
      world.provider,
      messages(8, THREE_PARTS).map((each) => ({ ...each, ...OF_A })),
    );
    await smsc.seen('submit', 5);
    const other = world.provider.submit(aSubmission({ ...OF_B, text: THREE_PARTS }));
    await smsc.seen('submit', 6);
    expect(await projectsOf(smsc)).toBe('AAAAAB');
    await smsc.tell({ order: 'release' });
    expect([await other, ...(await silent)]).toMatchObject(Array(9).fill({ kind: 'accepted' }));
  });

  it('the time to respond ends no text whose parts wait for our limit, and begins anew with each part', async () => {
    const { smsc, world } = await openSmsc({ perSecond: 1 });
    await smsc.tell({ order: 'plan', submits: [{ status: 0 }, { hold: true }] });
    const submitting = world.provider.submit(aSubmission({ text: THREE_PARTS }));
    await smsc.seen('submit', 1);
    await responded(smsc, world);
    world.timers.expire(PROVIDER_WAIT_MS);
    world.timers.expire(RESPONSE_TIMEOUT_MS);
    world.timers.expire(1_000);
    await smsc.seen('submit', 2);
    world.timers.expire(RESPONSE_TIMEOUT_MS);
    expect(await submitting).toMatchObject({ kind: 'unknown', reason: 'The SMSC did not respond' });
    expect(await smsc.submits()).toHaveLength(2);
  });

  it('nothing of a text is sent once the time of its attempt is over, whatever became of the clock', async () => {
    const { smsc, world } = await openSmsc({ perSecond: 1 });
    const submission = aSubmission({ text: THREE_PARTS });
    const submitting = world.provider.submit(submission);
    await smsc.seen('submit', 1);
    await responded(smsc, world);
    world.clock.at -= HOUR_MS;
    world.uptimeMs += submission.attemptTimeoutMs - 1;
    world.timers.expire(1_000);
    await smsc.seen('submit', 2);
    world.uptimeMs += 1;
    world.timers.expire(1_000);
    expect(await submitting).toMatchObject({
      kind: 'unknown',
      reason: 'The time of the attempt was over before all parts were sent',
      providerMessageIds: [],
    });
    expect(await smsc.submits()).toHaveLength(2);
  });

  it('the SMPP provider sends all parts of a message over one bind, and messages over all of them', async () => {
    const { smsc, world } = await openSmsc({ binds: 2, window: 2 });
    await submitAll(world.provider, messages(20, THREE_PARTS));
    const submits = await smsc.seen('submit', 60);
    const binds = new Map<string, Set<number>>();
    for (const { short_message, connection } of submits) {
      const reference = short_message.slice(6, 8);
      binds.set(reference, (binds.get(reference) ?? new Set()).add(connection));
    }
    expect([...binds.values()].map((connections) => connections.size)).toEqual(Array(20).fill(1));
    expect(new Set(submits.map(({ connection }) => connection))).toEqual(new Set([1, 2]));
  });
});

describeWithSmsc('the SMPP provider and an SMSC that is away', () => {
  it('the SMPP provider rejects as busy at once when no bind is up', async () => {
    const world = aWorld(1);
    await world.begin();
    expect(await world.provider.submit(aSubmission())).toEqual({
      ...BUSY,
      reason: 'The SMSC is not connected',
    });
  });

  it('a message without a response when the connection ends is unknown, and is not sent again', async () => {
    const { smsc, world } = await openSmsc({ window: 1 });
    await smsc.tell({ order: 'plan', submits: [{ close: true }] });
    expect(await submitAll(world.provider, messages(2))).toEqual([
      {
        kind: 'unknown',
        reason: 'The connection to the SMSC ended before its response',
        providerMessageIds: [],
      },
      { ...BUSY, reason: 'The SMSC is not connected' },
    ]);
    await reconnected(world);
    expect(await smsc.submits()).toHaveLength(1);
  });

  it('a message that the SMSC does not respond to is unknown after eight seconds', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'plan', submits: [{ silent: true }] });
    const submitting = submitAll(world.provider, messages(2));
    await smsc.seen('submit', 2);
    // Its receipt comes after the response to the second message.
    await smsc.tell({ order: 'receipt', id: '77', stat: 'DELIVRD' });
    await world.came(1);
    world.timers.expire(RESPONSE_TIMEOUT_MS);
    expect(await submitting).toMatchObject([
      { kind: 'unknown', reason: 'The SMSC did not respond', providerMessageIds: [] },
      { kind: 'accepted' },
    ]);
    // It responded to the other message, so it is there.
    expect(world.provider.health().ok).toBe(true);
    expect(smsc.of('enquire_link')).toEqual([]);
  });

  it('the id of a message whose response comes after eight seconds is told as an acceptance', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'plan', submits: [{ hold: true }] });
    const submission = aSubmission();
    const submitting = world.provider.submit(submission);
    await smsc.seen('submit');
    world.timers.expire(RESPONSE_TIMEOUT_MS);
    expect(await submitting).toMatchObject({ kind: 'unknown', providerMessageIds: [] });
    await smsc.tell({ order: 'release' });
    await world.came(1);
    const { smsId, attemptNumber, channel } = submission;
    const providerMessageIds = [expect.stringMatching(/./)];
    expect(world.events).toEqual([
      { kind: 'accepted', acceptance: { smsId, attemptNumber, channel, providerMessageIds } },
    ]);
  });

  it('an acceptance that comes late waits for no receipts, however many wait, and is told while the provider is closed', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'plan', submits: [{ hold: true }] });
    const submitting = world.provider.submit(aSubmission());
    await smsc.seen('submit');
    world.timers.expire(RESPONSE_TIMEOUT_MS);
    await submitting;
    world.holdReceipts();
    await smsc.tell({ order: 'receipt', id: '1', stat: 'DELIVRD' });
    await world.called(1);
    const closing = world.provider.close();
    await smsc.tell({ order: 'release' });
    await world.came(1);
    expect(world.events).toMatchObject([{ kind: 'accepted' }]);
    world.releaseAlways();
    await closing;
  });

  it('a message in parts is told as accepted late once the SMSC has taken every part', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'plan', submits: [{ status: 0 }, { hold: true }, { hold: true }] });
    const submitting = world.provider.submit(aSubmission({ text: THREE_PARTS }));
    await smsc.seen('submit', 3);
    world.timers.expire(RESPONSE_TIMEOUT_MS);
    expect(await submitting).toMatchObject({ kind: 'unknown', providerMessageIds: [] });
    await smsc.tell({ order: 'release' });
    await world.came(1);
    expect(world.events).toMatchObject([
      {
        kind: 'accepted',
        acceptance: { providerMessageIds: [/./, /./, /./].map((id) => expect.stringMatching(id)) },
      },
    ]);
  });

  it('a message in parts is not told as accepted late while the SMSC has taken some of them', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'plan', submits: [{ status: 0 }, { silent: true }, { hold: true }] });
    const submitting = world.provider.submit(aSubmission({ text: THREE_PARTS }));
    await smsc.seen('submit', 3);
    world.timers.expire(RESPONSE_TIMEOUT_MS);
    await submitting;
    await smsc.tell({ order: 'release' });
    await smsc.tell({ order: 'receipt', id: '77', stat: 'DELIVRD' });
    await world.came(1);
    expect(world.events.map(({ kind }) => kind)).toEqual(['receipt']);
  });

  it('the SMPP provider sends nothing more to an SMSC that is silent until it responds again', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'plan', submits: [{ silent: true }] });
    await smsc.tell({ order: 'enquiries', responds: false });
    const submitting = world.provider.submit(aSubmission());
    await smsc.seen('submit');
    world.timers.expire(RESPONSE_TIMEOUT_MS);
    await submitting;
    await smsc.seen('enquire_link');
    expect(world.provider.health()).toEqual({
      ok: false,
      detail: `0 of 1 binds up: The SMSC does not respond`,
    });
    expect(await world.provider.submit(aSubmission())).toMatchObject(BUSY);
    await smsc.tell({ order: 'enquire_link' });
    await smsc.seen('other');
    expect(await world.provider.submit(aSubmission())).toMatchObject({ kind: 'accepted' });
  });

  it.each(['close', 'unbind'] as const)(
    'a text in parts goes on over the other bind after the SMSC ends its own with %s',
    async (order) => {
      const { smsc, world, begun, connection } = await withThrottledPart({ binds: 2 });
      await smsc.tell({ order, connection });
      await world.timers.begun(750);
      pass(world, PUT_OFF_PART_WAIT_MS);
      expect(await begun).toMatchObject({ kind: 'accepted', providerMessageIds: { length: 4 } });
      expect((await smsc.submits()).map((each) => each.connection === connection)).toEqual([
        true,
        true,
        true,
        true,
        false,
      ]);
    },
  );

  it('a text in parts goes on over the other bind while parts of it wait for their responses', async () => {
    const { smsc, world, begun, connection } = await withThrottledPart({ binds: 2 }, { hold: true });
    await smsc.tell({ order: 'unbind', connection });
    await world.timers.begun(UNBOUND_TIMEOUT_MS);
    pass(world, PUT_OFF_PART_WAIT_MS);
    await smsc.seen('submit', 5);
    await smsc.tell({ order: 'release' });
    expect(await begun).toMatchObject({ kind: 'accepted', providerMessageIds: { length: 4 } });
    expect((await smsc.submits()).at(-1)?.connection).not.toBe(connection);
  });

  it('a text in parts goes on once its only bind is open again', async () => {
    const { smsc, world, begun } = await withThrottledPart();
    await smsc.tell({ order: 'close' });
    await reconnected(world);
    pass(world, PUT_OFF_PART_WAIT_MS);
    expect(await begun).toMatchObject({ kind: 'accepted', providerMessageIds: { length: 4 } });
  });

  it('a text in parts is unknown when no bind is open until its time is over, and no receipt can deliver it', async () => {
    const { smsc, world, begun } = await withThrottledPart();
    await smsc.kill();
    await world.timers.begun(750);
    world.uptimeMs += aSubmission().attemptTimeoutMs;
    world.timers.expire(750);
    expect(await begun).toEqual({
      kind: 'unknown',
      reason: 'The connection to the SMSC ended',
      providerMessageIds: [],
    });
  });

  it('the SMPP provider goes on over the other bind when one ends', async () => {
    const smsc = await startSmsc();
    const world = aWorld(smsc.port, { binds: 2, window: 1 });
    await world.start(2);
    await smsc.tell({ order: 'plan', submits: [{ close: true }] });
    const results = await submitAll(world.provider, messages(3));
    expect(results.map(({ kind }) => kind).sort()).toEqual(['accepted', 'accepted', 'unknown']);
    expect(world.provider.health()).toEqual({
      ok: true,
      detail: `1 of 2 binds up: The SMSC closed the connection`,
    });
  });
});

describeWithSmsc('the SMPP provider is closed', () => {
  it('the SMPP provider unbinds when it is closed, and leaves no timer', async () => {
    const { smsc, world } = await openSmsc({ binds: 2, perSecond: 10 });
    await world.provider.submit(aSubmission());
    await world.provider.close();
    await smsc.seen('unbind', 2);
    await smsc.seen('closed', 2);
    expect(world.timers.all).toEqual([]);
    expect(world.provider.health().ok).toBe(false);
    expect(await world.provider.submit(aSubmission())).toMatchObject(BUSY);
  });

  it('every message that waits has a result when the SMPP provider is closed', async () => {
    const { smsc, world } = await openSmsc({ window: 1 });
    await smsc.tell({ order: 'plan', submits: [{ silent: true }] });
    const submitting = submitAll(world.provider, messages(2));
    await smsc.seen('submit');
    await world.provider.close();
    expect(await submitting).toMatchObject([{ kind: 'unknown' }, BUSY]);
    expect(world.timers.all).toEqual([]);
  });

  it('a text of which the SMSC throttles a later part is sent whole while the SMPP provider is closed', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'plan', submits: [{ status: 0 }, { status: ESME_RTHROTTLED }] });
    const begun = world.provider.submit(aSubmission({ text: 'a'.repeat(200) }));
    await world.timers.begun(PUT_OFF_PART_WAIT_MS);
    await responded(smsc, world);
    const closing = world.provider.close();
    expect(await world.provider.submit(aSubmission({ smsId: anSmsId(1) }))).toMatchObject({ cause: 'busy' });
    pass(world, PUT_OFF_PART_WAIT_MS);
    expect(await begun).toMatchObject({ kind: 'accepted' });
    await closing;
    expect(await smsc.submits()).toHaveLength(3);
    expect(world.timers.all).toEqual([]);
  });

  it('the SMPP provider closes at once when the time of the last text in parts is over', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'plan', submits: [{ status: 0 }, { status: ESME_RTHROTTLED }] });
    const begun = world.provider.submit(aSubmission({ text: 'a'.repeat(200), attemptTimeoutMs: 30_000 }));
    await world.timers.begun(PUT_OFF_PART_WAIT_MS);
    await responded(smsc, world);
    const closing = world.provider.close();
    world.uptimeMs += 30_000;
    world.timers.expire(PUT_OFF_PART_WAIT_MS);
    expect(await begun).toMatchObject({ kind: 'unknown', cause: 'limited' });
    await closing;
  });

  it('a text in parts whose bind ends while the SMPP provider is closed is sent whole over the next one', async () => {
    const { smsc, world, begun } = await withThrottledPart();
    await smsc.tell({ order: 'close' });
    await world.timers.begun(750);
    const closing = world.provider.close();
    await reconnected(world);
    pass(world, PUT_OFF_PART_WAIT_MS);
    expect(await begun).toMatchObject({ kind: 'accepted', providerMessageIds: { length: 4 } });
    await closing;
    expect(world.timers.all).toEqual([]);
  });

  it('the SMPP provider closes although no bind opens for a text in parts', async () => {
    const { smsc, world, begun } = await withThrottledPart();
    await smsc.kill();
    await world.timers.begun(750);
    const closing = world.provider.close();
    pass(world, BEGUN_TIMEOUT_MS);
    await closing;
    expect(await begun).toMatchObject({ kind: 'unknown', providerMessageIds: [] });
    expect(world.timers.all).toEqual([]);
  });

  it('the SMPP provider closes although the SMSC does not respond to a later part', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'plan', submits: [{ status: 0 }, { hold: true }] });
    const begun = world.provider.submit(aSubmission({ text: 'a'.repeat(200) }));
    await smsc.seen('submit', 2);
    const closing = world.provider.close();
    pass(world, BEGUN_TIMEOUT_MS);
    await closing;
    expect(await begun).toMatchObject({ kind: 'unknown' });
  });

  it('the SMPP provider closes although the SMSC does not respond to its unbind', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'enquiries', responds: false });
    const closing = world.provider.close();
    await smsc.seen('unbind');
    world.timers.expire(CLOSE_TIMEOUT_MS);
    await closing;
    await smsc.seen('closed');
    expect(world.timers.all).toEqual([]);
  });

  it('the SMPP provider opens no bind after it was closed while it waited to connect again', async () => {
    const smsc = await startSmsc();
    await smsc.kill();
    const world = aWorld(smsc.port);
    await world.begin();
    expect(world.timers.all).toEqual([750]);
    await world.provider.close();
    expect(world.timers.all).toEqual([]);
  });
});

/** Lets the wait of a bind end, and resolves once it is open again. */
async function reconnected(world: ReturnType<typeof aWorld>): Promise<void> {
  const before = world.logger.count('smpp_bind_opened');
  await world.timers.begun(750);
  world.timers.expire(750);
  await world.logger.seen('smpp_bind_opened', before + 1);
}

/** A text in four parts of which the last was throttled, and the connection that it was begun over. */
async function withThrottledPart(
  given: Partial<SmppProviderOptions> = {},
  third: SubmitPlan = { status: 0 },
) {
  const { smsc, world } = await openSmsc(given);
  const throttled = { status: ESME_RTHROTTLED };
  await smsc.tell({ order: 'plan', submits: [{ status: 0 }, { status: 0 }, third, throttled] });
  const begun = world.provider.submit(aSubmission({ text: 'a'.repeat(600) }));
  await world.timers.begun(PUT_OFF_PART_WAIT_MS);
  const [first] = await smsc.submits();
  return { smsc, world, begun, connection: first?.connection };
}
