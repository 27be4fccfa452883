import { expect, it } from 'vitest';
import { HmacRequestHasher } from '../../src/adapters/node/hmac-request-hasher.ts';
import { RandomIdSource } from '../../src/adapters/node/random-id-source.ts';
import { NoticeLowCredit } from '../../src/application/billing/notice-low-credit.ts';
import { delegate } from '../../src/application/delegate.ts';
import { StorageLocked } from '../../src/application/errors/storage-locked.ts';
import { ManageCredit } from '../../src/application/operators/manage-credit.ts';
import type { Stores } from '../../src/application/ports/stores.ts';
import { EnqueueWebhooks } from '../../src/application/webhooks/enqueue-webhooks.ts';
import { iqd } from '../../src/domain/shared/money.ts';
import { aProject, NOW, PROJECT_ID } from '../support/builders.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { type Storage, storageOfSuite } from './storage.ts';

const clock = { now: () => NOW };
const ids = new RandomIdSource();
const wakeSignal = { wake: () => {} };
const enqueueWebhooks = new EnqueueWebhooks({ clock, ids });

/** What a change of a balance promises beside another operator who changes the settings of its project. */
export function creditChangesContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);

  it('no setting of a project changes while its balance does: a notice of low credit goes where it belongs', async () => {
    await storage.run(async ({ projects, accounts }) => {
      await projects.insert([aProject()]);
      await accounts.insert([
        { projectId: PROJECT_ID, paymentType: 'prepaid', spendingThreshold: null, trialPhoneNumber: null },
      ]);
    });
    const settingsChange = () =>
      storage.unitOfWork.run(({ projects }) => projects.lock([PROJECT_ID]), 'full', 'brief');
    let asked = 0;
    const unitOfWork = delegate(storage.unitOfWork, {
      run: <T>(work: (stores: Stores) => Promise<T>) =>
        storage.unitOfWork.run((stores) =>
          work({
            ...stores,
            accounts: delegate(stores.accounts, {
              lock: async (ids: readonly string[]) => {
                // A storage with one connection does one after the other anyway.
                if (storage.concurrency > 1) await expect(settingsChange()).rejects.toThrow(StorageLocked);
                asked += 1;
                return stores.accounts.lock(ids);
              },
            }),
          }),
        ),
    });
    const manageCredit = new ManageCredit({
      unitOfWork,
      requestHasher: new HmacRequestHasher({ secretKey: Buffer.alloc(32) }),
      noticeLowCredit: new NoticeLowCredit({
        enqueueWebhooks,
        ids,
        logger: new RecordingLogger(),
        wakeSignal,
      }),
      clock,
      ids,
    });
    const change = {
      actor: 'cli',
      project: PROJECT_ID,
      amount: iqd(5),
      reason: null,
      idempotency: null,
    } as const;
    expect((await manageCredit.topUp(change)).account.balance).toBe(iqd(5));
    expect(asked).toBe(1);
  });
}
