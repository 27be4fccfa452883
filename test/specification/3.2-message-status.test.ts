import { expect, it, onTestFinished, test } from 'vitest';
import { verification } from '../support/seeds.ts';
import { accepted, DAY, HOUR, MINUTE, NUMBER, SECOND, startWith, track } from './world.ts';

test.each<
  [rule: string, number: string, provider: string, afterMs: number, status: string, isFinal: boolean]
>([
  ['a message that a channel accepted is sent', '9990000000003', 'sms', 0, 'sent', false],
  [
    'a message with a delivered receipt is delivered, finally',
    '9990000000001',
    'sms',
    SECOND,
    'delivered',
    true,
  ],
  [
    'a whatsapp message may become read after delivered',
    '9990000000004',
    'whatsapp',
    2 * SECOND,
    'read',
    true,
  ],
  [
    'a read receipt without a delivered one counts as both',
    '9990000000005',
    'whatsapp',
    SECOND,
    'read',
    true,
  ],
  ['an sms never becomes read', '9990000000005', 'sms', SECOND, 'delivered', true],
  ['a message that every channel rejects has failed, finally', '9990000000006', 'auto', 0, 'failed', true],
  ['receipts in reverse order never lower the status', '9990000000013', 'whatsapp', 2 * SECOND, 'read', true],
])('3.2 the status follows this rule: %s', async (_, number, provider, afterMs, status, isFinalStatus) => {
  const service = await startWith();
  const smsId = await accepted(service, verification(number, { provider }));
  await service.settle();
  await service.advance(afterMs);
  expect(await track(service, smsId)).toMatchObject({ status, isFinalStatus });
});

test.each([
  ['sms', 24 * HOUR],
  ['whatsapp', 72 * HOUR],
])(
  '3.2 a sent message without a receipt becomes final when the window of %s closes',
  async (provider, windowMs) => {
    const service = await startWith();
    const smsId = await accepted(service, verification('9990000000003', { provider }));
    await service.advance(windowMs - SECOND);
    expect(await track(service, smsId)).toMatchObject({ status: 'sent', isFinalStatus: false });
    await service.advance(SECOND);
    expect(await track(service, smsId)).toMatchObject({ status: 'sent', isFinalStatus: true });
    await service.advance(DAY);
    await service.assertQuiet();
  },
);

it('3.2 a silent channel of a chain is left after 30 seconds for a code, and the next one delivers', async () => {
  const service = await startWith();
  const smsId = await accepted(service, verification('9990000000010', { provider: 'whatsapp-sms' }));
  await service.advance(30 * SECOND - 1);
  expect(await track(service, smsId)).toMatchObject({ lastChannel: 'whatsapp', status: 'sent' });
  await service.advance(2 * SECOND);
  expect(await track(service, smsId)).toMatchObject({ lastChannel: 'sms', status: 'delivered' });
});

it('3.2 a channel counts as tried once its result is known, and succeeds until its time is over', async () => {
  const service = await startWith();
  let release: (outcome: null) => void = () => {};
  const held = new Promise<null>((resolve) => {
    release = resolve;
  });
  onTestFinished(() => release(null));
  const submitted = new Promise<void>((resolve) => {
    service.script(({ channel }) => {
      if (channel !== 'whatsapp') return null;
      resolve();
      return held;
    });
  });
  const smsId = await accepted(service, verification('9990000000010', { provider: 'whatsapp-sms' }));
  await submitted;
  const flow = async () => (await track(service, smsId)).channelFlow;
  expect(await flow()).toEqual([
    { channel: 'whatsapp', tried: false },
    { channel: 'sms', tried: false },
  ]);
  release(null);
  await service.settle();
  expect(await flow()).toEqual([
    { channel: 'whatsapp', tried: true, success: true },
    { channel: 'sms', tried: false },
  ]);
  await service.advance(MINUTE);
  expect(await flow()).toEqual([
    { channel: 'whatsapp', tried: true, success: false },
    { channel: 'sms', tried: true, success: true },
  ]);
});

it('3.2 a late receipt after the refund is kept in the trace and never charged', async () => {
  const service = await startWith();
  service.script(() => ({
    result: 'rejected',
    receipts: [{ afterMs: SECOND, receipt: { kind: 'delivered' } }],
  }));
  const smsId = await accepted(service, verification(NUMBER, { provider: 'sms' }));
  await service.advance(MINUTE);
  expect(await track(service, smsId)).toMatchObject({ status: 'failed', isFinalStatus: true });
  expect((await service.request('/info')).body).toMatchObject({ credit: 15_000 });
});
