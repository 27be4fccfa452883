import { expect, it } from 'vitest';
import type { SubmissionReceipt } from '../../src/application/ports/provider-events.ts';
import type { AttemptRef } from '../../src/domain/chain/attempt-name.ts';
import type { DeliveryReceipt } from '../../src/domain/providers/delivery-receipt.ts';
import type { Channel } from '../../src/domain/shared/channel.ts';
import { anSmsId, NOW } from '../support/builders.ts';
import { Gate } from '../support/job-collector.ts';
import { type Storage, storageOfSuite } from './storage.ts';

const LATER = NOW + 1_000;
const READS_MEANWHILE = 30;

const id = (providerMessageId: string, channel: Channel = 'sms') => ({ channel, providerMessageId });
const attempt = (number: number, attemptNumber = 0): AttemptRef => ({
  smsId: anSmsId(number),
  attemptNumber,
});
const receipt = (
  providerMessageId: string,
  kind: Exclude<DeliveryReceipt['kind'], 'failed'> = 'delivered',
): SubmissionReceipt => ({ ...id(providerMessageId), receipt: { kind } });

/** What every submission store promises, whichever of receipt and submit result comes first. */
export function submissionStoreContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);
  const { run, read } = storage;

  /** Parks a receipt under each id until then. */
  const parkIds = (expiresAt: number, ...ids: readonly string[]) =>
    run(({ submissions }) =>
      submissions.park(
        ids.map((each) => receipt(each)),
        expiresAt,
      ),
    );

  /** Those of the ids that have a parked receipt. */
  const parkedAmong = async (...ids: readonly string[]) => {
    const parked = await read(({ submissions }) => submissions.parkedUnder(ids.map((each) => id(each))));
    return ids.filter((_, index) => parked[index]?.length !== 0);
  };

  const removeOldest = (...providers: readonly string[]) =>
    run(({ submissions }) => submissions.removeOldestParked(providers, { idsMax: 3, idsKept: 2 }));

  it('the submission store finds the attempt of each id in the given order, and none for an id that is not recorded', async () => {
    const parked = await run(({ submissions }) =>
      submissions.record(
        [
          { ...id('two'), ...attempt(2, 1) },
          { ...id('one'), ...attempt(1) },
        ],
        LATER,
      ),
    );
    expect(parked).toEqual([]);
    const ids = [id('one'), id('none'), id('two'), id('one', 'whatsapp')];
    expect(await read(({ submissions }) => submissions.find(ids))).toEqual([
      attempt(1),
      null,
      attempt(2, 1),
      null,
    ]);
  });

  it('the submission store keeps the attempt that a parked receipt names, beside the one that its id is recorded for', async () => {
    const named = { ...receipt('named'), attempt: attempt(2, 1) };
    await run(({ submissions }) => submissions.park([named], LATER));
    expect(await read(({ submissions }) => submissions.parkedUnder([id('named')]))).toEqual([
      [{ receipt: named.receipt, attempt: attempt(2, 1) }],
    ]);
    const recorded = { ...id('named'), ...attempt(1) };
    expect(await run(({ submissions }) => submissions.record([recorded], LATER))).toEqual([
      { ...named, ...attempt(1) },
    ]);
  });

  it('the submission store gives an id that is recorded again to the newer attempt, in one list too', async () => {
    await run(({ submissions }) => submissions.record([{ ...id('again'), ...attempt(1) }], LATER));
    await run(({ submissions }) =>
      submissions.record(
        [
          { ...id('again'), ...attempt(2) },
          { ...id('again'), ...attempt(3) },
        ],
        LATER,
      ),
    );
    expect(await read(({ submissions }) => submissions.find([id('again')]))).toEqual([attempt(3)]);
  });

  it('the submission store returns parked receipts once, with the attempt that is recorded under their id', async () => {
    const early = [receipt('early', 'sent'), receipt('other'), receipt('early', 'delivered')];
    expect(await run(({ submissions }) => submissions.park(early, LATER))).toEqual([null, null, null]);
    expect(await read(({ submissions }) => submissions.find([id('early')]))).toEqual([null]);
    const record = () =>
      run(({ submissions }) => submissions.record([{ ...id('early'), ...attempt(1) }], LATER));
    expect(await record()).toEqual([
      { ...receipt('early', 'sent'), ...attempt(1) },
      { ...receipt('early', 'delivered'), ...attempt(1) },
    ]);
    expect(await record()).toEqual([]);
  });

  it('the submission store parks a receipt that comes twice once, and the first failure with its reason', async () => {
    const failed = (reason: string): SubmissionReceipt => ({
      ...id('twice'),
      receipt: { kind: 'failed', reason },
    });
    await run(({ submissions }) => submissions.park([failed('first'), failed('second')], LATER));
    await run(({ submissions }) => submissions.park([failed('third')], LATER));
    const parked = await run(({ submissions }) =>
      submissions.record([{ ...id('twice'), ...attempt(1) }], LATER),
    );
    expect(parked).toEqual([{ ...failed('first'), ...attempt(1) }]);
  });

  it('the submission store returns parked receipts in the order of the first of each kind, also when the kinds alternate', async () => {
    const failed: SubmissionReceipt = {
      ...id('alternating'),
      receipt: { kind: 'failed', reason: 'expired' },
    };
    const delivered = receipt('alternating', 'delivered');
    await run(({ submissions }) => submissions.park([delivered, failed, delivered], LATER));
    await run(({ submissions }) => submissions.park([failed, delivered], LATER));
    const parked = await run(({ submissions }) =>
      submissions.record([{ ...id('alternating'), ...attempt(1) }], LATER),
    );
    expect(parked).toEqual([
      { ...delivered, ...attempt(1) },
      { ...failed, ...attempt(1) },
    ]);
  });

  it('the submission store returns the charge of a parked receipt as it came', async () => {
    const charge = { billable: true, model: 'PMP', category: 'authentication' };
    const charged: SubmissionReceipt = { ...id('charged'), receipt: { kind: 'delivered', charge } };
    await run(({ submissions }) => submissions.park([charged], LATER));
    const parked = await run(({ submissions }) =>
      submissions.record([{ ...id('charged'), ...attempt(1) }], LATER),
    );
    expect(parked).toEqual([{ ...charged, ...attempt(1) }]);
  });

  it('the submission store parks nothing under an id that is recorded, and says which attempt it belongs to', async () => {
    await run(({ submissions }) => submissions.record([{ ...id('known'), ...attempt(1) }], LATER));
    const outcomes = await run(({ submissions }) =>
      submissions.park([receipt('unknown'), receipt('known')], LATER),
    );
    expect(outcomes).toEqual([null, attempt(1)]);
    const parked = await run(({ submissions }) =>
      submissions.record([{ ...id('known'), ...attempt(1) }], LATER),
    );
    expect(parked).toEqual([]);
  });

  it('the submission store removes what expires first of a provider with too many parked ids, and leaves that of others', async () => {
    await parkIds(NOW + 3, 'a:three', 'ab:one', 'one');
    await parkIds(NOW + 1, 'a:one', 'b:one');
    await parkIds(NOW + 2, 'a:two', 'b:two', 'b:three', 'a-b:one');
    expect(await removeOldest('a', 'b')).toEqual(new Map());
    await parkIds(NOW + 4, 'a:four');
    expect(await removeOldest('a', 'b', 'c')).toEqual(new Map([['a', 2]]));
    const all = [
      'a:one',
      'a:two',
      'a:three',
      'a:four',
      'b:one',
      'b:two',
      'b:three',
      'ab:one',
      'a-b:one',
      'one',
    ];
    expect(await parkedAmong(...all)).toEqual(all.slice(2));
  });

  it('of two transactions at once that remove what expires first the second leaves what the first leaves', async () => {
    for (const [index, parked] of ['a:one', 'a:two', 'a:three', 'a:four'].entries())
      await parkIds(NOW + index, parked);
    const [removed, mayCommit] = [new Gate(), new Gate()];
    const first = run(async ({ submissions }) => {
      await submissions.removeOldestParked(['a'], { idsMax: 3, idsKept: 2 });
      removed.open();
      await mayCommit.opened;
    });
    await removed.opened;
    const second = removeOldest('a');
    await letTheOtherMeetTheLock();
    mayCommit.open();
    await first;
    expect(await second).toEqual(new Map());
    expect(await parkedAmong('a:one', 'a:two', 'a:three', 'a:four')).toEqual(['a:three', 'a:four']);
  });

  it('the submission store counts no recorded ids among the parked ones, and removes none', async () => {
    await parkIds(NOW + 1, 'a:one', 'a:two');
    const record = { ...id('a:one'), ...attempt(1) };
    expect(await run(({ submissions }) => submissions.record([record], LATER))).toEqual([
      { ...receipt('a:one'), ...attempt(1) },
    ]);
    await parkIds(NOW + 2, 'a:three', 'a:four');
    expect(await removeOldest('a')).toEqual(new Map());
    await parkIds(NOW + 3, 'a:five');
    expect(await removeOldest('a')).toEqual(new Map([['a', 2]]));
    expect(await parkedAmong('a:two', 'a:three', 'a:four', 'a:five')).toHaveLength(2);
    expect(await parkedAmong('a:five')).toEqual(['a:five']);
    expect(await read(({ submissions }) => submissions.find([id('a:one')]))).toEqual([attempt(1)]);
  });

  it('the submission store reads each receipt that it parks as often in a long list as in a short one', async () => {
    let reads = 0;
    const counted = (_: unknown, index: number): SubmissionReceipt => ({
      ...receipt(`a:${index}`),
      get providerMessageId() {
        reads += 1;
        return `a:${index}`;
      },
    });
    const readsOfEach = async (length: number): Promise<number> => {
      reads = 0;
      await run(({ submissions }) => submissions.park(Array.from({ length }, counted), LATER));
      return reads / length;
    };
    expect(await readsOfEach(100)).toBe(await readsOfEach(10));
  });

  it('the submission store sweeps what is expired, the longest expired first and up to the limit, parked receipts included', async () => {
    await run(({ submissions }) =>
      submissions.record(
        [
          { ...id('kept'), ...attempt(1) },
          { ...id('rerecorded'), ...attempt(1) },
        ],
        NOW + 2,
      ),
    );
    await run(({ submissions }) => submissions.park([receipt('parked')], NOW));
    await run(({ submissions }) => submissions.record([{ ...id('expired'), ...attempt(2) }], NOW + 1));
    expect(await run(({ submissions }) => submissions.sweep(NOW + 1, 1))).toBe(1);
    expect(
      await run(({ submissions }) => submissions.record([{ ...id('parked'), ...attempt(3) }], LATER)),
    ).toEqual([]);
    expect(await run(({ submissions }) => submissions.sweep(NOW + 1, 10))).toBe(1);
    const ids = [id('kept'), id('rerecorded'), id('expired')];
    expect(await read(({ submissions }) => submissions.find(ids))).toEqual([attempt(1), attempt(1), null]);
  });

  it('the submission store prolongs the life of an id whose receipt was parked before', async () => {
    await run(({ submissions }) => submissions.park([receipt('early')], NOW));
    await run(({ submissions }) => submissions.record([{ ...id('early'), ...attempt(1) }], LATER));
    expect(await run(({ submissions }) => submissions.sweep(NOW, 10))).toBe(0);
    expect(await read(({ submissions }) => submissions.find([id('early')]))).toEqual([attempt(1)]);
  });

  it('the submission store keeps what is parked under an id for as long as the last of its receipts', async () => {
    await run(({ submissions }) => submissions.park([receipt('long', 'sent')], NOW));
    await run(async ({ submissions }) => {
      await submissions.park([receipt('long')], LATER);
      expect(await submissions.sweep(NOW, 10)).toBe(0);
    });
    expect(
      await run(({ submissions }) => submissions.record([{ ...id('long'), ...attempt(1) }], LATER)),
    ).toEqual([
      { ...receipt('long', 'sent'), ...attempt(1) },
      { ...receipt('long'), ...attempt(1) },
    ]);
  });

  it('the submission store does not shorten the life of an id by a receipt that comes after it', async () => {
    await run(({ submissions }) => submissions.record([{ ...id('known'), ...attempt(1) }], LATER));
    await run(({ submissions }) => submissions.park([receipt('known')], NOW));
    expect(await run(({ submissions }) => submissions.sweep(NOW, 10))).toBe(0);
  });

  it('the submission store loses records and parked receipts with their transaction', async () => {
    const undone = (work: Parameters<typeof run>[0]) =>
      run(async (stores) => {
        await work(stores);
        throw new Error('undone');
      });
    await expect(undone(({ submissions }) => submissions.park([receipt('one')], LATER))).rejects.toThrow(
      'undone',
    );
    const record = { ...id('one'), ...attempt(1) };
    await expect(undone(({ submissions }) => submissions.record([record], LATER))).rejects.toThrow('undone');
    expect(await read(({ submissions }) => submissions.find([id('one')]))).toEqual([null]);
    expect(await run(({ submissions }) => submissions.record([record], LATER))).toEqual([]);
  });

  it('the submission store accepts empty lists', async () => {
    await run(async ({ submissions }) => {
      expect(await submissions.record([], LATER)).toEqual([]);
      expect(await submissions.find([])).toEqual([]);
      expect(await submissions.park([], LATER)).toEqual([]);
    });
  });

  it.each([
    ['the first receipt', []],
    ['a receipt after one that is parked', [receipt('race', 'sent')]],
  ])('%s waits for the transaction that is about to record its id', async (_, before) => {
    await run(({ submissions }) => submissions.park(before, LATER));
    const [recorded, mayCommit] = [new Gate(), new Gate()];
    const recording = run(async ({ submissions }) => {
      const parked = await submissions.record([{ ...id('race'), ...attempt(1) }], LATER);
      recorded.open();
      await mayCommit.opened;
      return parked;
    });
    await recorded.opened;
    const parking = run(({ submissions }) => submissions.park([receipt('race')], LATER));
    await letTheOtherMeetTheLock();
    mayCommit.open();
    expect(await recording).toEqual(before.map((each) => ({ ...each, ...attempt(1) })));
    expect(await parking).toEqual([attempt(1)]);
  });

  it('a submit result waits for the transaction that is about to park its receipt', async () => {
    const [parked, mayCommit] = [new Gate(), new Gate()];
    const parking = run(async ({ submissions }) => {
      await submissions.park([receipt('race')], LATER);
      parked.open();
      await mayCommit.opened;
    });
    await parked.opened;
    const recording = run(({ submissions }) => submissions.record([{ ...id('race'), ...attempt(1) }], LATER));
    mayCommit.open();
    await parking;
    expect(await recording).toEqual([{ ...receipt('race'), ...attempt(1) }]);
  });

  /** Where units run at once, one has long met a lock when another has read this often; elsewhere it has not begun. */
  async function letTheOtherMeetTheLock(): Promise<void> {
    if (storage.concurrency === 1) return;
    for (let reads = 0; reads < READS_MEANWHILE; reads += 1) await read(({ projects }) => projects.isEmpty());
  }
}
