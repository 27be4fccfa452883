import { afterEach, describe, expect, it } from 'vitest';
import type { SmppProviderOptions } from '../../../src/adapters/smpp/smpp-provider.ts';
import { aSubmission } from '../../support/builders.ts';
import { SMSC_MISSING, Smsc } from './peer/smsc.ts';
import { SmppWorld } from './smpp-world.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function open(given: Partial<SmppProviderOptions> = {}) {
  const smsc = await Smsc.start();
  closing.push(() => smsc.kill());
  const world = new SmppWorld(smsc.port, given);
  closing.unshift(() => world.provider.close());
  await world.start(given.binds ?? 1);
  return { smsc, world };
}

describe.skipIf(SMSC_MISSING !== null)(
  SMSC_MISSING === null ? 'SmppProvider' : `SmppProvider (skipped: ${SMSC_MISSING})`,
  () => {
    it('the SMPP provider submits a message and brings its receipt', async () => {
      const { smsc, world } = await open();
      await smsc.tell({ order: 'ids', submit: 'm%d', receipt: 'm%d' });
      const [result] = await world.provider.submit([aSubmission({ text: 'Your code is 1234' })]);
      const [submit] = await smsc.seen('submit');
      expect(result).toEqual({ kind: 'accepted', providerMessageIds: [submit?.id] });
      await smsc.tell({ order: 'receipt', id: submit?.id ?? '', stat: 'DELIVRD' });
      await world.came(1);
      expect(world.events).toEqual([
        {
          kind: 'receipt',
          receipt: { channel: 'sms', providerMessageId: submit?.id, receipt: { kind: 'delivered' } },
        },
      ]);
      expect(await smsc.seen('deliver_sm_resp')).toMatchObject([{ status: 0 }]);
    });
  },
);
