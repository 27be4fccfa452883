import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { ContainerModule } from 'inversify';
import { describe, expect, it } from 'vitest';
import { QUEUE_MS_MAX, UndiciWebhookTransport } from '../../src/adapters/undici/undici-webhook-transport.ts';
import { LEASE_MS, type LeasedJob } from '../../src/application/jobs/job.ts';
import { deliverWebhooksJob, type WebhookWork } from '../../src/application/jobs/webhook-jobs.ts';
import type { WebhookAnswer, WebhookPost } from '../../src/application/ports/webhook-transport.ts';
import { LANE_LIMITS } from '../../src/application/webhooks/posting-lanes.ts';
import type { Harness } from '../../src/bootstrap/harness.ts';
import { ports } from '../../src/bootstrap/tokens.ts';
import { answerWith, HttpsReceiver } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

const SECOND = 1_000;
const START = Date.UTC(2030, 0, 1);

const withReceiver = hasOpenssl ? describe : describe.skip;
const named = (title: string) => (hasOpenssl ? title : `${title} (skipped: ${OPENSSL_MISSING})`);

/** Knows how many posts it was given at a time. */
class CountingTransport extends UndiciWebhookTransport {
  most = 0;
  #underWay = 0;

  override async post(post: WebhookPost): Promise<WebhookAnswer> {
    this.#underWay += 1;
    this.most = Math.max(this.most, this.#underWay);
    const answer = await super.post(post);
    this.#underWay -= 1;
    return answer;
  }
}

/** A clock of our own, and lanes that look again as soon as they have nothing to do, or not of themselves. */
async function start({ looksAgain = true, queueMs = QUEUE_MS_MAX } = {}) {
  const clock = { at: START, now: () => clock.at };
  const pauses = new EventEmitter();
  const byHand = new ContainerModule(({ rebind }) => {
    rebind(ports.clock).toConstantValue(clock);
    rebind(ports.fetchInterval).toConstantValue((over) => {
      pauses.emit('begun');
      if (looksAgain) setImmediate(over);
    });
    rebind(ports.webhookTransport).toResolvedValue(() => transport);
  });
  const receiver = await HttpsReceiver.open();
  const { allow = [], ports: allowedPorts = [], ca = '' } = receiver.egress;
  const transport = new CountingTransport({ allowedNetworks: allow, allowedPorts, ca, queueMs });
  const service = await startService({
    egress: receiver.egress,
    now: START,
    seed: seedWith({ credit: 100_000, rateLimit: null }),
    overrides: [byHand],
  });
  const held: ServerResponse[] = [];
  receiver.answer((_, response) => held.push(response));
  const send = async (number: number, path = '/hook') => {
    await service.request('/sms', {
      // Fails at once, so that its only event is due at once.
      body: verification(`999${String(number).padStart(6, '0')}0006`, {
        provider: 'sms',
        deliveryReport: { webhookUrl: receiver.url(path), deliveryReportType: 'final' },
      }),
    });
  };
  /** Resolves when lanes have looked for more so often from now on. */
  const looked = async (times: number) => {
    for (let time = 0; time < times; time += 1) await once(pauses, 'begun');
  };
  const events = () => service.service.roots.database.knex('webhook_events');
  return { clock, receiver, transport, service, held, send, looked, events };
}

async function jobsOf(service: Harness) {
  const rows = await service.service.roots.database
    .knex('jobs')
    .select('id', 'work', 'due_at', 'is_leased', 'fencing_token');
  return rows.map(({ id, work, due_at, is_leased, fencing_token }) => ({
    job: { id, work: JSON.parse(work), fencingToken: Number(fencing_token) } as LeasedJob<WebhookWork>,
    dueAt: Number(due_at),
    isLeased: Number(is_leased) === 1,
  }));
}

withReceiver(named('what is due'), () => {
  it('is looked for when the last post is recorded', async () => {
    const { receiver, service, send } = await start({ looksAgain: false });
    receiver.answer(answerWith(200));
    const count = LANE_LIMITS.atOnce * 3;
    for (let number = 1; number <= count; number += 1) await send(number);
    await receiver.arrived(count);
    await service.service.roots.background.idle();
    expect(await jobsOf(service)).toEqual([]);
  });

  it('is posted at once beside an endpoint whose posts hang', async () => {
    const { receiver, service, held, send } = await start({ looksAgain: false });
    await send(1);
    await receiver.arrived(1);
    await send(2, '/other');
    await receiver.arrived(2);
    for (const response of held) response.writeHead(200).end();
    await service.service.roots.background.idle();
    expect(await jobsOf(service)).toEqual([]);
  });
});

withReceiver(named('an endpoint whose posts hang'), () => {
  it('is posted to again so long after the attempt ended, not after it began', async () => {
    const { clock, receiver, service, held, send, events } = await start({ looksAgain: false });
    await send(1);
    await receiver.arrived(1);
    clock.at = START + 5 * SECOND;
    held[0]?.writeHead(500).end();
    await service.service.roots.background.idle();
    const [nextAttemptAt] = await events().pluck('next_attempt_at');
    // Five seconds, and a fifth of that more or less.
    expect(Number(nextAttemptAt)).toBeGreaterThanOrEqual(START + 9 * SECOND);
    expect(Number(nextAttemptAt)).toBeLessThanOrEqual(START + 11 * SECOND);
  });

  it('stays in the hands of who posts to it, and what comes meanwhile is found', async () => {
    const { clock, receiver, service, held, send } = await start();
    await send(1);
    await receiver.arrived(1);
    expect(await jobsOf(service)).toMatchObject([{ dueAt: START + LEASE_MS, isLeased: true }]);
    clock.at = START + 4 * SECOND;
    await send(2);
    await receiver.arrived(2);
    expect(await jobsOf(service)).toMatchObject([{ dueAt: START + 4 * SECOND + LEASE_MS, isLeased: true }]);
    for (const response of held) response.writeHead(200).end();
    await service.service.roots.background.idle();
    expect(await jobsOf(service)).toEqual([]);
  });

  it('gets more at a time once it answers fast', async () => {
    const { receiver, transport, service, held, send, looked } = await start();
    const { atOnce } = LANE_LIMITS;
    const answerHeld = () => {
      for (const response of held.splice(0)) response.writeHead(200).end();
    };
    for (let number = 0; number < 6 * atOnce; number += 1) await send(number);
    await receiver.arrived(atOnce);
    answerHeld();
    await receiver.arrived(2 * atOnce);
    answerHeld();
    // What came in their place hangs, so that no post ends while more are looked for.
    while (transport.most <= 2 * atOnce) await looked(1);
    receiver.answer(answerWith(200));
    answerHeld();
    await receiver.arrived(6 * atOnce);
    await service.service.roots.background.idle();
  });

  it('gets no more when posts end fast that waited for their place in vain', async () => {
    const { clock, transport, service, held, send, looked, events } = await start({ queueMs: 1 });
    const { atOnce } = LANE_LIMITS;
    const waiting = 5 * atOnce;
    const untilPostponed = async () => {
      while ((await events().where('next_attempt_at', '>', clock.at)).length < waiting) await looked(1);
    };
    for (let number = 0; number < atOnce + waiting; number += 1) await send(number);
    await untilPostponed();
    clock.at = START + 5 * SECOND;
    await untilPostponed();
    expect(transport.most).toBe(2 * atOnce);
    for (const response of held) response.writeHead(200).end();
    await service.service.roots.background.idle();
  });

  it('is lost when somebody else holds its job, and nothing more is begun for it', async () => {
    const { clock, receiver, service, held, send, looked, events } = await start();
    await send(1);
    await receiver.arrived(1);
    const [leased] = await jobsOf(service);
    if (leased === undefined) throw new Error('The job is leased');
    const { roots } = service.service;
    const [taken] = await roots.unitOfWork.run(({ jobs }) =>
      jobs.lease({ now: START + LEASE_MS, until: START + 2 * LEASE_MS, limit: 1 }),
    );
    expect(taken).toEqual({ ...leased.job, fencingToken: leased.job.fencingToken + 1 });
    clock.at = START + LEASE_MS;
    await send(2);
    while ((await events()).length < 2) await looked(1);
    await looked(2);
    expect(receiver.posts).toHaveLength(1);
    for (const response of held) response.writeHead(200).end();
    await roots.background.idle();
    expect(await jobsOf(service)).toMatchObject([{ job: taken, isLeased: true }]);
    expect(await events().where({ is_open: 1 })).toHaveLength(2);
  });

  it('is given back by a service that stops, once its posts are over', async () => {
    const { receiver, service, held, send, events } = await start();
    const { atOnce } = LANE_LIMITS;
    const count = 4 * atOnce;
    for (let number = 0; number < count; number += 1) await send(number);
    await receiver.arrived(atOnce);
    const { roots } = service.service;
    roots.deliverWebhooks.stop();
    receiver.answer(answerWith(200));
    for (const response of held) response.writeHead(200).end();
    await roots.background.idle();
    // What was begun waits in the transport for a connection, and is posted.
    expect(receiver.posts.length).toBeLessThanOrEqual(2 * atOnce);
    const [job] = await jobsOf(service);
    expect(job).toMatchObject({ dueAt: START, isLeased: false });
    const open = await events().where({ is_open: 1 });
    expect(open.length + receiver.posts.length).toBe((await events()).length);
  });
});

withReceiver(named('more endpoints than one process serves at a time'), () => {
  it('come back a little later', async () => {
    const { clock, receiver, service, held, send } = await start();
    await send(1);
    await receiver.arrived(1);
    const { roots } = service.service;
    const [posting] = await jobsOf(service);
    if (posting === undefined) throw new Error('The job is leased');
    const { projectId } = posting.job.work;
    // Of endpoints nobody has events for, so that their jobs are gone when they are looked for.
    const others = Array.from({ length: LANE_LIMITS.lanesPerProject }, (_, index) => {
      const { id, work } = deliverWebhooksJob({ projectId, endpoint: `other.example/${index}` }, START);
      return { id, fencingToken: 1, work } as LeasedJob<WebhookWork>;
    });
    const last = deliverWebhooksJob({ projectId, endpoint: 'last.example/' }, START);
    const [job] = await roots.unitOfWork.run(async ({ jobs }) => {
      await jobs.add([last]);
      return jobs.lease({ now: START, until: START + LEASE_MS, limit: 10 });
    });
    if (job === undefined) throw new Error('The job is due');
    await roots.unitOfWork.run(({ webhookEvents }) =>
      webhookEvents.insert([
        {
          id: 'f'.repeat(24),
          kind: 'delivery',
          projectId,
          orderingKey: 'f'.repeat(24),
          phoneNumberId: null,
          url: 'https://last.example/',
          endpoint: 'last.example/',
          secret: null,
          body: '{}',
          state: 'pending',
          attempts: 0,
          firstAttemptAt: null,
          nextAttemptAt: START,
          lastError: null,
          createdAt: START,
          version: 0,
        },
      ]),
    );
    await roots.deliverWebhooks.execute([...others, job as LeasedJob<WebhookWork>]);
    const back = (await jobsOf(service)).find(({ job: { id } }) => id === last.id);
    expect(back).toMatchObject({ dueAt: clock.at + 2 * SECOND, isLeased: false });
    for (const response of held) response.writeHead(200).end();
    await roots.background.idle();
  });
});
