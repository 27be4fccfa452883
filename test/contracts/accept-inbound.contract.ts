import { expect, it } from 'vitest';
import { RandomIdSource } from '../../src/adapters/node/random-id-source.ts';
import { StorageLocked } from '../../src/application/errors/storage-locked.ts';
import { AcceptInbound } from '../../src/application/webhooks/accept-inbound.ts';
import { EnqueueWebhooks } from '../../src/application/webhooks/enqueue-webhooks.ts';
import { anId, aProject, aSealedSecret, NOW, PROJECT_ID } from '../support/builders.ts';
import { type Storage, storageOfSuite } from './storage.ts';

const clock = { now: () => NOW };
const ids = new RandomIdSource();
const NUMBER_ID = anId(1);
const WEBHOOK = {
  whatsappPhoneId: NUMBER_ID,
  projectId: PROJECT_ID,
  url: 'https://customer.example/in',
  secret: aSealedSecret('s'),
  nextSecret: null,
  nextSecretFrom: null,
};

/** What accepting an inbound message promises beside an operator who changes the webhook of its number. */
export function acceptInboundContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);

  it('no webhook is removed while a message to its number is accepted: no event goes where it pointed', async () => {
    await storage.run(({ projects }) => projects.insert([aProject()]));
    await storage.run(({ inboundWebhooks }) => inboundWebhooks.insert([WEBHOOK]));
    const enqueueWebhooks = new EnqueueWebhooks({ clock, ids });
    const removal = () =>
      storage.unitOfWork.run(
        async ({ inboundWebhooks }) => {
          await inboundWebhooks.lock([NUMBER_ID]);
          await inboundWebhooks.remove([NUMBER_ID]);
        },
        'full',
        'brief',
      );
    const accept = new AcceptInbound({
      unitOfWork: storage.unitOfWork,
      enqueueWebhooks: {
        add: async (stores, events, earlier) => {
          // A storage with one connection does one after the other anyway.
          if (storage.concurrency > 1) {
            await expect(removal()).rejects.toThrow(StorageLocked);
            const other = await storage.run(({ inboundWebhooks }) => inboundWebhooks.lockShared([NUMBER_ID]));
            expect(other, 'what another message to the number finds').toEqual([WEBHOOK]);
          }
          await enqueueWebhooks.add(stores, events, earlier);
        },
      },
      clock,
      ids,
      wakeSignal: { wake: () => {} },
      eventLoop: { busyMs: () => 0, pause: async () => {} },
    });
    await accept.execute([
      {
        whatsappPhoneId: NUMBER_ID,
        contact: { phoneNumber: '9647712345678', name: 'Layla' },
        messageId: 'wamid.1',
        content: { type: 'text', content: { text: 'Hello' } },
        writtenAt: NOW,
      },
    ]);
    const number = { projectId: PROJECT_ID, whatsappPhoneId: NUMBER_ID };
    const found = await storage.run(({ webhookEvents }) => webhookEvents.lockOpenOfNumber(number, '', 2));
    expect(found).toHaveLength(1);
    await removal();
  });
}
