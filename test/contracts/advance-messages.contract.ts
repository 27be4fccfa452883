import { expect, it } from 'vitest';
import type { MessageEvent } from '../../src/application/attempts/advance-messages.ts';
import {
  type AttemptWork,
  attemptDeadlineJob,
  attemptDeadlineJobId,
} from '../../src/application/jobs/attempt-jobs.ts';
import type { Stores } from '../../src/application/ports/stores.ts';
import { depositEntry, holdEntry } from '../../src/domain/billing/ledger.ts';
import type { LeasedJob } from '../../src/domain/jobs/job.ts';
import type { DeliveryReceipt } from '../../src/domain/providers/delivery-receipt.ts';
import { iqd } from '../../src/domain/shared/money.ts';
import { advanceMessagesWith } from '../support/advance-messages.ts';
import {
  aMessage,
  aNewAccount,
  anAttempt,
  aProject,
  NOW,
  PROJECT_ID,
  SECOND_MS,
} from '../support/builders.ts';
import { Gate } from '../support/job-collector.ts';
import { type Storage, storageOfSuite } from './storage.ts';

/** Round trips to the database in which a transaction that does not wait for a lock would have gone on. */
const ROUND_TRIPS = 30;
const LEASE_MS = 15 * SECOND_MS;
const COST = iqd(80);

const clock = { now: () => NOW };
const message = aMessage({
  channels: ['sms'],
  cost: COST,
  prices: { sms: COST },
  status: 'sent',
  sentAt: NOW,
  attempts: [anAttempt({ channel: 'sms', startedAt: NOW })],
});
const { smsId } = message;
const receiptEvent = (receipt: DeliveryReceipt): MessageEvent => ({
  smsId,
  event: { kind: 'receipt', attemptNumber: 0, providerMessageId: 'provider-1', receipt },
});
const DELIVERED = receiptEvent({ kind: 'delivered' });
const FAILED = receiptEvent({ kind: 'failed', reason: 'Absent' });

/** What advancing a message promises beside other transactions that advance the same one. */
export function advanceMessagesContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);
  const advanceMessages = advanceMessagesWith({ clock });

  /** One message that sms has accepted, its cost held, and the leased job that ends its time. */
  async function prepare(): Promise<LeasedJob<AttemptWork>> {
    await storage.run(async (stores) => {
      await stores.projects.insert([aProject()]);
      await stores.accounts.insert([aNewAccount()]);
      await stores.ledger.post([
        depositEntry({ projectId: PROJECT_ID, reference: 'opening', at: NOW }, iqd(100)),
        holdEntry({ projectId: PROJECT_ID, reference: smsId, at: NOW }, COST),
      ]);
      await stores.messages.insert([message]);
      await stores.jobs.add([attemptDeadlineJob(aMessage({ smsId }), 0, NOW)], NOW);
    });
    const [job] = await storage.run(({ jobs }) =>
      jobs.lease({ workerId: 'worker', now: NOW, until: NOW + LEASE_MS, limit: 1 }),
    );
    if (job?.id !== attemptDeadlineJobId(smsId, 0)) throw new Error('The job of the message is due');
    return job as LeasedJob<AttemptWork>;
  }

  /** Runs both; the second begins when the first holds its locks, and the first goes on when the second waits. */
  async function together(first: (stores: Stores) => Promise<void>, second: typeof first) {
    const [hasLocked, mayGoOn] = [new Gate(), new Gate()];
    let runs = 0;
    const earlier = storage.run(async (stores) => {
      runs += 1;
      await stores.messages.lock([smsId]);
      hasLocked.open();
      await mayGoOn.opened;
      await first(stores);
    });
    await hasLocked.opened;
    const later = storage.run(async (stores) => {
      runs += 1;
      await second(stores);
    });
    if (storage.concurrency > 1) {
      for (let trip = 0; trip < ROUND_TRIPS; trip += 1) await storage.unitOfWork.ping();
    }
    mayGoOn.open();
    await Promise.all([earlier, later]);
    return runs;
  }

  async function outcome() {
    return storage.read(async (stores) => {
      const [account] = await stores.accounts.byProjectIds([PROJECT_ID]);
      const stored = await stores.messages.find(PROJECT_ID, smsId);
      return { status: stored?.status, held: account?.held, spent: account?.spent };
    });
  }

  it('a message is settled once when two transactions bring its delivered and its failed receipt', async () => {
    await prepare();
    await together(
      async (stores) => void (await advanceMessages.execute(stores, { events: [DELIVERED] })),
      async (stores) => void (await advanceMessages.execute(stores, { events: [FAILED] })),
    );
    expect(await outcome()).toEqual({ status: 'delivered', held: 0, spent: COST });
  });

  it('a message is locked before its job, so that a receipt and a deadline do not wait for each other', async () => {
    const job = await prepare();
    const runs = await together(
      async (stores) => void (await advanceMessages.execute(stores, { events: [DELIVERED] })),
      async (stores) => void (await advanceMessages.execute(stores, { jobs: [job] })),
    );
    expect(runs).toBe(2);
    expect(await outcome()).toEqual({ status: 'delivered', held: 0, spent: COST });
  });
}
