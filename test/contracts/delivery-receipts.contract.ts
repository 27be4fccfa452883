import { beforeEach, expect, it } from 'vitest';
import { ApplyMessageEvents } from '../../src/application/attempts/apply-message-events.ts';
import {
  CorrelateReceipts,
  PARKED_RECEIPT_LIFETIME_MS,
  SUBMISSION_LIFETIME_MS,
  type SubmittedAttempt,
} from '../../src/application/attempts/correlate-receipts.ts';
import { RevokeAttempts } from '../../src/application/attempts/revoke-attempts.ts';
import { BackgroundWork } from '../../src/application/concurrency/background-work.ts';
import type { SubmissionReceipt } from '../../src/application/ports/provider-events.ts';
import type { UnitOfWork } from '../../src/application/ports/unit-of-work.ts';
import { depositEntry, holdEntry } from '../../src/domain/billing/ledger.ts';
import type { DeliveryReceipt } from '../../src/domain/providers/delivery-receipt.ts';
import { iqd } from '../../src/domain/shared/money.ts';
import { advanceMessagesWith } from '../support/advance-messages.ts';
import { aMessage, aNewAccount, anAttempt, anSmsId, aProject, HOUR_MS, NOW } from '../support/builders.ts';
import { LossyUnitOfWork } from '../support/lossy-unit-of-work.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { uncancelled } from '../support/uncancelled.ts';
import { MeetingPoint, type Storage, storageOfSuite } from './storage.ts';

/** Messages whose submit result and receipt come at the same moment. */
const RACES = 40;
/** How often two processes get each other's receipts, and how many of them at once. */
const CROSSINGS = 8;
const CROSSING_IDS = 20;
const DELIVERED: DeliveryReceipt = { kind: 'delivered' };

/** What recording submit results and delivery receipts promises, whichever comes first. */
export function deliveryReceiptsContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);
  const clock = { at: NOW, now: () => clock.at };

  beforeEach(() => {
    clock.at = NOW;
  });

  /** One process that records. */
  function aProcess(unitOfWork = new LossyUnitOfWork(storage.unitOfWork)) {
    const logger = new RecordingLogger();
    const applyMessageEvents = new ApplyMessageEvents({
      unitOfWork,
      correlateReceipts: new CorrelateReceipts({ clock }),
      advanceMessages: advanceMessagesWith({ clock }),
      revokeAttempts: new RevokeAttempts({
        channelProviders: { live: () => [] },
        background: new BackgroundWork({ logger }),
      }),
      wakeSignal: { wake() {} },
      resultRetryDelay: uncancelled(setImmediate),
      clock,
      logger,
    });
    return {
      unitOfWork,
      logger,
      submitted: (...attempts: readonly SubmittedAttempt[]) =>
        Promise.all(attempts.map((attempt) => applyMessageEvents.submitted(attempt))),
      received: (...receipts: readonly SubmissionReceipt[]) => applyMessageEvents.received(receipts),
    };
  }

  /** Messages whose only attempt is on its way to the provider, each with its hold. */
  async function dispatching(...numbers: readonly number[]): Promise<void> {
    await storage.run(async (stores) => {
      await stores.projects.insert([aProject()]);
      await stores.accounts.insert([aNewAccount()]);
      await stores.messages.insert(
        numbers.map((number) =>
          aMessage({
            smsId: anSmsId(number),
            channels: ['sms'],
            attempts: [anAttempt({ channel: 'sms', state: 'dispatching' })],
          }),
        ),
      );
      const projectId = aProject().id;
      await stores.ledger.post([depositEntry({ projectId, reference: 'opening', at: NOW }, iqd(800_000))]);
      await stores.ledger.post(
        numbers.map((number) =>
          holdEntry({ projectId, reference: anSmsId(number), at: NOW }, aMessage().cost),
        ),
      );
    });
  }

  const accepted = (number: number, ...providerMessageIds: readonly string[]): SubmittedAttempt => ({
    smsId: anSmsId(number),
    attemptNumber: 0,
    channel: 'sms',
    result: { kind: 'accepted', providerMessageIds },
  });
  const receipt = (providerMessageId: string, what = DELIVERED): SubmissionReceipt => ({
    channel: 'sms',
    providerMessageId,
    receipt: what,
  });
  const messageOf = async (number: number) => {
    const [message] = await storage.run((stores) => stores.messages.lock([anSmsId(number)]));
    return message;
  };
  const statusOf = async (number: number) => (await messageOf(number))?.status;
  const spent = async () => {
    const [account] = await storage.read((stores) => stores.accounts.byProjectIds([aProject().id]));
    return { held: account?.held, spent: account?.spent };
  };

  it('a receipt reaches the message whose attempt has its id', async () => {
    const { submitted, received } = aProcess();
    await dispatching(1, 2);
    await submitted(accepted(1, 'one'), accepted(2, 'two'));
    await received(receipt('two'));
    expect([await statusOf(1), await statusOf(2)]).toEqual(['sent', 'delivered']);
  });

  it('a receipt that comes before its submit result is parked, and applied with the result', async () => {
    const { submitted, received } = aProcess();
    await dispatching(1);
    await received(receipt('one'));
    expect(await statusOf(1)).toBe('pending');
    await submitted(accepted(1, 'one'));
    expect(await statusOf(1)).toBe('delivered');
    expect(await spent()).toEqual({ held: 0, spent: iqd(80) });
  });

  /** A receipt under an id of ours: it names its attempt. */
  const named = (number: number, what = DELIVERED, attemptNumber = 0): SubmissionReceipt => ({
    ...receipt(`gateway:${anSmsId(number)}-${attemptNumber}`, what),
    attempt: { smsId: anSmsId(number), attemptNumber },
  });

  it('a receipt that names its attempt counts without a submit result, and once with one that comes later', async () => {
    const { submitted, received } = aProcess();
    await dispatching(1, 2);
    await received(named(1), named(2), named(2));
    expect([await statusOf(1), await statusOf(2)]).toEqual(['delivered', 'delivered']);
    expect(await spent()).toEqual({ held: 0, spent: iqd(160) });
    await submitted({ ...accepted(2, `gateway:${anSmsId(2)}-0`), provider: 'gateway' });
    await received(named(2), named(1));
    expect(await spent()).toEqual({ held: 0, spent: iqd(160) });
    expect((await messageOf(2))?.attempts).toMatchObject([{ state: 'delivered', provider: 'gateway' }]);
  });

  it('a receipt that names a message or an attempt which does not exist changes nothing, and stops no other one', async () => {
    const { received, logger } = aProcess();
    await dispatching(1, 2);
    await received(named(9), named(1, DELIVERED, 1), named(1, DELIVERED, 9), named(2));
    expect([await statusOf(1), await statusOf(2)]).toEqual(['pending', 'delivered']);
    expect(logger.entries).toEqual([]);
  });

  it('a receipt of a provider that was passed over says nothing of the attempt of the next one', async () => {
    const { submitted, received } = aProcess();
    await dispatching(1);
    await submitted({ ...accepted(1, 'next:one'), provider: 'next' });
    await received(named(1), named(1, { kind: 'failed', reason: 'Busy' }));
    expect(await statusOf(1)).toBe('sent');
    await received(receipt('next:one'));
    expect(await spent()).toEqual({ held: 0, spent: iqd(80) });
  });

  it('a failure that names its attempt waits for the submit result, which says whose it is', async () => {
    const { submitted, received } = aProcess();
    await dispatching(1, 2);
    const failed = { kind: 'failed', reason: 'Absent' } as const;
    await received(named(1, failed), named(2, failed));
    expect([await statusOf(1), await statusOf(2)]).toEqual(['pending', 'pending']);
    await submitted({ ...accepted(1, `gateway:${anSmsId(1)}-0`), provider: 'gateway' });
    await submitted({ ...accepted(2, 'next:two'), provider: 'next' });
    expect([await statusOf(1), await statusOf(2)]).toEqual(['failed', 'sent']);
  });

  it('the charge of a provider reaches the attempt, also when its receipt came first, and no bill', async () => {
    const { submitted, received } = aProcess();
    await dispatching(1);
    const charge = { billable: true, model: 'PMP', category: 'utility' };
    await received(receipt('one', { kind: 'delivered', charge }));
    await submitted(accepted(1, 'one'));
    expect((await messageOf(1))?.attempts).toEqual([expect.objectContaining({ state: 'delivered', charge })]);
    expect(await spent()).toEqual({ held: 0, spent: iqd(80) });
  });

  it('a message is charged once when the same receipt comes twice before its submit result, and twice after', async () => {
    const { submitted, received } = aProcess();
    await dispatching(1);
    await received(receipt('one'), receipt('one'));
    await submitted(accepted(1, 'one'));
    await received(receipt('one'), receipt('one'));
    expect(await statusOf(1)).toBe('delivered');
    expect(await spent()).toEqual({ held: 0, spent: iqd(80) });
  });

  it('an early receipt stays parked while transactions of its submit result are lost, which is tried again', async () => {
    const { unitOfWork, submitted, received } = aProcess();
    await dispatching(1);
    await received(receipt('one'));
    unitOfWork.losses = ['before-commit', 'before-commit', 'before-commit', 'after-commit', 'after-commit'];
    await submitted(accepted(1, 'one'));
    expect(await statusOf(1)).toBe('delivered');
    // Each try has one repeat: the sixth transaction is the repeat of the third try.
    expect([unitOfWork.losses, unitOfWork.transactions]).toEqual([[], 6 + 2]);
    expect(await spent()).toEqual({ held: 0, spent: iqd(80) });
  });

  it('a receipt that comes at the moment of its submit result is not lost, from whichever process', async () => {
    const numbers = Array.from({ length: RACES }, (_, index) => index + 1);
    await dispatching(...numbers);
    const processes = [aProcess(), aProcess(), aProcess()] as const;
    for (const number of numbers) {
      const start = new MeetingPoint(2);
      const [worker, gateway] = [processes[number % 3], processes[(number + 1) % 3]];
      const submitting = start.meet().then(() => worker?.submitted(accepted(number, `id-${number}`)));
      const receiving = start.meet().then(() => gateway?.received(receipt(`id-${number}`)));
      await Promise.all([submitting, receiving]);
    }
    const statuses = await Promise.all(numbers.map(statusOf));
    expect(statuses).toEqual(numbers.map(() => 'delivered'));
    expect(await spent()).toEqual({ held: 0, spent: iqd(80 * RACES) });
  });

  it('two processes record what each has submitted and the other has receipts for, without a deadlock', async () => {
    const numbers = Array.from({ length: 2 * CROSSINGS * CROSSING_IDS }, (_, index) => index + 1);
    await dispatching(...numbers);
    let tries = 0;
    const counting: UnitOfWork = {
      run: (work, durability) =>
        storage.unitOfWork.run((stores) => {
          tries += 1;
          return work(stores);
        }, durability),
      read: (work) => storage.unitOfWork.read(work),
      ping: () => storage.unitOfWork.ping(),
    };
    const [one, other] = [aProcess(new LossyUnitOfWork(counting)), aProcess(new LossyUnitOfWork(counting))];
    for (let crossing = 0; crossing < CROSSINGS; crossing += 1) {
      const crossed = numbers.slice(2 * crossing * CROSSING_IDS, 2 * (crossing + 1) * CROSSING_IDS);
      const [odd, even] = [
        crossed.filter((number) => number % 2),
        crossed.filter((number) => number % 2 === 0),
      ];
      await Promise.all([
        one.submitted(...odd.map((number) => accepted(number, `id-${number}`))),
        one.received(...even.map((number) => receipt(`id-${number}`))),
        other.submitted(...even.map((number) => accepted(number, `id-${number}`))),
        other.received(...odd.map((number) => receipt(`id-${number}`))),
      ]);
    }
    expect(tries).toBe(one.unitOfWork.transactions + other.unitOfWork.transactions);
    expect(await spent()).toEqual({ held: 0, spent: iqd(80 * numbers.length) });
  });

  it('a message of several parts is delivered when every part is', async () => {
    const { submitted, received } = aProcess();
    await dispatching(1);
    await submitted(accepted(1, 'part-1', 'part-2'));
    await received(receipt('part-2'), receipt('part-2'));
    expect(await statusOf(1)).toBe('sent');
    await received(receipt('part-1'));
    expect(await statusOf(1)).toBe('delivered');
  });

  it('a message of several parts has failed when one part has, early receipts included', async () => {
    const { submitted, received } = aProcess();
    await dispatching(1);
    await received(receipt('part-1'), receipt('part-2', { kind: 'failed', reason: 'Lost\u0000 part' }));
    await submitted(accepted(1, 'part-1', 'part-2'));
    expect(await messageOf(1)).toMatchObject({ status: 'failed', errorReason: 'Lost  part' });
    expect(await spent()).toEqual({ held: 0, spent: 0 });
  });

  it('a receipt is matched under an id that no database keeps as it is', async () => {
    const { submitted, received } = aProcess();
    await dispatching(1);
    await submitted(accepted(1, 'odd\u0000id'));
    await received(receipt('odd\u0000id'));
    expect(await statusOf(1)).toBe('delivered');
  });

  it('a receipt reaches an attempt whose outcome is unknown but whose id is known', async () => {
    const { submitted, received } = aProcess();
    await dispatching(1);
    const result = { kind: 'unknown', reason: 'No response', providerMessageIds: ['one'] } as const;
    await submitted({ ...accepted(1), result });
    await received(receipt('one'));
    expect(await statusOf(1)).toBe('delivered');
  });

  it('a receipt under an unknown id, or under an id of another channel, is ignored', async () => {
    const { submitted, received, logger } = aProcess();
    await dispatching(1);
    await submitted(accepted(1, 'one'));
    await received(receipt('none'), { ...receipt('one'), channel: 'whatsapp' });
    expect(await statusOf(1)).toBe('sent');
    expect(logger.entries).toEqual([]);
  });

  it('a receipt that was parked an hour ago does not count for a message that gets its id later', async () => {
    const { submitted, received } = aProcess();
    await dispatching(1, 2);
    await received(receipt('one'), receipt('two'));
    clock.at = NOW + HOUR_MS - 1;
    await submitted(accepted(1, 'one'));
    clock.at = NOW + HOUR_MS;
    await submitted(accepted(2, 'two'));
    expect([await statusOf(1), await statusOf(2)]).toEqual(['delivered', 'sent']);
  });

  it('a receipt that was parked an hour ago does not count with one that comes early under its id', async () => {
    const { submitted, received } = aProcess();
    await dispatching(1);
    await received(receipt('one', { kind: 'failed', reason: 'Of another message' }));
    clock.at = NOW + HOUR_MS;
    await received(receipt('one'));
    await submitted(accepted(1, 'one'));
    expect(await statusOf(1)).toBe('delivered');
  });

  it('an id is kept for four days, and an early receipt for an hour', async () => {
    expect(SUBMISSION_LIFETIME_MS).toBe(96 * HOUR_MS);
    expect(PARKED_RECEIPT_LIFETIME_MS).toBe(HOUR_MS);
    const { submitted, received } = aProcess();
    await dispatching(1, 2, 3);
    await submitted(accepted(1, 'one'));
    await received(receipt('two'));
    clock.at = NOW + HOUR_MS;
    // Recording anything sweeps what is expired: first the receipt, later the id.
    await submitted(accepted(3, 'three'));
    await submitted(accepted(2, 'two'));
    expect(await statusOf(2)).toBe('sent');
    clock.at = NOW + 96 * HOUR_MS - 1;
    await received(receipt('nobody'));
    await received(receipt('one'));
    expect(await statusOf(1)).toBe('delivered');
    clock.at = NOW + 96 * HOUR_MS;
    await received(receipt('nobody either'));
    expect(
      await storage.read(({ submissions }) =>
        submissions.find([{ channel: 'sms', providerMessageId: 'one' }]),
      ),
    ).toEqual([null]);
  });
}
