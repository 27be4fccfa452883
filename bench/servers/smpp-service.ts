import { startAttemptJob } from '../../src/application/jobs/attempt-jobs.ts';
import { readSeed } from '../../src/bootstrap/config/seed-file.ts';
import { holdEntry } from '../../src/domain/billing/ledger.ts';
import { newMessage } from '../../src/domain/messages/new-message.ts';
import { iqd } from '../../src/domain/shared/money.ts';
import type { PhoneNumber } from '../../src/domain/shared/phone-number.ts';
import { serve } from '../../test/support/child-process.ts';
import { liveLoadSeed } from '../../test/support/load-seed.ts';
import { startLoadService } from '../../test/support/load-service.ts';

/** The service with a way to give it accepted messages that come due all at once. */

const MESSAGES_PER_TRANSACTION = 1_000;
const LATER_MS = 3_600_000;
const PRICE = iqd(80);
const ATTEMPT_TIMEOUT_MS = 30_000;

const seed = liveLoadSeed();
const { service, port, now, putClockAhead } = await startLoadService({ seed });
const unitOfWork = service.roots.unitOfWork;
const { knex } = service.roots.database;
const project = readSeed(seed).projects[0]?.project;
if (project === undefined) throw new Error('The seed has a project');
let aheadMs = 0;
let messages = 0;

const handlers = {
  /** Stores that many messages that were accepted for sms, due in an hour. */
  fill: async (count: number): Promise<number> => {
    for (let from = 0; from < count; from += MESSAGES_PER_TRANSACTION) {
      const length = Math.min(MESSAGES_PER_TRANSACTION, count - from);
      const batch = Array.from({ length }, acceptedMessage);
      await unitOfWork.run(async (stores) => {
        await stores.messages.insert(batch);
        await stores.ledger.post(
          batch.map(({ smsId, cost }) =>
            holdEntry({ projectId: project.id, reference: smsId, at: now() }, cost),
          ),
        );
        const dueAt = now() + LATER_MS;
        // Available at once, as the jobs of accepted messages are: they only have to become due.
        await stores.jobs.add(
          batch.map((message) => startAttemptJob(message, 0, dueAt)),
          dueAt,
        );
      });
    }
    // Writing back what was filled in is no cost of submitting.
    await knex.raw('PRAGMA wal_checkpoint(PASSIVE)');
    return count;
  },
  /** Lets the stored messages come due. */
  comeDue: (): number => {
    aheadMs += LATER_MS;
    putClockAhead(aheadMs);
    return aheadMs;
  },
  /** Messages by status, those that are not final apart. */
  states: async (): Promise<Readonly<Record<string, number>>> => {
    const rows: { status: string; is_final: number; n: number }[] = await knex('messages')
      .select('status', 'is_final')
      .count({ n: '*' })
      .groupBy('status', 'is_final');
    return Object.fromEntries(
      rows.map((row) => [`${row.status}${row.is_final === 1 ? '' : ', not final'}`, Number(row.n)]),
    );
  },
};
export type SmppServiceHandlers = typeof handlers;

serve(port, handlers);
process.on('SIGTERM', () => service.stop().then(() => process.disconnect()));

function acceptedMessage() {
  if (project === undefined) throw new Error('The seed has a project');
  messages += 1;
  const phoneNumber = String(9_647_700_000_000 + messages) as PhoneNumber;
  return newMessage(
    smsIdOf(messages),
    project,
    {
      phoneNumber,
      phoneNumberAsSent: phoneNumber,
      senderId: null,
      whatsappSender: { accountId: null, phoneId: null, templateName: null },
      content: { smsType: 'verification', verificationCode: '123456' },
      provider: 'sms',
      deliveryReport: null,
    },
    { channels: ['sms'], cost: PRICE, prices: { sms: PRICE }, attemptTimeoutMs: ATTEMPT_TIMEOUT_MS },
    now(),
  );
}

function smsIdOf(count: number): string {
  return `sms-${count.toString(16).padStart(24, '0')}`;
}
