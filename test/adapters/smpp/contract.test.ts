import { afterEach, describe, expect, it } from 'vitest';
import { SUBMIT_TIMEOUT_MS } from '../../../src/domain/providers/submit-result.ts';
import { brokenPromises, type ProviderUnderTest } from '../../contracts/channel-provider.contract.ts';
import { anSmsId, aSubmission, aTestNumber } from '../../support/builders.ts';
import { SMSC_MISSING, Smsc, type SubmitPlan } from '../../support/smsc.ts';
import { SmppWorld } from './smpp-world.ts';

/** How often the contract opens a provider. */
const OPENED_MAX = 4;

const ESME_RINVDSTADR = 0x0b;
const TAKEN: SubmitPlan = { status: 0 };
const REJECTED: SubmitPlan = { status: ESME_RINVDSTADR };
/** A generic_nack without a reason. */
const UNCLEAR: SubmitPlan = { nack: 0 };
const LONG_TEXT = 'a'.repeat(161);

const ROWS = [
  { phoneNumber: aTestNumber('0001'), text: 'Hello', plans: [TAKEN], kind: 'accepted' },
  { phoneNumber: aTestNumber('0002'), text: 'Hello', plans: [REJECTED], kind: 'rejected' },
  { phoneNumber: aTestNumber('0003'), text: 'Hello', plans: [UNCLEAR], kind: 'unknown' },
  { phoneNumber: aTestNumber('0004'), text: LONG_TEXT, plans: [TAKEN], kind: 'accepted' },
] as const;

const running: Smsc[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((smsc) => smsc.kill()));
});

describe.skipIf(SMSC_MISSING !== null)(
  SMSC_MISSING === null ? 'SmppProvider' : `SmppProvider (skipped: ${SMSC_MISSING})`,
  () => {
    it('the SMPP provider keeps the contract of channel providers', { timeout: 60_000 }, async () => {
      const idle = await Promise.all(Array.from({ length: OPENED_MAX }, start));
      expect(await brokenPromises(() => underTest(idle.pop()))).toEqual([]);
    });
  },
);

async function start(): Promise<Smsc> {
  const smsc = await Smsc.start();
  running.push(smsc);
  await smsc.tell({ order: 'receipts', stat: 'DELIVRD' });
  for (const { phoneNumber, plans } of ROWS) {
    await smsc.tell({ order: 'number', number_called: phoneNumber, submits: plans });
  }
  return smsc;
}

function underTest(smsc: Smsc | undefined): ProviderUnderTest {
  if (smsc === undefined) throw new Error(`The contract opens more than ${OPENED_MAX} providers`);
  const { provider } = new SmppWorld(smsc.port);
  return {
    provider,
    submissions: ROWS.map(({ phoneNumber, text, kind }, index) => ({
      submission: aSubmission({ smsId: anSmsId(index), phoneNumber, text }),
      kind,
    })),
    // A part is not the message again: only what begins one counts.
    carried: () =>
      smsc
        .of('submit')
        .filter(({ esm_class, short_message }) => esm_class === 0 || short_message.slice(10, 12) === '01')
        .map(({ destination_addr }) => destination_addr),
    letEventsCome: () => smsc.redeliver(),
    promptMs: SUBMIT_TIMEOUT_MS,
  };
}
