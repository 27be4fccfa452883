import { ContainerModule } from 'inversify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LOCKED_RETRY_MS } from '../../../src/application/attempts/admit-starts.ts';
import { AdvanceMessages, NO_WORK } from '../../../src/application/attempts/advance-messages.ts';
import { ApplyMessageEvents } from '../../../src/application/attempts/apply-message-events.ts';
import { CorrelateReceipts } from '../../../src/application/attempts/correlate-receipts.ts';
import { RevokeAttempts } from '../../../src/application/attempts/revoke-attempts.ts';
import {
  CAPACITY_RETRY_MS,
  SUBMISSIONS_IN_FLIGHT_MAX,
  SubmissionCapacity,
} from '../../../src/application/attempts/submission-capacity.ts';
import {
  type AttemptWork,
  attemptDeadlineJobId,
  startAttemptJob,
  startAttemptJobId,
} from '../../../src/application/jobs/attempt-jobs.ts';
import { SendMessages } from '../../../src/application/sending/send-messages.ts';
import { ports } from '../../../src/bootstrap/tokens.ts';
import type { ChainEvent } from '../../../src/domain/chain/chain-event.ts';
import type { LeasedJob } from '../../../src/domain/jobs/job.ts';
import type { SendRequest } from '../../../src/domain/messages/send-request.ts';
import { iqd, ZERO } from '../../../src/domain/shared/money.ts';
import type { PlainSecret } from '../../../src/domain/shared/sealed-secret.ts';
import { type ApplicationWorld, aSeedProject, openApplication } from '../../support/application-world.ts';
import { beginAll } from '../../support/begin-all.ts';
import {
  aDeliveryReport,
  aMessage,
  anSmsId,
  aPhoneNumber,
  aProject,
  aSenderId,
  aSendRequest,
  aTemplateRequest,
  aText,
  aWhatsappBusiness,
  HOUR_MS,
  NOW,
  SECOND_MS,
  someMobileOperatorPrices,
} from '../../support/builders.ts';
import { uncancelled } from '../../support/uncancelled.ts';

const project = aProject({ settings: { rateLimit: null } });
const accepted = (attemptNumber = 0): ChainEvent => ({
  kind: 'submitted',
  attemptNumber,
  result: { kind: 'accepted', providerMessageIds: [`id-${attemptNumber}`] },
});
const delivered = (attemptNumber = 0): ChainEvent => ({
  kind: 'receipt',
  attemptNumber,
  providerMessageId: `id-${attemptNumber}`,
  receipt: { kind: 'delivered' },
});
const failed = (attemptNumber = 0): ChainEvent => ({
  kind: 'receipt',
  attemptNumber,
  providerMessageId: `id-${attemptNumber}`,
  receipt: { kind: 'failed', reason: 'Absent' },
});

/** As many codes of the project as may be in flight. */
const inFlight = () =>
  Array.from(
    { length: SUBMISSIONS_IN_FLIGHT_MAX },
    () => ({ priority: 'code', projectId: project.id }) as const,
  );

describe('the way of a message', () => {
  let world: ApplicationWorld;
  let wakes: number;

  beforeEach(async () => {
    wakes = 0;
    const counted = new ContainerModule(({ rebind }) => {
      rebind(ports.wakeSignal).toConstantValue({
        wake: () => {
          wakes += 1;
        },
      });
    });
    world = await openApplication({
      projects: [
        aSeedProject({
          project,
          senderIds: [
            aSenderId(),
            aSenderId({
              id: '664abc0000000000000000a2',
              senderId: 'Second',
              pricePerSms: someMobileOperatorPrices({ asiaCell: iqd(55) }),
            }),
          ],
          whatsappBusinesses: [aWhatsappBusiness()],
        }),
      ],
      overrides: [counted],
    });
  });

  afterEach(() => world.close());

  async function send(given: Partial<SendRequest<PlainSecret>> = {}): Promise<string> {
    const request = aSendRequest(given);
    const { smsId } = await world.container
      .get(SendMessages)
      .execute({ project, request, idempotency: null });
    return smsId;
  }

  const sendOverWhatsapp = (request: SendRequest<PlainSecret>) =>
    world.container.get(SendMessages).execute({ project, request, idempotency: null });

  /** What the provider says, all of it at the same moment; receipts under the id it gave the attempt. */
  async function apply(smsId: string, ...events: readonly ChainEvent[]): Promise<void> {
    const applyMessageEvents = world.container.get(ApplyMessageEvents);
    const stored = await world.unitOfWork.read(({ messages }) => messages.find(project.id, smsId));
    const withIds = events.some(({ kind }) => kind === 'submitted') ? [] : (stored?.attempts ?? []);
    await Promise.all(
      events.map((event) => {
        const { attemptNumber } = event;
        const channel = stored?.channels[attemptNumber] ?? 'sms';
        if (event.kind === 'submitted') {
          return applyMessageEvents.submitted({ smsId, attemptNumber, channel, result: event.result });
        }
        if (event.kind !== 'receipt') throw new Error('Providers say nothing else');
        const providerMessageId = withIds[attemptNumber]?.providerMessageIds[0] ?? event.providerMessageId;
        return applyMessageEvents.received([{ channel, providerMessageId, receipt: event.receipt }]);
      }),
    );
  }

  async function jobs(): Promise<readonly { readonly id: string; readonly due_at: number }[]> {
    return world.database.knex('jobs').select('id', 'due_at').orderBy('id');
  }

  it('an attempt reaches its channel with all that the channel has to know', async () => {
    const smsId = await send({ provider: 'sms', senderId: 'Barid', content: aText('Hello') });
    expect(await world.runDueJobs()).toEqual([startAttemptJobId(smsId, 0)]);
    expect(world.submitted).toEqual([
      {
        smsId,
        attemptNumber: 0,
        channel: 'sms',
        projectId: project.id,
        environment: 'live',
        phoneNumber: aPhoneNumber(),
        senderId: 'Barid',
        whatsappSender: { accountId: null, phoneId: null, templateName: null },
        content: aText('Hello'),
        text: 'Hello',
        attemptTimeoutMs: 300 * SECOND_MS,
        priority: 'text',
        submittedAt: NOW,
        result: 'accepted',
      },
    ]);
    expect(await world.message(smsId)).toMatchObject({
      status: 'sent',
      attempts: [{ channel: 'sms', state: 'accepted', providerMessageIds: [`simulated-${smsId}-0`] }],
    });
    expect(await jobs()).toEqual([{ id: attemptDeadlineJobId(smsId, 0), due_at: NOW + 300 * SECOND_MS }]);
  });

  it('a message goes out under the sender ID it names, at the price of that sender ID', async () => {
    const smsId = await send({ provider: 'sms', senderId: 'Second' });
    expect((await world.message(smsId)).cost).toBe(iqd(55));
  });

  it('a message goes out over the whatsapp number of its project that it names', async () => {
    const { smsId } = await sendOverWhatsapp(aTemplateRequest());
    await world.runDueJobs();
    expect(world.submitted).toMatchObject([{ smsId, whatsappSender: aTemplateRequest().whatsappSender }]);
  });

  it.each<[string, Partial<SendRequest<PlainSecret>>, string]>([
    [
      'account',
      { whatsappSender: { accountId: 'x', phoneId: null, templateName: null } },
      'whatsapp-account-not-found',
    ],
    [
      'number',
      { whatsappSender: { accountId: null, phoneId: 'x', templateName: null } },
      'whatsapp-phone-not-found',
    ],
  ])('a message is rejected when its project has no such whatsapp %s', async (_, given, kind) => {
    await expect(sendOverWhatsapp(aSendRequest({ provider: 'whatsapp', ...given }))).rejects.toThrow(kind);
    const own = aTemplateRequest().whatsappSender;
    const { cost } = await sendOverWhatsapp(
      aSendRequest({ provider: 'whatsapp', whatsappSender: { ...own, templateName: null } }),
    );
    expect(cost).toBe(iqd(60));
  });

  it('a message of a project without an account is not accepted', async () => {
    const otherProject = aProject({ id: '664abc0000000000000000ff' });
    const command = { project: otherProject, request: aSendRequest(), idempotency: null };
    await expect(world.container.get(SendMessages).execute(command)).rejects.toThrow(
      'Project 664abc0000000000000000ff has no account',
    );
  });

  it('the start of an attempt schedules the job that ends its time', async () => {
    const smsId = await send();
    await world.runDueJobs();
    expect(await jobs()).toEqual([{ id: attemptDeadlineJobId(smsId, 0), due_at: NOW + 30 * SECOND_MS }]);
  });

  it('a message goes on to the next channel when the time of one is over', async () => {
    const smsId = await send();
    await world.runDueJobs();
    world.clock.at += 30 * SECOND_MS;
    expect(await world.runDueJobs()).toEqual([attemptDeadlineJobId(smsId, 0)]);
    expect(await jobs()).toEqual([{ id: startAttemptJobId(smsId, 1), due_at: world.clock.at }]);
    await world.runDueJobs();
    expect(world.submitted.map(({ channel }) => channel)).toEqual(['whatsapp', 'telegram']);
  });

  it('the cost of a delivered message is captured once, and no job is left', async () => {
    const smsId = await send({ provider: 'sms' });
    await world.runDueJobs();
    expect(await world.account()).toMatchObject({ held: iqd(80), spent: ZERO });
    await apply(smsId, delivered());
    await apply(smsId, delivered(), failed());
    expect(await world.account()).toMatchObject({ balance: iqd(920), held: ZERO, spent: iqd(80) });
    expect(await jobs()).toEqual([]);
    expect(await world.message(smsId)).toMatchObject({ status: 'delivered', isFinal: true });
  });

  it('the cost of a message is released when every channel has failed', async () => {
    const smsId = await send({ provider: 'sms' });
    await world.runDueJobs();
    await apply(smsId, failed());
    expect(await world.account()).toMatchObject({ balance: iqd(1_000), held: ZERO, spent: ZERO });
    expect(await world.message(smsId)).toMatchObject({ status: 'failed', errorReason: 'Absent' });
  });

  it('the price of the channel that delivered is captured when the project settles so', async () => {
    const smsId = anSmsId(7);
    await world.unitOfWork.run(async (stores) => {
      const message = aMessage({ smsId, settlement: 'delivered', attempts: [] });
      await stores.messages.insert([message]);
      await stores.jobs.add([startAttemptJob(aMessage({ smsId }), 0, NOW)], NOW);
    });
    await world.runDueJobs();
    await apply(smsId, delivered());
    expect((await world.account()).spent).toBe(iqd(60));
  });

  it('several events of one message are folded in the order they were given', async () => {
    const smsId = await send();
    const [first] = await world.lease();
    if (first === undefined) throw new Error('The first attempt is due');
    await world.unitOfWork.run(({ jobs: store }) =>
      store.add([startAttemptJob(aMessage({ smsId }), 0, NOW)], NOW),
    );
    await world.runDueJobs();
    await apply(smsId, accepted(), failed(), delivered());
    expect(await world.message(smsId)).toMatchObject({
      status: 'delivered',
      attempts: [{ channel: 'whatsapp', state: 'delivered', providerMessageIds: ['id-0'] }],
    });
    // The start of the next channel was scheduled by the second event, and removed by the third.
    expect(await jobs()).toEqual([]);
  });

  it('events that failed together are repeated one by one for five seconds only', async () => {
    let runs = 0;
    const failing = new ApplyMessageEvents({
      unitOfWork: {
        run: async () => {
          runs += 1;
          world.clock.at += 5_001;
          throw new Error('poison');
        },
      } as never,
      correlateReceipts: world.container.get(CorrelateReceipts),
      advanceMessages: world.container.get(AdvanceMessages),
      revokeAttempts: world.container.get(RevokeAttempts),
      logger: world.logger,
      wakeSignal: { wake() {} },
      resultRetryDelay: uncancelled(setImmediate),
      clock: world.clock,
    });
    const receipts = ['id-1', 'id-2', 'id-3'].map((providerMessageId) => ({
      channel: 'sms' as const,
      providerMessageId,
      receipt: { kind: 'delivered' as const },
    }));
    await expect(failing.received(receipts)).rejects.toThrow('poison');
    await new Promise((resolve) => setImmediate(resolve));
    expect(runs).toBe(1);
  });

  it('the account of a settled message is locked when its jobs are written: sends of the project wait for it', async () => {
    const smsId = await send({ provider: 'sms' });
    await world.runDueJobs();
    const event: ChainEvent = {
      kind: 'receipt',
      attemptNumber: 0,
      providerMessageId: `simulated-${smsId}-0`,
      receipt: { kind: 'delivered' },
    };
    const written: string[] = [];
    await world.unitOfWork.run(async (stores) => {
      const remove: typeof stores.jobs.remove = async (ids) => {
        await stores.jobs.remove(ids);
        await new Promise((resolve) => setImmediate(resolve));
        written.push('jobs');
      };
      const post: typeof stores.ledger.post = async (entries) => {
        written.push('ledger');
        await stores.ledger.post(entries);
      };
      const recording = {
        ...stores,
        jobs: Object.assign(Object.create(stores.jobs), { remove }),
        ledger: Object.assign(Object.create(stores.ledger), { post }),
      };
      await world.container.get(AdvanceMessages).execute(recording, { events: [{ smsId, event }] });
    });
    expect(written).toEqual(['jobs', 'ledger']);
    expect(await world.message(smsId)).toMatchObject({ status: 'delivered' });
  });

  it('events of unknown messages are ignored', async () => {
    const before = wakes;
    await apply(anSmsId(99), delivered());
    // Behind the transaction that finds no message, and behind the one that parks the receipt.
    expect(wakes).toBe(before + 2);
    expect(await world.database.knex('messages').select()).toEqual([]);
  });

  it('committed events wake the loops', async () => {
    const smsId = await send({ provider: 'sms' });
    const before = wakes;
    await apply(smsId);
    expect(wakes).toBe(before);
    await apply(smsId, accepted());
    expect(wakes).toBe(before + 1);
    await apply(smsId, delivered());
    expect(wakes).toBe(before + 2);
  });

  it('an attempt starts later when its provider is at its limit, and no other attempt does', async () => {
    const end = beginAll(
      world.container.get(SubmissionCapacity),
      { channel: 'whatsapp', environment: 'live', provider: 'simulator' },
      inFlight(),
    );
    const delayed = await send();
    const free = await send({ provider: 'sms' });
    await world.runDueJobs();
    expect(world.submitted.map(({ smsId }) => smsId)).toEqual([free]);
    expect((await world.message(delayed)).attempts).toEqual([]);
    expect((await jobs()).filter(({ id }) => id.startsWith(delayed))).toEqual([
      { id: startAttemptJobId(delayed, 0), due_at: NOW + CAPACITY_RETRY_MS },
    ]);
    end();
    world.clock.at += CAPACITY_RETRY_MS;
    await world.runDueJobs();
    expect(world.submitted.map(({ smsId }) => smsId)).toEqual([free, delayed]);
  });

  it('an attempt that has waited for its provider has done so also behind a lock of its project', async () => {
    const smsId = await send({ provider: 'sms' });
    const message = await world.message(smsId);
    await world.unitOfWork.run(({ jobs: stored }) =>
      stored.add([startAttemptJob(message, 0, NOW, { hasWaited: true })], NOW),
    );
    const due = (await world.lease()) as readonly LeasedJob<AttemptWork>[];
    const isLocked = () => true;
    await world.unitOfWork.run((stores) =>
      world.container.get(AdvanceMessages).execute(stores, { jobs: due, isLocked }),
    );
    world.clock.at += LOCKED_RETRY_MS;
    const [again] = await world.lease();
    expect(again?.work).toEqual({ kind: 'start-attempt', smsId, attemptNumber: 0, hasWaited: true });
  });

  it('the time of other attempts ends while their provider is at its limit', async () => {
    const timedOut = await send({ provider: 'whatsapp-sms' });
    await world.runDueJobs();
    const end = beginAll(
      world.container.get(SubmissionCapacity),
      { channel: 'whatsapp', environment: 'live', provider: 'simulator' },
      inFlight(),
    );
    world.clock.at += 30 * SECOND_MS;
    const waiting = await send({ provider: 'whatsapp' });
    const due = (await world.lease()) as readonly LeasedJob<AttemptWork>[];
    expect(due).toHaveLength(2);
    await world.unitOfWork.run((stores) =>
      world.container.get(AdvanceMessages).execute(stores, { jobs: due }),
    );
    expect(await world.message(timedOut)).toMatchObject({ attempts: [{ state: 'timed-out' }] });
    expect((await world.message(waiting)).attempts).toEqual([]);
    end();
  });

  it('an attempt whose time is over is to be revoked under the ids of its provider', async () => {
    const smsId = await send({ provider: 'whatsapp-sms' });
    await world.runDueJobs();
    await apply(smsId, accepted());
    world.clock.at += 30 * SECOND_MS;
    const due = (await world.lease()) as readonly LeasedJob<AttemptWork>[];
    const work = await world.unitOfWork.run((stores) =>
      world.container.get(AdvanceMessages).execute(stores, { jobs: due }),
    );
    expect(work).toEqual({
      submissions: [],
      revocations: [{ channel: 'whatsapp', providerMessageIds: ['id-0'] }],
      waiting: [],
    });
  });

  it('an attempt whose time is over is not revoked when its delivery comes with it', async () => {
    const smsId = await send({ provider: 'whatsapp-sms' });
    await world.runDueJobs();
    await apply(smsId, accepted());
    const deadline: ChainEvent = { kind: 'deadline', attemptNumber: 0 };
    const events = [deadline, delivered()].map((event) => ({ smsId, event }));
    const work = await world.unitOfWork.run((stores) =>
      world.container.get(AdvanceMessages).execute(stores, { events }),
    );
    expect(work).toEqual(NO_WORK);
  });

  it('the start of a message that ended while its provider was at its limit leaves no job', async () => {
    const smsId = await send({ provider: 'whatsapp' });
    await world.unitOfWork.run(async ({ messages }) => {
      const locked = await messages.lock([smsId]);
      await messages.save(locked.map((each) => ({ ...each, status: 'failed', isFinal: true, finalAt: NOW })));
    });
    beginAll(
      world.container.get(SubmissionCapacity),
      { channel: 'whatsapp', environment: 'live', provider: 'simulator' },
      inFlight(),
    );
    await world.runDueJobs();
    expect(await jobs()).toEqual([]);
  });

  it('a message is delivered by the receipt of its channel', async () => {
    const smsId = await send({ provider: 'sms' });
    await world.runDueJobs();
    world.clock.at += HOUR_MS;
    await world.recordReceipts();
    expect(await world.message(smsId)).toMatchObject({ status: 'delivered', isFinal: true });
  });

  it('an attempt whose message ended meanwhile is not submitted', async () => {
    const smsId = await send({ provider: 'sms' });
    const leased = await world.lease();
    await world.unitOfWork.run(async ({ messages }) => {
      const locked = await messages.lock([smsId]);
      await messages.save(locked.map((each) => ({ ...each, status: 'failed', isFinal: true, finalAt: NOW })));
    });
    expect(leased).toHaveLength(1);
    world.clock.at += 15 * SECOND_MS;
    await world.runDueJobs();
    expect(world.submitted).toEqual([]);
    expect(await jobs()).toEqual([]);
  });

  it('a webhook event is queued for each status that the subscription wants, in order', async () => {
    const smsId = await send({
      provider: 'sms',
      deliveryReport: aDeliveryReport({ webhookSecret: 's3cret' }),
    });
    await world.runDueJobs();
    await apply(smsId, delivered());
    const events = await world.unitOfWork.run(({ webhookEvents }) => webhookEvents.lockOpen([smsId]));
    const byStatus = new Map(events.map((event) => [JSON.parse(event.body).status, event]));
    expect([...byStatus.keys()].toSorted()).toEqual(['delivered', 'sent']);
    expect([byStatus.get('sent')?.nextAttemptAt, byStatus.get('delivered')?.nextAttemptAt]).toEqual([
      NOW,
      null,
    ]);
    expect((await jobs()).map(({ id }) => id)).toEqual([`webhooks/${project.id}/customer.example/status`]);
  });

  it('no webhook event is queued for a status that the subscription does not want', async () => {
    const deliveryReport = aDeliveryReport({ deliveryReportType: 'final' });
    const smsId = await send({ provider: 'sms', deliveryReport });
    await world.runDueJobs();
    expect(await world.database.knex('webhook_events').select()).toEqual([]);
    await apply(smsId, delivered());
    expect(await world.database.knex('webhook_events').pluck('state')).toEqual(['pending']);
  });
});
