import { describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../src/adapters/node/random-id-source.ts';
import { SearchMessages } from '../../src/application/operators/search-messages.ts';
import { ManageWebhooks } from '../../src/application/operators/webhooks/manage-webhooks.ts';
import { ReadWebhookLog } from '../../src/application/operators/webhooks/read-webhook-log.ts';
import { anonymised } from '../../src/domain/retention/retained-message.ts';
import { CLOSED_CIRCUIT } from '../../src/domain/shared/circuit-breaker.ts';
import { ERASED_NUMBER, type PhoneNumber } from '../../src/domain/shared/phone-number.ts';
import { onlySecret } from '../../src/domain/webhooks/inbound-secrets.ts';
import { webhookAttempt } from '../../src/domain/webhooks/webhook-attempt.ts';
import type { WebhookEvent } from '../../src/domain/webhooks/webhook-event.ts';
import { aMessage, aNewAccount, aProject, aSealedSecret, aWebhookEvent, NOW } from '../support/builders.ts';
import { type Storage, storageOfSuite } from './storage.ts';

const A = '664abc00000000000000000a';
const B = '664abc00000000000000000b';
const ONE = '9647700000001' as PhoneNumber;
const TWO = '9647700000002' as PhoneNumber;
const OTHER = '9647700000003' as PhoneNumber;
const ENDPOINT = 'customer.example/status';
const ALL = { project: null, phoneNumber: null, status: null, from: 0, to: NOW * 2 };
const EVERY = { project: null, endpoint: null, state: null, whatsappPhoneId: null, from: 0, to: NOW * 2 };

/** An id that was made at that instant. */
const idAt = (at: number, end = 0) => at.toString(16).padStart(12, '0') + String(end).padStart(12, '0');

/** What operators read of messages and webhooks, and what they change, on either database. */
export function operatorLogContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);
  const { run, read } = storage;
  const clock = { now: () => NOW };
  const searchMessages = () => new SearchMessages({ unitOfWork: storage.unitOfWork });
  const log = () => new ReadWebhookLog({ unitOfWork: storage.unitOfWork });
  const manage = () =>
    new ManageWebhooks({
      unitOfWork: storage.unitOfWork,
      clock,
      ids: new RandomIdSource(),
      wakeSignal: { wake() {} },
    });
  const insertProjects = () =>
    run(async (stores) => {
      await stores.projects.insert([A, B].map((id) => aProject({ id, slug: `slug-${id.slice(-1)}` })));
      await stores.accounts.insert([A, B].map((projectId) => aNewAccount({ projectId })));
    });

  describe('the search of messages', () => {
    /** A message a second: the projects in turn, every third to the second number, every fourth failed. */
    async function insertMessages(count: number): Promise<readonly string[]> {
      await insertProjects();
      const messages = Array.from({ length: count }, (_, index) => {
        const createdAt = NOW + index * 1_000;
        return aMessage({
          smsId: `sms-${idAt(createdAt)}`,
          projectId: index % 2 === 0 ? A : B,
          phoneNumber: index % 3 === 0 ? TWO : ONE,
          status: index % 4 === 0 ? 'failed' : 'delivered',
          createdAt,
        });
      });
      await run((stores) => stores.messages.insert(messages));
      return messages.map(({ smsId }) => smsId);
    }

    it.each([
      ['of all projects', {}, () => true],
      ['of a project', { project: A }, (index: number) => index % 2 === 0],
      ['to a number', { phoneNumber: TWO }, (index: number) => index % 3 === 0],
      ['to a number of a project', { phoneNumber: TWO, project: B }, (index: number) => index % 6 === 3],
      ['with a status', { status: 'failed' as const }, (index: number) => index % 4 === 0],
      ['of a time', { from: NOW + 5_000, to: NOW + 9_000 }, (index: number) => index >= 5 && index <= 9],
      [
        'of a number, a status and a time',
        { phoneNumber: TWO, status: 'failed' as const, from: NOW + 1 },
        (index: number) => index % 12 === 0 && index > 0,
      ],
      [
        'of a project and a time',
        { project: B, from: NOW + 5_000, to: NOW + 9_000 },
        (index: number) => index % 2 === 1 && index >= 5 && index <= 9,
      ],
    ])('the search finds the messages %s in pages, the newest first', async (_, filter, isFound) => {
      const smsIds = await insertMessages(30);
      const found: string[] = [];
      for (let after = null as Parameters<SearchMessages['page']>[1], pages = 0; ; pages += 1) {
        expect(pages).toBeLessThan(20);
        const { rows, next } = await searchMessages().page({ ...ALL, ...filter }, after, 4);
        found.push(...rows.map(({ smsId }) => smsId));
        if (next === null) break;
        after = next;
      }
      expect(found).toEqual(smsIds.filter((__, index) => isFound(index)).toReversed());
    });

    it('a page of a search reads 1,000 messages at most, and says where to go on', async () => {
      await insertMessages(1_001);
      const search = { ...ALL, status: 'read' as const };
      const first = await searchMessages().page(search, null, 5);
      expect(first).toEqual({
        rows: [],
        next: { createdAt: NOW + 1_000, smsId: `sms-${idAt(NOW + 1_000)}` },
      });
      expect(await searchMessages().page(search, first.next, 5)).toEqual({ rows: [], next: null });
    });

    it('messages to a number of one instant come in pages by their ids', async () => {
      await insertProjects();
      // Not in the order of their ids.
      const ends = [5, 1, 3, 2, 4];
      for (const end of ends) {
        const message = aMessage({
          smsId: `sms-${idAt(NOW, end)}`,
          projectId: A,
          phoneNumber: ONE,
          createdAt: NOW,
        });
        await run((stores) => stores.messages.insert([message]));
      }
      for (const project of [null, A]) {
        const found: string[] = [];
        for (let after = null as Parameters<SearchMessages['page']>[1]; ; ) {
          const { rows, next } = await searchMessages().page({ ...ALL, phoneNumber: ONE, project }, after, 2);
          found.push(...rows.map(({ smsId }) => smsId));
          if (next === null) break;
          after = next;
        }
        expect(found).toEqual([5, 4, 3, 2, 1].map((end) => `sms-${idAt(NOW, end)}`));
      }
    });

    it('the search finds all messages to a number among thousands, also late, anonymised and removed ones', async () => {
      const smsIds = await insertMessages(4_500);
      const toTwo = (ids: readonly string[]) => ids.filter((_, index) => index % 3 === 0).toReversed();
      const found = async (phoneNumber: PhoneNumber, given = {}) => {
        const { rows, next } = await searchMessages().page({ ...ALL, phoneNumber, ...given }, null, 5_000);
        expect(next).toBeNull();
        return rows.map(({ smsId }) => smsId);
      };
      expect(await found(TWO)).toEqual(toTwo(smsIds));
      expect(await found(TWO, { from: NOW + 999_000, to: NOW + 1_998_000 })).toEqual(
        toTwo(smsIds.slice(999, 1_999)),
      );
      const late = `sms-${idAt(NOW + 1_500_000, 1)}`;
      await run((stores) =>
        stores.messages.insert([
          aMessage({ smsId: late, projectId: A, phoneNumber: OTHER, createdAt: NOW + 1_500_000 }),
        ]),
      );
      expect(await found(OTHER)).toEqual([late]);
      const [removed = '', ...others] = toTwo(smsIds);
      const changed = [late, others.at(-1) ?? '', removed];
      await run(async ({ messages, retention }) => {
        const locked = await messages.lock(changed);
        await retention.anonymiseMessages(locked.map(anonymised));
        await retention.removeMessages([removed]);
      });
      expect(await found(OTHER)).toEqual([]);
      expect(await found(TWO)).toEqual(others.slice(0, -1));
      expect(await found(ERASED_NUMBER)).toEqual([late, others.at(-1)]);
    });
  });

  describe('the log of webhook events', () => {
    const event = (id: string, given: Partial<WebhookEvent> = {}): WebhookEvent =>
      aWebhookEvent({
        id,
        projectId: A,
        orderingKey: `sms-${id}`,
        url: `https://${ENDPOINT}`,
        endpoint: ENDPOINT,
        state: 'discarded',
        nextAttemptAt: null,
        createdAt: NOW,
        ...given,
      });
    const insert = (...events: readonly WebhookEvent[]) =>
      run(({ webhookEvents }) => webhookEvents.insert(events));
    const ids = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id);
    const statesOf = async (...eventIds: readonly string[]) =>
      (await run(({ webhookEvents }) => webhookEvents.lock(eventIds))).map(({ state, nextAttemptAt }) => [
        state,
        nextAttemptAt,
      ]);
    const [X, Y, Z] = [idAt(NOW, 1), idAt(NOW, 2), idAt(NOW, 3)];

    it('the log finds events by project, endpoint, state and number', async () => {
      await insertProjects();
      await insert(
        event(X),
        event(Y, { state: 'delivered', projectId: B }),
        event(Z, { kind: 'inbound', whatsappPhoneId: B, endpoint: 'customer.example/in' }),
      );
      const found = async (filter: object) =>
        ids((await log().events({ ...EVERY, ...filter }, null, 9)).rows);
      expect(await found({})).toEqual([Z, Y, X]);
      expect(await found({ project: 'slug-a' })).toEqual([Z, X]);
      expect(await found({ project: A, endpoint: ENDPOINT, state: 'discarded' })).toEqual([X]);
      expect(await found({ state: 'delivered' })).toEqual([Y]);
      expect(await found({ whatsappPhoneId: B })).toEqual([Z]);
      expect(await found({ whatsappPhoneId: B, to: NOW - 1 })).toEqual([]);
      expect(await found({ from: NOW + 1 })).toEqual([]);
      const page = await log().events(EVERY, null, 2);
      expect(page.next).toEqual({ createdAt: NOW, id: Y });
      expect(ids((await log().events(EVERY, page.next, 2)).rows)).toEqual([X]);
    });

    it('the log finds the open and the attempted events of a message', async () => {
      const given = { orderingKey: 'sms-1', state: 'pending' } as const;
      await insert(event(X, { ...given, state: 'delivered', attempts: 1 }), event(Y, given), event(Z));
      const result = { kind: 'responded', status: 200, retryAfterMs: null } as const;
      const attempt = webhookAttempt(event(X, { ...given, attempts: 1 }), {
        result,
        startedAt: NOW,
        endedAt: NOW,
      });
      await run(({ webhookAttempts }) => webhookAttempts.insert([attempt]));
      expect(ids(await read(({ webhookLog }) => webhookLog.ofOrderingKeys(['sms-1'])))).toEqual([X, Y]);
    });

    it('a slice sends the discarded event that tells of the end of a message, and a repeated slice nothing more', async () => {
      await insertProjects();
      const end = { orderingKey: 'sms-1', body: '{"isFinal":true}' };
      await insert(
        event(X, end),
        event(Y, { ...end, body: '{"isFinal":false}' }),
        event(Z, { body: '{"isFinal":true}' }),
        event(idAt(NOW, 4), { projectId: B }),
      );
      const slice = () => manage().resendSlice('operator', { project: A, endpoint: ENDPOINT }, null);
      expect(await slice()).toEqual({ resent: 2, superseded: 1, withoutWebhook: 0, next: null });
      expect(await slice()).toEqual({ resent: 0, superseded: 0, withoutWebhook: 0, next: null });
      expect(await statesOf(X, Y, Z, idAt(NOW, 4))).toEqual([
        ['pending', NOW],
        ['superseded', null],
        ['pending', NOW],
        ['discarded', null],
      ]);
      const records = await read(({ auditLog }) => auditLog.list({ projectId: A, before: null, limit: 9 }));
      expect(records.map(({ action, after }) => [action, after])).toEqual([
        ['webhooks-resent', { host: 'customer.example', resent: 2, superseded: 1, withoutWebhook: 0 }],
      ]);
    });

    it('a slice sends an event that tells of no end only while its message is not final', async () => {
      await insertProjects();
      const [open, ended] = [
        aMessage({ smsId: 'sms-1', projectId: A, isFinal: false }),
        aMessage({ smsId: 'sms-2', projectId: A, isFinal: true }),
      ];
      await run(({ messages }) => messages.insert([open, ended]));
      const sent = { body: '{"isFinal":false}' };
      await insert(
        event(X, { ...sent, orderingKey: 'sms-1' }),
        event(Y, { ...sent, orderingKey: 'sms-2' }),
        event(Z, { ...sent, orderingKey: 'sms-3' }),
      );
      const slice = await manage().resendSlice('operator', { project: A, endpoint: ENDPOINT }, null);
      expect(slice).toEqual({ resent: 1, superseded: 2, withoutWebhook: 0, next: null });
      expect((await statesOf(X, Y, Z)).map(([state]) => state)).toEqual([
        'pending',
        'superseded',
        'superseded',
      ]);
    });

    it('a slice sends the newest notice of low credit, also when that one was attempted and is open', async () => {
      await insertProjects();
      const notice = { kind: 'credit', orderingKey: `credit.low/${A}` } as const;
      await insert(event(X, notice), event(Y, notice));
      const attempted = (id: string) =>
        webhookAttempt(event(id, { ...notice, attempts: 1 }), {
          result: { kind: 'responded', status: 410, retryAfterMs: null },
          startedAt: NOW,
          endedAt: NOW,
        });
      await run(({ webhookAttempts }) => webhookAttempts.insert([attempted(X), attempted(Y)]));
      const slice = () => manage().resendSlice('operator', { project: A, endpoint: ENDPOINT }, null);
      expect(await slice()).toMatchObject({ resent: 1, superseded: 1 });
      expect((await statesOf(X, Y)).map(([state]) => state)).toEqual(['superseded', 'pending']);
      await insert(event(idAt(NOW - 1), notice));
      expect(await slice()).toMatchObject({ resent: 0, superseded: 1 });
    });

    it('an inbound event is sent to the webhook that its number has now, and to none without one', async () => {
      await insertProjects();
      const arrived = {
        kind: 'inbound',
        whatsappPhoneId: B,
        secret: aSealedSecret('old'),
        body: '{}',
      } as const;
      await insert(event(X, arrived), event(Y, { ...arrived, whatsappPhoneId: A }));
      const webhook = (projectId: string, whatsappPhoneId: string) => ({
        projectId,
        whatsappPhoneId,
        url: 'https://new.example/in?token=1',
        ...onlySecret(aSealedSecret('new')),
      });
      const slice = () => manage().resendSlice('operator', { project: A, endpoint: ENDPOINT }, null);
      await run(({ inboundWebhooks }) => inboundWebhooks.insert([webhook(B, B)]));
      expect(await slice()).toEqual({ resent: 0, superseded: 0, withoutWebhook: 2, next: null });
      await expect(manage().resendEvent('operator', X)).rejects.toThrow('webhook-event-without-webhook');
      expect(await read(({ auditLog }) => auditLog.list({ projectId: A, before: null, limit: 9 }))).toEqual(
        [],
      );
      await run(({ inboundWebhooks }) => inboundWebhooks.save([webhook(A, B)]));
      expect(await slice()).toEqual({ resent: 1, superseded: 0, withoutWebhook: 1, next: null });
      const [resent] = await run(({ webhookEvents }) => webhookEvents.lock([X]));
      expect(resent).toMatchObject({
        state: 'queued_retry',
        nextAttemptAt: NOW,
        url: 'https://new.example/in?token=1',
        endpoint: 'new.example/in',
        secret: 'new',
      });
      const job = await run(({ jobs }) => jobs.lease({ workerId: 'w', now: NOW, until: NOW + 9, limit: 9 }));
      expect(job.map(({ work }) => work)).toMatchObject([{ projectId: A, endpoint: 'new.example/in' }]);
    });

    it('slices of 500 events follow each other until none is left', async () => {
      await insertProjects();
      const end = { body: '{"isFinal":true}' };
      await insert(...Array.from({ length: 501 }, (_, index) => event(idAt(NOW, index + 1), end)));
      const to = { project: A, endpoint: ENDPOINT };
      const first = await manage().resendSlice('operator', to, null);
      expect(first).toMatchObject({ resent: 500, next: idAt(NOW, 2) });
      expect(await manage().resendSlice('operator', to, first.next)).toMatchObject({ resent: 1, next: null });
    });

    it('the log lists the circuits that are not closed, by project and endpoint', async () => {
      await insertProjects();
      const opened = { ...CLOSED_CIRCUIT, openUntil: NOW + 60_000, consecutiveOpens: 1, openSince: NOW };
      const [first, second] = [`${A}/${ENDPOINT}`, `${B}/${ENDPOINT}`];
      await run(async ({ circuitBreakers }) => {
        await circuitBreakers.lock([first, second, `${A}/closed.example/`], NOW);
        await circuitBreakers.save(
          new Map([
            [first, opened],
            [second, opened],
          ]),
          NOW,
        );
      });
      const destination = { endpoint: ENDPOINT, breaker: opened };
      const page = await log().openCircuits(null, null, 1);
      expect(page).toEqual({ rows: [{ ...destination, projectId: A }], next: first });
      expect(await log().openCircuits(null, page.next, 1)).toEqual({
        rows: [{ ...destination, projectId: B }],
        next: null,
      });
      expect((await log().openCircuits('slug-b', null, 9)).rows).toHaveLength(1);
    });
  });
}
