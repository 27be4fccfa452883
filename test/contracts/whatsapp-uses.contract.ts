import { describe, expect, it } from 'vitest';
import { attemptDeadlineJob, startAttemptJob } from '../../src/application/jobs/attempt-jobs.ts';
import type { Message } from '../../src/domain/messages/message.ts';
import { aCampaign, aMessage, anId, anSmsId, aProject, NOW, PROJECT_ID } from '../support/builders.ts';
import { type Storage, storageOfSuite } from './storage.ts';

const OTHER_PROJECT_ID = '664abc000000000000000002';

/** What the stores promise about the whatsapp resources that campaigns and messages use. */
export function whatsappUsesContract(open: () => Promise<Storage>): void {
  const { run, read } = storageOfSuite(open);

  const senderOf = (phoneId: string) => ({ accountId: anId(1), phoneId, templateName: null });
  const openSenders = () => read(({ messages }) => messages.sendersOfOpen(PROJECT_ID));

  /** A message from the number `phone`, and its jobs. */
  const insert = (smsId: string, phone: number, given: Partial<Message> = {}) => {
    const message = aMessage({ smsId, whatsappSender: senderOf(anId(phone)), ...given });
    return { message, add: () => run(({ messages }) => messages.insert([message])) };
  };

  describe('campaigns and messages', () => {
    it('the message store names the senders of messages with a job, also one for later and a dead-letter job', async () => {
      const due = insert(anSmsId(1), 11);
      const later = insert(anSmsId(2), 12);
      const dead = insert(anSmsId(3), 13);
      for (const { add } of [due, later, dead]) await add();
      await run(async ({ jobs }) => {
        await jobs.add([startAttemptJob(dead.message, 0, NOW)], NOW);
        const request = { now: NOW, until: NOW + 1, limit: 10, workerId: 'w' };
        const failure = { reason: 'broken', at: NOW, retryAt: NOW, failuresMax: 1 };
        await jobs.fail(await jobs.lease(request), failure);
        await jobs.add([startAttemptJob(due.message, 0, NOW)], NOW);
        await jobs.add([attemptDeadlineJob(later.message, 0, NOW + 1_000)], NOW);
      });
      const found = await openSenders();
      expect(found.map(({ phoneId }) => phoneId).sort()).toEqual([anId(11), anId(12), anId(13)]);
      expect(found).toContainEqual(senderOf(anId(11)));
    });

    it('the message store names no senders of final messages, of other projects and without a sender', async () => {
      const messages = [
        insert(anSmsId(1), 11, { isFinal: true, finalAt: NOW }),
        insert(anSmsId(2), 12, { projectId: OTHER_PROJECT_ID }),
        insert(anSmsId(3), 13, {
          whatsappSender: { accountId: null, phoneId: null, templateName: null },
        }),
      ];
      for (const { message, add } of messages) {
        await add();
        await run(({ jobs }) => jobs.add([startAttemptJob(message, 0, NOW)], NOW));
      }
      expect(await openSenders()).toEqual([]);
    });

    it('the campaign store names each pair of template and number of campaigns that have not ended once', async () => {
      const statuses = ['draft', 'scheduled', 'running', 'completed', 'failed'] as const;
      const campaigns = statuses.map((status, index) =>
        aCampaign({ id: anId(index + 1), status, templateId: anId(20 + index), whatsappPhoneId: anId(30) }),
      );
      const twin = aCampaign({ id: anId(6), templateId: anId(20), whatsappPhoneId: anId(30) });
      const foreign = aCampaign({ id: anId(7), projectId: OTHER_PROJECT_ID, templateId: anId(40) });
      await run((stores) =>
        stores.projects.insert([aProject(), aProject({ id: OTHER_PROJECT_ID, slug: 'other' })]),
      );
      await run((stores) => stores.campaigns.insert([...campaigns, twin, foreign]));
      const found = await read((stores) => stores.campaigns.sendersOfOpen(PROJECT_ID));
      expect(found.map(({ templateId }) => templateId).sort()).toEqual([anId(20), anId(21), anId(22)]);
      expect(found[0]?.whatsappPhoneId).toBe(anId(30));
    });
  });
}
