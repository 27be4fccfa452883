import { expect, it } from 'vitest';
import { RandomIdSource } from '../../src/adapters/node/random-id-source.ts';
import { CurrentPrices } from '../../src/application/catalog/current-prices.ts';
import { SendMessages } from '../../src/application/messages/send-messages.ts';
import { depositEntry } from '../../src/domain/billing/ledger.ts';
import { iqd } from '../../src/domain/shared/money.ts';
import { aNewAccount, aPriceList, aProject, aSendRequest, NOW } from '../support/builders.ts';
import { Gate } from '../support/job-collector.ts';
import { type Storage, storageOfSuite } from './storage.ts';

const clock = { now: () => NOW };
/** Answers of the database in which somebody who does not wait would have read. */
const ANSWERS = 30;

/** What sending promises beside other processes on the same database. */
export function sendMessagesContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);

  it('reads behind the lock what another process has left', async () => {
    const project = aProject();
    await storage.unitOfWork.run(async (stores) => {
      await stores.prices.replace(aPriceList());
      await stores.projects.insert([project]);
      await stores.accounts.insert([aNewAccount({ projectId: project.id })]);
      await stores.ledger.post([
        depositEntry({ projectId: project.id, reference: 'opening', at: NOW }, iqd(10_000)),
      ]);
    });
    const processOf = (beforeCommit: () => Promise<void>) =>
      new SendMessages({
        unitOfWork: {
          ping: () => storage.unitOfWork.ping(),
          read: (work) => storage.unitOfWork.read(work),
          run: (work, durability) =>
            storage.unitOfWork.run(async (stores) => {
              const result = await work(stores);
              await beforeCommit();
              return result;
            }, durability),
        },
        currentPrices: new CurrentPrices({ clock }),
        clock,
        ids: new RandomIdSource(),
        wakeSignal: { wake() {} },
        webhookTransport: { acceptUrl: (url: string) => url } as never,
        secretBox: { seal: (text: string) => text } as never,
      });
    const command = {
      project,
      request: aSendRequest({ provider: 'sms' }),
      idempotency: { key: 'same', requestHash: 'same' },
    };
    const [isWritten, mayCommit] = [new Gate(), new Gate()];
    const first = processOf(async () => {
      isWritten.open();
      await mayCommit.opened;
    }).execute(command);
    await isWritten.opened;
    const second = processOf(async () => {}).execute(command);
    if (storage.concurrency > 1) {
      for (let answer = 0; answer < ANSWERS; answer += 1) await storage.unitOfWork.ping();
    }
    mayCommit.open();
    const [one, other] = await Promise.all([first, second]);
    expect([other.smsId, other.replayed]).toEqual([one.smsId, true]);
  });
}
