import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failWith } from '../support/cloud-api-peer.ts';
import { verification } from '../support/seeds.ts';
import { SMSC_MISSING } from '../support/smsc.ts';
import { ChannelsWorld } from './channels-world.ts';

const NUMBER = '9647701234567';
const SECOND_MS = 1_000;
/** The price of an sms to this operator, IQD. */
const SMS_PRICE = 80;

const named = (title: string) => (SMSC_MISSING === null ? title : `${title} (skipped: ${SMSC_MISSING})`);

describe.skipIf(SMSC_MISSING !== null)(named('a code over whatsapp, telegram and sms'), () => {
  let world: ChannelsWorld;
  beforeEach(async () => {
    world = await ChannelsWorld.open();
  });
  afterEach(() => world.close());

  const send = () => world.send(verification(NUMBER, { provider: 'whatsapp-telegram-sms' }));

  /** The SMSC reports that it delivered what it took; the code is delivered and charged once. */
  async function deliveredBySms(smsId: string, creditBefore: number): Promise<void> {
    const [submit] = await world.smsc.seen('submit');
    expect(submit).toMatchObject({ destination_addr: NUMBER, source_addr: 'Barid' });
    await world.service.advance(0);
    expect(await world.track(smsId)).toMatchObject({ status: 'sent', lastChannel: 'sms' });
    await world.smsc.tell({ order: 'receipt', id: submit?.id ?? '', stat: 'DELIVRD' });
    await world.smsc.seen('deliver_sm_resp');
    await world.service.advance(0);
    expect(await world.track(smsId)).toMatchObject({
      status: 'delivered',
      lastChannel: 'sms',
      isFinalStatus: true,
      channelFlow: [
        { channel: 'whatsapp', tried: true, success: false },
        { channel: 'telegram', tried: true, success: false },
        { channel: 'sms', tried: true, success: true },
      ],
    });
    expect(await world.credit()).toBe(creditBefore - SMS_PRICE);
    await world.service.assertQuiet();
    expect(await world.smsc.submits()).toHaveLength(1);
  }

  it('a code that whatsapp and telegram reject is delivered over SMPP and charged once', async () => {
    const credit = await world.credit();
    world.meta.behave(failWith(131026));
    world.telegram.misbehave(`+${NUMBER}`, { kind: 'error', code: 'PHONE_NUMBER_NOT_AVAILABLE' });
    const smsId = await send();
    expect(world.meta.messages()).toHaveLength(1);
    await deliveredBySms(smsId, credit);
    const { attempts } = (await world.service.message(smsId)) ?? { attempts: [] };
    expect(attempts.map(({ channel, state, reason }) => [channel, state, reason])).toEqual([
      ['whatsapp', 'rejected', expect.stringContaining('131026')],
      ['telegram', 'rejected', expect.stringContaining('PHONE_NUMBER_NOT_AVAILABLE')],
      ['sms', 'delivered', null],
    ]);
  });

  it('a code that whatsapp leaves without a receipt goes on when its time is over, and is charged once', async () => {
    const credit = await world.credit();
    world.telegram.misbehave(`+${NUMBER}`, { kind: 'error', code: 'PHONE_NUMBER_NOT_AVAILABLE' });
    const smsId = await send();
    expect(await world.track(smsId)).toMatchObject({ status: 'sent', lastChannel: 'whatsapp' });
    await world.service.advance(30 * SECOND_MS);
    await deliveredBySms(smsId, credit);
  });
});
