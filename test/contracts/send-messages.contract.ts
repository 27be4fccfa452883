import { beforeEach, expect, it } from 'vitest';
import { HmacRequestHasher } from '../../src/adapters/node/hmac-request-hasher.ts';
import { RandomIdSource } from '../../src/adapters/node/random-id-source.ts';
import { NoticeLowCredit } from '../../src/application/billing/notice-low-credit.ts';
import { CurrentPrices } from '../../src/application/catalog/current-prices.ts';
import { Rejected } from '../../src/application/errors/rejected.ts';
import { insertSeedPrices } from '../../src/application/seed/seed-prices.ts';
import type { SendCommand } from '../../src/application/sending/send-command.ts';
import { SendMessages } from '../../src/application/sending/send-messages.ts';
import { EnqueueWebhooks } from '../../src/application/webhooks/enqueue-webhooks.ts';
import { SealWebhook } from '../../src/application/webhooks/seal-webhook.ts';
import type { Project } from '../../src/domain/access/project.ts';
import { depositEntry } from '../../src/domain/billing/ledger.ts';
import { IDEMPOTENCY_RECORD_LIFETIME_MS } from '../../src/domain/idempotency/idempotency.ts';
import { CHANNELS } from '../../src/domain/shared/channel.ts';
import { iqd } from '../../src/domain/shared/money.ts';
import type { PhoneNumber } from '../../src/domain/shared/phone-number.ts';
import {
  aNewAccount,
  anId,
  aPhoneNumber,
  aProject,
  aSealedSecret,
  aSenderId,
  aSendRequest,
  HOUR_MS,
  NOW,
  someSeedPrices,
} from '../support/builders.ts';
import { Gate } from '../support/job-collector.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { type Storage, storageOfSuite } from './storage.ts';

/** Round trips to the database in which a process that does not wait for the lock would have read. */
const ROUND_TRIPS = 30;
/** What one sms of these tests costs: 80 IQD. */
const PRICE = someSeedPrices().sms.asiaCell;

const noRateLimit = aProject({ settings: { rateLimit: null } });
const twoAtMost = aProject({ settings: { rateLimit: { maxRequests: 2, timeWindowMinutes: 10 } } });

/** What sending promises for requests of one batch, and beside other processes on the same database. */
export function sendMessagesContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);
  let firstNumber = aPhoneNumber();
  let secondNumber = aPhoneNumber();

  // SQLite keeps recent sends in memory too, where emptied tables do not remove them.
  beforeEach(() => {
    firstNumber = aNewNumber();
    secondNumber = aNewNumber();
  });

  async function prepare(project: Project, credit = iqd(10_000)): Promise<void> {
    await storage.run(async (stores) => {
      await insertSeedPrices(stores, someSeedPrices(), { id: anId(1), now: NOW });
      await stores.projects.insert([project]);
      await stores.accounts.insert([aNewAccount({ projectId: project.id })]);
      await stores.ledger.post([
        depositEntry({ projectId: project.id, reference: `opening-${project.id}`, at: NOW }, credit),
      ]);
    });
  }

  /** One process that sends; `beforeCommit` runs when its unit has written and is not committed. */
  function aProcess(
    clock: { now(): number } = { now: () => NOW },
    beforeCommit = async () => {},
  ): SendMessages {
    return new SendMessages({
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
      currentPrices: new CurrentPrices(),
      channelProviders: { channelsFor: () => CHANNELS },
      requestHasher: new HmacRequestHasher({ secretKey: Buffer.alloc(32, 1) }),
      untriedMessages: { areTooMany: () => false, noteAccepted() {} },
      clock,
      ids: new RandomIdSource(),
      wakeSignal: { wake() {} },
      noticeLowCredit: new NoticeLowCredit({
        enqueueWebhooks: new EnqueueWebhooks({ clock, ids: new RandomIdSource() }),
        ids: new RandomIdSource(),
        logger: new RecordingLogger(),
        wakeSignal: { wake() {} },
      }),
      sealWebhook: new SealWebhook({
        webhookTransport: { acceptUrl: (url) => url },
        secretBox: { seal: aSealedSecret },
      }),
    });
  }

  /** Sends both from two processes: the second begins while the first has written and is not committed. */
  async function sendBehindTheLock(command: SendCommand) {
    const [isWritten, mayCommit] = [new Gate(), new Gate()];
    const first = aProcess(undefined, async () => {
      isWritten.open();
      await mayCommit.opened;
    }).execute(command);
    await isWritten.opened;
    const second = outcomeOf(aProcess().execute(command));
    if (storage.concurrency > 1) {
      for (let trip = 0; trip < ROUND_TRIPS; trip += 1) await storage.unitOfWork.ping();
    }
    mayCommit.open();
    return { first: await first, second: await second };
  }

  async function stored() {
    return storage.read(async (stores) => {
      const audit = await stores.ledger.audit();
      return audit.map(({ account }) => ({ projectId: account.projectId, held: account.held }));
    });
  }

  it('SendMessages replays the result that another process has stored for the same idempotency key', async () => {
    await prepare(noRateLimit);
    const { first, second } = await sendBehindTheLock(toNumber(noRateLimit, firstNumber, 'key'));
    expect(second).toEqual({ ...first, replayed: true });
    expect(await stored()).toEqual([{ projectId: noRateLimit.id, held: PRICE }]);
  });

  it('SendMessages counts the send of another process for the rate limit', async () => {
    const oneAtMost = aProject({ settings: { rateLimit: { maxRequests: 1, timeWindowMinutes: 10 } } });
    await prepare(oneAtMost);
    const { second } = await sendBehindTheLock(toNumber(oneAtMost, firstNumber));
    expect(second).toBe('rate-limited');
    expect(await stored()).toEqual([{ projectId: oneAtMost.id, held: PRICE }]);
  });

  it('SendMessages charges once for an idempotency key that comes twice in one batch', async () => {
    await prepare(noRateLimit);
    const command = toNumber(noRateLimit, firstNumber, 'key');
    const sendMessages = aProcess();
    const [first, second] = await Promise.all([sendMessages.execute(command), sendMessages.execute(command)]);
    expect(second).toEqual({ ...first, replayed: true });
    expect(first.replayed).toBe(false);
    expect(await stored()).toEqual([{ projectId: noRateLimit.id, held: PRICE }]);
  });

  it('SendMessages rejects an idempotency key that comes with two different requests in one batch', async () => {
    await prepare(noRateLimit);
    const sendMessages = aProcess();
    const command = toNumber(noRateLimit, firstNumber, 'key');
    const other = { ...command, idempotency: { route: 'POST /sms', key: 'key', requestHash: 'other' } };
    const outcomes = await Promise.all([command, other].map((each) => outcomeOf(sendMessages.execute(each))));
    expect(outcomes[1]).toBe('idempotency-conflict');
    expect(await stored()).toEqual([{ projectId: noRateLimit.id, held: PRICE }]);
  });

  it('SendMessages spends the credit for one message once in one batch', async () => {
    await prepare(noRateLimit, PRICE);
    const sendMessages = aProcess();
    const outcomes = await Promise.all(
      [firstNumber, secondNumber].map((number) =>
        outcomeOf(sendMessages.execute(toNumber(noRateLimit, number))),
      ),
    );
    expect(outcomes).toEqual([expect.objectContaining({ remainingCredit: 0 }), 'insufficient-credit']);
    expect(await stored()).toEqual([{ projectId: noRateLimit.id, held: PRICE }]);
  });

  it('SendMessages counts the sends of one batch for the rate limit of their number', async () => {
    await prepare(twoAtMost);
    const sendMessages = aProcess();
    const numbers = [firstNumber, firstNumber, secondNumber, firstNumber];
    const outcomes = await Promise.all(
      numbers.map((number) => outcomeOf(sendMessages.execute(toNumber(twoAtMost, number)))),
    );
    const accepted = expect.objectContaining({ cost: PRICE });
    expect(outcomes).toEqual([accepted, accepted, accepted, 'rate-limited']);
  });

  it('SendMessages does not send under the sender ID of another project of the same batch', async () => {
    const owner = aProject({ id: '664abc000000000000000002', slug: 'owner', settings: { rateLimit: null } });
    await prepare(noRateLimit);
    await prepare(owner);
    await storage.run((stores) => stores.senderIds.insert([aSenderId({ projectId: owner.id })]));
    const sendMessages = aProcess();
    const outcomes = await Promise.all(
      [owner, noRateLimit].map((project) => {
        const command = toNumber(project, firstNumber);
        return outcomeOf(
          sendMessages.execute({ ...command, request: { ...command.request, senderId: 'Barid' } }),
        );
      }),
    );
    expect(outcomes).toEqual([expect.objectContaining({ cost: iqd(70) }), 'sender-id-not-found']);
  });

  it('SendMessages makes one event of low credit when two processes cross the line', async () => {
    const webhookUrl = 'https://shop.example/credit';
    const lowCredit = { amount: iqd(920), webhookUrl, webhookSecret: null };
    const told = aProject({ settings: { rateLimit: null, lowCredit } });
    await prepare(told, iqd(1_000));
    await sendBehindTheLock(toNumber(told, firstNumber));
    await aProcess().execute(toNumber(told, secondNumber));
    const events = await storage.run(({ webhookEvents }) =>
      webhookEvents.lockOpen([`credit.low/${told.id}`]),
    );
    expect(events.map(({ kind, body }) => ({ kind, ...JSON.parse(body) }))).toEqual([
      {
        kind: 'credit',
        event: 'credit.low',
        project: told.slug,
        credit: 840,
        amount: 920,
        at: new Date(NOW).toISOString(),
      },
    ]);
    const due = await storage.run(({ jobs }) =>
      jobs.lease({ workerId: 'w', now: NOW, until: NOW + HOUR_MS, limit: 100 }),
    );
    expect(due.map(({ id }) => id)).toContain(`webhooks/${told.id}/shop.example/credit`);
  });

  it('SendMessages makes one event of low credit for the sends of one batch', async () => {
    const lowCredit = {
      amount: iqd(900),
      webhookUrl: 'https://shop.example/credit',
      webhookSecret: null,
    };
    const told = aProject({ settings: { rateLimit: null, lowCredit } });
    await prepare(told, iqd(1_000));
    const sendMessages = aProcess();
    const numbers = [firstNumber, secondNumber, firstNumber, secondNumber];
    await Promise.all(numbers.map((number) => sendMessages.execute(toNumber(told, number))));
    const events = await storage.run(({ webhookEvents }) =>
      webhookEvents.lockOpen([`credit.low/${told.id}`]),
    );
    expect(events.map(({ body }) => JSON.parse(body).credit)).toEqual([840]);
  });

  it('SendMessages replays the result of an idempotency key for a day', async () => {
    expect(IDEMPOTENCY_RECORD_LIFETIME_MS).toBe(24 * HOUR_MS);
    await prepare(noRateLimit);
    const clock = { at: NOW, now: () => clock.at };
    const sendMessages = aProcess(clock);
    const command = toNumber(noRateLimit, firstNumber, 'key');
    const first = await sendMessages.execute(command);
    clock.at = NOW + 24 * HOUR_MS - 1;
    expect(await sendMessages.execute(command)).toEqual({ ...first, replayed: true });
    clock.at = NOW + 24 * HOUR_MS;
    const later = await sendMessages.execute(command);
    expect([later.replayed, later.smsId === first.smsId]).toEqual([false, false]);
  });
}

let numbersGiven = 0;

function aNewNumber(): PhoneNumber {
  numbersGiven += 1;
  return aPhoneNumber(`96477123${String(numbersGiven).padStart(5, '0')}`);
}

function toNumber(project: Project, phoneNumber: PhoneNumber, key?: string): SendCommand {
  const request = aSendRequest({ phoneNumber, provider: 'sms' });
  return {
    project,
    request,
    idempotency: key === undefined ? null : { route: 'POST /sms', key, requestHash: 'hash' },
  };
}

/** The result, or the kind of the rejection. */
async function outcomeOf<Result>(sending: Promise<Result>): Promise<Result | string> {
  try {
    return await sending;
  } catch (error) {
    if (error instanceof Rejected) return error.rejection.kind;
    throw error;
  }
}
