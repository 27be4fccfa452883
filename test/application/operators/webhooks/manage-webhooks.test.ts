import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManageWebhooks } from '../../../../src/application/operators/webhooks/manage-webhooks.ts';
import {
  type LogFilter,
  ReadWebhookLog,
} from '../../../../src/application/operators/webhooks/read-webhook-log.ts';
import { adapters } from '../../../../src/bootstrap/tokens.ts';
import { CLOSED_CIRCUIT } from '../../../../src/domain/shared/circuit-breaker.ts';
import { onlySecret } from '../../../../src/domain/webhooks/inbound-secrets.ts';
import type { WebhookEvent } from '../../../../src/domain/webhooks/webhook-event.ts';
import { type ApplicationWorld, aSeedProject, openApplication } from '../../../support/application-world.ts';
import {
  aMessage,
  anId,
  anSmsId,
  aProject,
  aSealedSecret,
  aWebhookEvent,
  NOW,
  PROJECT_ID,
} from '../../../support/builders.ts';

const HEX_ID = /^[0-9a-f]{24}$/;
const OTHER_PROJECT = anId(0xabc);
const ENDPOINT = 'customer.example/hook';
const DESTINATION = { project: 'demo', endpoint: ENDPOINT };
const OPEN = { ...CLOSED_CIRCUIT, consecutiveOpens: 1, openUntil: NOW + 60_000 };
const LATER = NOW + 1_000;

/** An event of message `n` that tells of its end and was discarded. */
const discarded = (n: number, given: Partial<WebhookEvent> = {}) =>
  aWebhookEvent({
    id: anId(n),
    orderingKey: anSmsId(n),
    state: 'discarded',
    attempts: 3,
    nextAttemptAt: null,
    lastError: 'HTTP 500',
    body: '{"isFinal":true}',
    ...given,
  });
const sent = (n: number, given: Partial<WebhookEvent> = {}) =>
  discarded(n, { body: '{"isFinal":false}', ...given });

describe('webhooks, for operators', () => {
  let world: ApplicationWorld;
  let manageWebhooks: ManageWebhooks;
  let log: ReadWebhookLog;
  let wakes: number;

  beforeEach(async () => {
    const other = aProject({ id: OTHER_PROJECT, slug: 'other', settings: { rateLimit: null } });
    world = await openApplication({ projects: [aSeedProject(), aSeedProject({ project: other })] });
    manageWebhooks = world.container.get(ManageWebhooks);
    log = world.container.get(ReadWebhookLog);
    wakes = 0;
    world.container.get(adapters.localWakeSignal).subscribe(() => {
      wakes += 1;
    });
    world.clock.at = LATER;
  });
  afterEach(() => world.close());

  const insert = (...events: readonly WebhookEvent[]) =>
    world.unitOfWork.run(({ webhookEvents }) => webhookEvents.insert(events));
  const stored = async (...numbers: readonly number[]) => {
    const events = await world.unitOfWork.run(({ webhookEvents }) =>
      webhookEvents.lock(numbers.map((n) => anId(n))),
    );
    return events.map(({ version: _, ...event }) => event);
  };
  const unversioned = ({ version: _, ...event }: WebhookEvent) => event;
  const records = () =>
    world.unitOfWork.read(({ auditLog }) => auditLog.list({ projectId: null, before: null, limit: 10 }));
  const rejected = (kind: string) => ({ rejection: { kind } });
  const dueJobs = async () => (await world.lease()).map(({ id }) => id);

  it('an event that is sent again is due at once, its destination has a job, and the audit log its host', async () => {
    await insert(discarded(1));
    const again = { ...discarded(1), state: 'pending', nextAttemptAt: LATER };
    expect(await manageWebhooks.resendEvent('cli', anId(1))).toMatchObject({ id: anId(1), state: 'pending' });
    expect(await stored(1)).toEqual([unversioned(again as WebhookEvent)]);
    expect(await dueJobs()).toEqual([`webhooks/${PROJECT_ID}/${ENDPOINT}`]);
    expect(wakes).toBe(1);
    expect(await records()).toEqual([
      {
        id: expect.stringMatching(HEX_ID),
        at: LATER,
        actor: 'cli',
        action: 'webhook-resent',
        projectId: PROJECT_ID,
        before: { eventId: anId(1), state: 'discarded' },
        after: { eventId: anId(1), state: 'pending', host: 'customer.example' },
      },
    ]);
  });

  it('an event that does not exist, or is due already, is not sent again', async () => {
    await insert(discarded(1, { state: 'pending', nextAttemptAt: NOW }));
    for (const id of [anId(9), 'x', '']) {
      await expect(manageWebhooks.resendEvent('cli', id)).rejects.toMatchObject(
        rejected('webhook-event-not-found'),
      );
    }
    await expect(manageWebhooks.resendEvent('cli', anId(1))).rejects.toMatchObject(
      rejected('webhook-event-not-resendable'),
    );
    expect(await records()).toEqual([]);
    expect(wakes).toBe(0);
  });

  it('an event that comes due while its row is waited for is not sent again: it may be in an attempt', async () => {
    await insert(discarded(1, { state: 'pending', nextAttemptAt: LATER + 1 }));
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const earlier = world.unitOfWork.run(() => held);
    const resent = manageWebhooks.resendEvent('cli', anId(1));
    world.clock.at = LATER + 1;
    release();
    await earlier;
    await expect(resent).rejects.toMatchObject(rejected('webhook-event-not-resendable'));
    expect(await stored(1)).toMatchObject([{ nextAttemptAt: LATER + 1 }]);
  });

  it('an event that tells of no end is sent again while its message is open', async () => {
    await insert(sent(1), sent(2));
    await world.unitOfWork.run(({ messages }) =>
      messages.insert([
        aMessage({ smsId: anSmsId(1) }),
        aMessage({ smsId: anSmsId(2), isFinal: true, status: 'failed', finalAt: NOW }),
      ]),
    );
    expect(await manageWebhooks.resendEvent('cli', anId(1))).toMatchObject({ state: 'pending' });
    await expect(manageWebhooks.resendEvent('cli', anId(2))).rejects.toMatchObject(
      rejected('webhook-event-not-resendable'),
    );
    expect(await stored(2)).toEqual([unversioned(sent(2))]);
  });

  it('an inbound event goes to the webhook that its number has now, and to none without one', async () => {
    const inbound = discarded(1, {
      kind: 'inbound',
      whatsappPhoneId: anId(7),
      secret: aSealedSecret('old'),
      body: '{}',
    });
    await insert(inbound);
    await expect(manageWebhooks.resendEvent('cli', anId(1))).rejects.toMatchObject(
      rejected('webhook-event-without-webhook'),
    );
    expect(await manageWebhooks.resendSlice('cli', DESTINATION, null)).toEqual({
      resent: 0,
      superseded: 0,
      withoutWebhook: 1,
      next: null,
    });
    expect(await records()).toEqual([]);
    const webhook = {
      whatsappPhoneId: anId(7),
      projectId: PROJECT_ID,
      url: 'https://new.example/in?t=1',
      ...onlySecret(aSealedSecret('new')),
    };
    await world.unitOfWork.run(({ inboundWebhooks }) => inboundWebhooks.insert([webhook]));
    await manageWebhooks.resendEvent('cli', anId(1));
    expect(await stored(1)).toEqual([
      unversioned({
        ...inbound,
        url: webhook.url,
        endpoint: 'new.example/in',
        secret: aSealedSecret('new'),
        state: 'queued_retry',
        nextAttemptAt: LATER,
      }),
    ]);
    expect(await dueJobs()).toEqual([`webhooks/${PROJECT_ID}/new.example/in`]);
  });

  it('of the notices of low credit only the newest is sent again, whether it was attempted or is open', async () => {
    const notice = (n: number, given: Partial<WebhookEvent> = {}) =>
      discarded(n, { kind: 'credit', orderingKey: 'credit', body: '{}', ...given });
    await insert(notice(1), notice(2));
    const attempt = (n: number) => ({
      orderingKey: 'credit',
      eventId: anId(n),
      attemptNumber: 1,
      startedAt: NOW,
      durationMs: 1,
      status: 500,
      error: 'HTTP 500',
      response: null,
    });
    await world.unitOfWork.run(({ webhookAttempts }) => webhookAttempts.insert([attempt(1), attempt(2)]));
    await expect(manageWebhooks.resendEvent('cli', anId(1))).rejects.toMatchObject(
      rejected('webhook-event-not-resendable'),
    );
    await insert(notice(3, { state: 'pending', attempts: 0, nextAttemptAt: NOW }));
    await expect(manageWebhooks.resendEvent('cli', anId(2))).rejects.toMatchObject(
      rejected('webhook-event-not-resendable'),
    );
    await world.unitOfWork.run(async ({ webhookEvents }) => {
      const [open] = await webhookEvents.lock([anId(3)]);
      if (open !== undefined)
        await webhookEvents.save([{ ...open, state: 'delivered', nextAttemptAt: null }]);
    });
    expect(await manageWebhooks.resendEvent('cli', anId(2))).toMatchObject({ id: anId(2), state: 'pending' });
  });

  it('the newest notice of low credit is sent again although an older one is open', async () => {
    const notice = (n: number, given: Partial<WebhookEvent> = {}) =>
      discarded(n, { kind: 'credit', orderingKey: 'credit', body: '{}', ...given });
    await insert(notice(1, { state: 'pending', attempts: 0, nextAttemptAt: NOW }), notice(2));
    const attempt = {
      attemptNumber: 1,
      startedAt: NOW,
      durationMs: 1,
      status: 500,
      error: 'HTTP 500',
      response: null,
    };
    await world.unitOfWork.run(({ webhookAttempts }) =>
      webhookAttempts.insert([{ ...attempt, orderingKey: 'credit', eventId: anId(2) }]),
    );
    expect(await manageWebhooks.resendEvent('cli', anId(2))).toMatchObject({ id: anId(2), state: 'pending' });
  });

  it('a slice sends the discarded events of one destination again, and supersedes the outdated', async () => {
    await insert(
      discarded(1),
      sent(2),
      discarded(3),
      discarded(4, { endpoint: 'customer.example/other' }),
      discarded(5, { projectId: OTHER_PROJECT }),
    );
    expect(await manageWebhooks.resendSlice('cli', DESTINATION, null)).toEqual({
      resent: 2,
      superseded: 1,
      withoutWebhook: 0,
      next: null,
    });
    expect((await stored(1, 2, 3, 4, 5)).map(({ state }) => state)).toEqual([
      'pending',
      'superseded',
      'pending',
      'discarded',
      'discarded',
    ]);
    expect(await dueJobs()).toEqual([`webhooks/${PROJECT_ID}/${ENDPOINT}`]);
    expect(wakes).toBe(1);
    expect(await records()).toMatchObject([
      {
        at: LATER,
        actor: 'cli',
        action: 'webhooks-resent',
        projectId: PROJECT_ID,
        before: null,
        after: { host: 'customer.example', resent: 2, superseded: 1, withoutWebhook: 0 },
      },
    ]);
    await expect(
      manageWebhooks.resendSlice('cli', { ...DESTINATION, project: 'none' }, null),
    ).rejects.toMatchObject(rejected('project-not-found'));
  });

  it('a slice that only supersedes is recorded, too', async () => {
    await insert(sent(1));
    expect(await manageWebhooks.resendSlice('cli', DESTINATION, null)).toMatchObject({
      resent: 0,
      superseded: 1,
    });
    expect(await records()).toHaveLength(1);
  });

  it('a slice has 500 events, the newest first, and says where the next one begins', async () => {
    await insert(...Array.from({ length: 501 }, (_, n) => discarded(n + 1)));
    expect(await manageWebhooks.resendSlice('cli', DESTINATION, null)).toMatchObject({
      resent: 500,
      next: anId(2),
    });
    expect(await manageWebhooks.resendSlice('cli', DESTINATION, anId(1))).toMatchObject({ resent: 0 });
    expect(await manageWebhooks.resendSlice('cli', DESTINATION, anId(2))).toMatchObject({
      resent: 1,
      next: null,
    });
  });

  it('a circuit that an operator closes lets its destination be attempted at once', async () => {
    const key = `${PROJECT_ID}/${ENDPOINT}`;
    const setCircuit = () =>
      world.unitOfWork.run(async ({ circuitBreakers }) => {
        await circuitBreakers.lock([key], NOW);
        await circuitBreakers.save(new Map([[key, OPEN]]), NOW);
      });
    const notOpen = rejected('circuit-not-open');
    await expect(manageWebhooks.closeCircuit('cli', DESTINATION)).rejects.toMatchObject(notOpen);
    await setCircuit();
    expect(await manageWebhooks.closeCircuit('cli', DESTINATION)).toEqual({
      projectId: PROJECT_ID,
      endpoint: ENDPOINT,
    });
    const breakers = await world.unitOfWork.read(({ circuitBreakers }) => circuitBreakers.read([key]));
    expect(breakers.get(key)).toEqual(CLOSED_CIRCUIT);
    expect(await dueJobs()).toEqual([`webhooks/${key}`]);
    expect(wakes).toBe(1);
    expect(await records()).toMatchObject([
      {
        at: LATER,
        actor: 'cli',
        action: 'circuit-closed',
        projectId: PROJECT_ID,
        before: { host: 'customer.example', state: 'open', until: new Date(NOW + 60_000).toISOString() },
        after: { host: 'customer.example', state: 'closed', until: null },
      },
    ]);
    await expect(manageWebhooks.closeCircuit('cli', DESTINATION)).rejects.toMatchObject(notOpen);
    await expect(
      manageWebhooks.closeCircuit('cli', { ...DESTINATION, project: 'none' }),
    ).rejects.toMatchObject(rejected('project-not-found'));
  });

  describe('the log of webhook events', () => {
    const filter = (given: Partial<LogFilter> = {}): LogFilter => ({
      project: null,
      endpoint: null,
      state: null,
      whatsappPhoneId: null,
      from: 0,
      to: NOW + 60_000,
      ...given,
    });
    const ids = async (given: Partial<LogFilter>, limit = 10) => {
      const { rows } = await log.events(filter(given), null, limit);
      return rows.map(({ createdAt }) => createdAt - NOW);
    };
    /** The id of an event that was made `n` milliseconds after `NOW`: ids tell the time. */
    const idAt = (n: number) => (NOW + n).toString(16).padStart(12, '0') + '0'.repeat(12);
    const at = (n: number) => ({ id: idAt(n), createdAt: NOW + n });

    it('events are found by each of the filters, and by all, the newest first', async () => {
      await insert(
        discarded(1, at(1)),
        discarded(2, { ...at(2), state: 'delivered' }),
        discarded(3, { ...at(3), endpoint: 'customer.example/other' }),
        discarded(4, { ...at(4), projectId: OTHER_PROJECT }),
        discarded(5, { ...at(5), kind: 'inbound', whatsappPhoneId: anId(7) }),
        discarded(6, { ...at(6), kind: 'inbound', whatsappPhoneId: anId(8) }),
      );
      expect(await ids({})).toEqual([6, 5, 4, 3, 2, 1]);
      expect(await ids({ project: 'demo' })).toEqual([6, 5, 3, 2, 1]);
      expect(await ids({ project: OTHER_PROJECT })).toEqual([4]);
      expect(await ids({ endpoint: 'customer.example/other' })).toEqual([3]);
      expect(await ids({ state: 'delivered' })).toEqual([2]);
      expect(await ids({ whatsappPhoneId: anId(7) })).toEqual([5]);
      expect(await ids({ from: NOW + 2, to: NOW + 4 })).toEqual([4, 3, 2]);
      const destination = { project: 'demo', endpoint: ENDPOINT, state: 'discarded' } as const;
      expect(await ids(destination)).toEqual([6, 5, 1]);
      expect(await ids({ ...destination, from: NOW + 2 })).toEqual([6, 5]);
      expect(await ids({ ...destination, to: NOW + 5 })).toEqual([5, 1]);
      expect(await ids({ ...destination, whatsappPhoneId: anId(8) })).toEqual([6]);
      await expect(ids({ project: 'none' })).rejects.toMatchObject(rejected('project-not-found'));
    });

    it('discarded events of all projects, or to all endpoints, are found, too', async () => {
      await insert(
        discarded(1, at(1)),
        discarded(2, { ...at(2), state: 'delivered' }),
        discarded(3, { ...at(3), endpoint: 'customer.example/other' }),
        discarded(4, { ...at(4), projectId: OTHER_PROJECT }),
      );
      expect(await ids({ state: 'discarded' })).toEqual([4, 3, 1]);
      expect(await ids({ endpoint: ENDPOINT, state: 'discarded' })).toEqual([4, 1]);
      expect(await ids({ project: 'demo', state: 'discarded' })).toEqual([3, 1]);
      expect(await ids({ project: 'demo', endpoint: ENDPOINT })).toEqual([2, 1]);
      expect(await ids({ project: 'demo', endpoint: ENDPOINT, state: 'delivered' })).toEqual([2]);
    });

    it('a rare event is found behind many others, and a discarded one of a destination behind any number', async () => {
      const others = Array.from({ length: 1_100 }, (_, n) =>
        discarded(n, {
          ...at(n + 10),
          projectId: OTHER_PROJECT,
          endpoint: 'other.example/',
          state: 'delivered',
        }),
      );
      await insert(discarded(1, at(1)), ...others.slice(0, 10));
      expect(await ids({ project: 'demo' }, 1)).toEqual([1]);
      expect(await ids({ endpoint: ENDPOINT }, 1)).toEqual([1]);
      expect(await ids({ state: 'discarded' }, 1)).toEqual([1]);
      await insert(...others.slice(10));
      expect(await ids({ project: 'demo' }, 1)).toEqual([]);
      expect(await ids({ project: 'demo', endpoint: ENDPOINT, state: 'discarded' }, 1)).toEqual([1]);
    });

    it('a page ends at its limit, and the next one begins behind it', async () => {
      await insert(discarded(1, at(1)), discarded(2, at(2)), discarded(3, at(3)));
      for (const given of [{}, { project: 'demo', endpoint: ENDPOINT, state: 'discarded' } as const]) {
        const first = await log.events(filter(given), null, 2);
        expect(first.rows.map(({ createdAt }) => createdAt - NOW)).toEqual([3, 2]);
        expect(first.next).toEqual({ createdAt: NOW + 2, id: idAt(2) });
        const second = await log.events(filter(given), first.next, 2);
        expect(second.rows.map(({ createdAt }) => createdAt - NOW)).toEqual([1]);
        expect(second.next).toBeNull();
      }
    });

    it('an event is shown with its own attempts, the newest first', async () => {
      const attempt = (n: number, attemptNumber: number) => ({
        orderingKey: anSmsId(1),
        eventId: anId(n),
        attemptNumber,
        startedAt: NOW + attemptNumber,
        durationMs: 1,
        status: 500,
        error: 'HTTP 500',
        response: null,
      });
      await insert(discarded(1), discarded(2, { orderingKey: anSmsId(1) }), discarded(3));
      await world.unitOfWork.run(({ webhookAttempts }) =>
        webhookAttempts.insert([attempt(1, 1), attempt(1, 2), attempt(2, 1)]),
      );
      const { event, attempts } = await log.event(anId(1));
      expect(event).toMatchObject({ id: anId(1), state: 'discarded', endpoint: ENDPOINT });
      expect(attempts).toEqual([attempt(1, 2), attempt(1, 1)]);
      expect((await log.event(anId(3))).attempts).toEqual([]);
      for (const id of [anId(9), 'x']) {
        await expect(log.event(id)).rejects.toMatchObject(rejected('webhook-event-not-found'));
      }
    });

    it('the circuits that are not closed are listed by destination, of a project or of all', async () => {
      const breakers = new Map([
        [`${PROJECT_ID}/a.example/`, OPEN],
        [`${PROJECT_ID}/b.example/`, CLOSED_CIRCUIT],
        [`${PROJECT_ID}/c.example/`, { ...OPEN, isHalfOpen: true }],
        [`${OTHER_PROJECT}/a.example/`, OPEN],
      ]);
      await world.unitOfWork.run(async ({ circuitBreakers }) => {
        await circuitBreakers.lock([...breakers.keys()], NOW);
        await circuitBreakers.save(breakers, NOW);
      });
      const closed = Array.from({ length: 10 }, (_, n) => `${PROJECT_ID}/b.example/${n}`);
      await world.unitOfWork.run(({ circuitBreakers }) => circuitBreakers.lock(closed, NOW));
      const found = async (project: string | null, after: string | null = null, limit = 10) => {
        const { rows, next } = await log.openCircuits(project, after, limit);
        return { rows: rows.map(({ projectId, endpoint }) => `${projectId}/${endpoint}`), next };
      };
      const demo = [`${PROJECT_ID}/a.example/`, `${PROJECT_ID}/c.example/`];
      const other = `${OTHER_PROJECT}/a.example/`;
      expect(await found(null)).toEqual({ rows: [...demo, other].sort(), next: null });
      expect(await found('demo')).toEqual({ rows: demo, next: null });
      expect(await found('other')).toEqual({ rows: [other], next: null });
      expect(await found('demo', null, 1)).toEqual({ rows: demo.slice(0, 1), next: demo[0] });
      expect(await found('demo', demo[0], 1)).toEqual({ rows: demo.slice(1), next: null });
      await expect(found('none')).rejects.toMatchObject(rejected('project-not-found'));
      expect((await log.openCircuits('demo', null, 1)).rows).toEqual([
        { projectId: PROJECT_ID, endpoint: 'a.example/', breaker: OPEN },
      ]);
    });
  });
});
