import { describe, expect, it } from 'vitest';
import { CLOSED_CIRCUIT } from '../../src/domain/shared/circuit-breaker.ts';
import type { InboundWebhook } from '../../src/domain/webhooks/inbound-webhook.ts';
import type { WebhookAttempt } from '../../src/domain/webhooks/webhook-attempt.ts';
import type { WebhookEvent } from '../../src/domain/webhooks/webhook-event.ts';
import { anId, anSmsId, aProject, aSealedSecret, NOW, PROJECT_ID } from '../support/builders.ts';
import { Gate } from '../support/job-collector.ts';
import { MeetingPoint, type Storage, storageOfSuite } from './storage.ts';

const PHONE_NUMBER_ID = '664def000000000000000003';
const OTHER_PHONE_NUMBER_ID = '664def000000000000000004';
const ENDPOINT = 'customer.example/status';
const OTHER_ENDPOINT = 'customer.example/inbound';
const NEW_ENDPOINT = 'new.example/hook';

const attempt = (
  eventId: string,
  attemptNumber: number,
  orderingKey: string,
  given: Partial<WebhookAttempt> = {},
): WebhookAttempt => ({
  orderingKey,
  eventId,
  attemptNumber,
  startedAt: NOW,
  durationMs: 12,
  status: 200,
  error: null,
  response: 'بەڵێ\n✅',
  ...given,
});

/** What the stores of webhook events, endpoints and inbound configuration promise. */
export function webhookStoresContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);
  const { run, read } = storage;

  describe('webhook events', () => {
    const event = (id: string, given: Partial<WebhookEvent> = {}): WebhookEvent => ({
      id,
      kind: 'delivery',
      projectId: PROJECT_ID,
      orderingKey: anSmsId(),
      whatsappPhoneId: null,
      url: 'https://customer.example/status',
      endpoint: ENDPOINT,
      secret: null,
      body: '{"text":"تم التسليم ✅\\n"}',
      state: 'pending',
      attempts: 0,
      firstAttemptAt: null,
      nextAttemptAt: NOW,
      lastError: null,
      createdAt: NOW,
      version: 1,
      ...given,
    });
    const inbound = (id: string, createdAt: number, whatsappPhoneId = PHONE_NUMBER_ID) =>
      event(id, {
        kind: 'inbound',
        orderingKey: id,
        whatsappPhoneId,
        secret: aSealedSecret('sealed'),
        createdAt,
      });
    const insert = (...events: readonly WebhookEvent[]) =>
      run(({ webhookEvents }) => webhookEvents.insert(events));

    it('the store of webhook events returns events as they were, in the order of their ids', async () => {
      await insert(inbound('b', NOW), event('a'));
      const ids = ['c', 'b', 'a'];
      expect(await run((s) => s.webhookEvents.lock(ids))).toEqual([event('a'), inbound('b', NOW)]);
      expect(await run((s) => s.webhookEvents.lock([]))).toEqual([]);
    });

    it('the store of webhook events rejects an id that exists', async () => {
      await insert(event('a'));
      await expect(insert(event('a'))).rejects.toThrow(/unique|duplicate/i);
    });

    it('the store of webhook events keeps one event of a message that came in, and all of one that was sent', async () => {
      const told = (id: string, text: string) => ({
        ...inbound(id, NOW),
        orderingKey: 'number/wamid.1',
        body: text,
      });
      await insert(told('a', 'first'));
      await insert(told('b', 'again'), told('c', 'again'), event('d'), event('e'));
      const kept = await run((s) => s.webhookEvents.lock(['a', 'b', 'c', 'd', 'e']));
      expect(kept).toEqual([told('a', 'first'), event('d'), event('e')]);
    });

    const eventsOfOneNumber = () => [
      inbound('a', NOW),
      { ...inbound('b', NOW), state: 'delivered' as const, nextAttemptAt: null },
      { ...inbound('c', NOW), state: 'discarded' as const, nextAttemptAt: null },
      { ...inbound('d', NOW), projectId: anId(2) },
      inbound('e', NOW, OTHER_PHONE_NUMBER_ID),
      { ...inbound('f', NOW), state: 'queued_retry' as const, nextAttemptAt: NOW + 5 },
    ];
    const NUMBER = { projectId: PROJECT_ID, whatsappPhoneId: PHONE_NUMBER_ID };

    it('the store of webhook events finds the open events of a number and its project in slices, in the order of their ids', async () => {
      const events = eventsOfOneNumber();
      await insert(...events.toReversed());
      const found = (after: string, limit: number) =>
        run((s) => s.webhookEvents.lockOpenOfNumber(NUMBER, after, limit));
      expect(await found('', 9)).toEqual([events[0], events[5]]);
      expect(await found('', 1)).toEqual([events[0]]);
      expect(await found('a', 9)).toEqual([events[5]]);
      expect(await found('f', 9)).toEqual([]);
    });

    it('the store of webhook events finds the open events of the given ordering keys, and only those', async () => {
      await insert(
        event('d'),
        event('c', { state: 'delivered' }),
        event('b', { state: 'queued_retry' }),
        event('a', { orderingKey: anSmsId(2) }),
        event('e', { state: 'superseded' }),
      );
      const open = await run((s) => s.webhookEvents.lockOpen([anSmsId(), anSmsId(3)]));
      expect(open.map(({ id }) => id)).toEqual(['b', 'd']);
    });

    it('the store of webhook events saves address and secret with what an attempt can change, unless the event changed', async () => {
      await insert(inbound('a', NOW), inbound('b', NOW));
      const moved = (id: string) => ({
        ...inbound(id, NOW),
        state: 'queued_retry' as const,
        nextAttemptAt: NOW + 5,
        url: 'https://new.example/hook?token=1',
        endpoint: NEW_ENDPOINT,
        secret: aSealedSecret('sealed anew'),
      });
      const saved = await run((s) =>
        s.webhookEvents.saveWithAddress([moved('a'), { ...moved('b'), version: 9, body: 'other' }]),
      );
      expect(saved).toEqual([{ ...moved('a'), version: 2 }]);
      expect(await run((s) => s.webhookEvents.lock(['a', 'b']))).toEqual([...saved, inbound('b', NOW)]);
    });

    it('the store of webhook events saves what an attempt can change, whether it is still open with it, and nothing else', async () => {
      await insert(event('a'), event('b'));
      const changed = {
        state: 'discarded',
        attempts: 11,
        firstAttemptAt: NOW + 1,
        nextAttemptAt: null,
        lastError: 'انتهت المهلة',
      } as const;
      await run((s) => s.webhookEvents.save([{ ...event('a'), ...changed, body: 'other', url: 'other' }]));
      expect(await run((s) => s.webhookEvents.lock(['a', 'b']))).toEqual([
        { ...event('a'), ...changed, version: 2 },
        event('b'),
      ]);
      expect((await run((s) => s.webhookEvents.lockOpen([anSmsId()]))).map(({ id }) => id)).toEqual(['b']);
    });

    it('the store of webhook events saves only events that were not changed since they were read', async () => {
      await insert(event('a'), event('b'), event('c'));
      const failed = (id: string) => event(id, { attempts: 1, nextAttemptAt: NOW + 5 });
      const [a] = await run((s) => s.webhookEvents.save([failed('a')]));
      expect(a).toEqual({ ...failed('a'), version: 2 });
      const done = (id: string) => event(id, { state: 'delivered', attempts: 1, nextAttemptAt: null });
      expect(await run((s) => s.webhookEvents.save([done('c'), done('a'), done('x'), done('b')]))).toEqual([
        { ...done('c'), version: 2 },
        { ...done('b'), version: 2 },
      ]);
      const stored = await run((s) => s.webhookEvents.lock(['a', 'b', 'c']));
      expect(stored.map(({ state, version }) => [state, version])).toEqual([
        ['pending', 2],
        ['delivered', 2],
        ['delivered', 2],
      ]);
    });

    it('the store of webhook events lets one of two who change an event at once do so', async () => {
      await insert(event('a'));
      const start = new MeetingPoint(Math.min(2, storage.concurrency));
      const change = (attempts: number) =>
        run(async ({ webhookEvents }) => {
          await start.meet();
          return webhookEvents.save([event('a', { attempts })]);
        });
      const saved = (await Promise.all([change(1), change(2)])).flat();
      expect(saved).toHaveLength(1);
      expect(await run((s) => s.webhookEvents.lock(['a']))).toEqual(saved);
    });

    it('the store of webhook events finds the due events of each destination, the longest due first', async () => {
      const at = (id: string, nextAttemptAt: number | null, given: Partial<WebhookEvent> = {}) =>
        event(id, { nextAttemptAt, ...given });
      await insert(
        at('c', NOW - 1),
        at('b', NOW),
        at('a', NOW),
        at('later', NOW + 1),
        at('waits', null),
        at('done', null, { state: 'delivered' }),
        at('other', NOW - 2, { endpoint: OTHER_ENDPOINT }),
        at('foreign', NOW - 2, { projectId: 'f'.repeat(24) }),
      );
      const query = { projectId: PROJECT_ID, endpoint: ENDPOINT, now: NOW, after: null, limit: 10 };
      const found = await read((s) =>
        s.webhookEvents.due([
          query,
          { ...query, endpoint: OTHER_ENDPOINT },
          { ...query, limit: 2 },
          { ...query, after: { nextAttemptAt: NOW, id: 'a' } },
          { ...query, endpoint: 'unknown.example/' },
        ]),
      );
      expect(found.map((events) => events.map(({ id }) => id))).toEqual([
        ['c', 'a', 'b'],
        ['other'],
        ['c', 'a'],
        ['b'],
        [],
      ]);
      expect(found[1]).toEqual([at('other', NOW - 2, { endpoint: OTHER_ENDPOINT })]);
      expect(await read((s) => s.webhookEvents.due([]))).toEqual([]);
    });

    it('the store of webhook events tells when the next event of each destination is due', async () => {
      await insert(
        event('a', { nextAttemptAt: NOW + 7 }),
        event('b', { nextAttemptAt: NOW + 5 }),
        event('c', { nextAttemptAt: null }),
        event('d', { endpoint: OTHER_ENDPOINT, nextAttemptAt: null }),
      );
      const destinations = [OTHER_ENDPOINT, ENDPOINT].map((endpoint) => ({
        projectId: PROJECT_ID,
        endpoint,
      }));
      expect(await read((s) => s.webhookEvents.nextDueAt(destinations))).toEqual([null, NOW + 5]);
    });

    it('the log of webhook events lists those of a whatsapp number in a time, the newest first', async () => {
      await insert(
        inbound('a', NOW),
        inbound('b', NOW + 1),
        inbound('c', NOW + 2),
        inbound('d', NOW + 2),
        inbound('e', NOW + 3, OTHER_PHONE_NUMBER_ID),
      );
      const query = { whatsappPhoneId: PHONE_NUMBER_ID, from: NOW + 1, to: NOW + 3, after: null };
      const list = async (limit: number) =>
        (await read((s) => s.webhookLog.newest({ ...query, limit }))).map(({ id }) => id);
      expect(await list(5)).toEqual(['d', 'c', 'b']);
      expect(await list(2)).toEqual(['d', 'c']);
    });

    it('the store of webhook events lists the events of a project between two ids', async () => {
      await insert(event('a'), event('c'), event('b'), event('d', { projectId: 'f'.repeat(24) }), event('e'));
      const list = async (after: string, last: string, limit: number) =>
        (await read((s) => s.webhookEvents.ofProject(PROJECT_ID, { after, last }, limit))).map(
          ({ id }) => id,
        );
      expect(await list('a', 'g', 5)).toEqual(['b', 'c', 'e']);
      expect(await list('a', 'c', 5)).toEqual(['b', 'c']);
      expect(await list('', 'g', 2)).toEqual(['a', 'b']);
      expect(await list('e', 'g', 5)).toEqual([]);
    });

    it('the store of webhook events says which id comes so many events of all projects later', async () => {
      await insert(event('a'), event('c'), event('b', { projectId: 'f'.repeat(24) }));
      const behind = (after: string, count: number) => read((s) => s.webhookEvents.idBehind(after, count));
      expect([await behind('', 1), await behind('', 3), await behind('a', 2)]).toEqual(['a', 'c', 'c']);
      expect([await behind('', 4), await behind('a', 3), await behind('c', 1)]).toEqual([null, null, null]);
    });
  });

  describe('delivery attempts', () => {
    const [key, other] = [anSmsId(1), anSmsId(2)];
    const insert = (...attempts: readonly WebhookAttempt[]) =>
      run(({ webhookAttempts }) => webhookAttempts.insert(attempts));

    it('the store of attempts returns those of each ordering key, the newest first, up to the limit', async () => {
      const failed = attempt('b', 2, key, { status: null, error: 'timeout', response: null });
      await insert(attempt('c', 1, other), attempt('a', 1, key), attempt('b', 1, key), failed);
      const of = (limit: number) =>
        read((s) => s.webhookAttempts.ofOrderingKeys([other, 'unknown', key], limit));
      expect(await of(2)).toEqual([[attempt('c', 1, other)], [], [failed, attempt('b', 1, key)]]);
      expect((await of(3))[2]).toHaveLength(3);
      expect(await read((s) => s.webhookAttempts.newestEvents([key, 'unknown', other]))).toEqual(
        new Map([
          [key, 'b'],
          [other, 'c'],
        ]),
      );
    });

    it('the store of attempts leaves an attempt that is stored as it is', async () => {
      await insert(attempt('a', 1, key));
      await insert(attempt('a', 1, key, { status: 500 }), attempt('a', 2, key));
      expect(await read((s) => s.webhookAttempts.ofOrderingKeys([key], 9))).toEqual([
        [attempt('a', 2, key), attempt('a', 1, key)],
      ]);
    });
  });

  describe('circuit breakers', () => {
    const opened = { ...CLOSED_CIRCUIT, failuresInRow: 10, openUntil: NOW + 60_000, consecutiveOpens: 1 };

    it('the store of circuit breakers inserts a closed breaker when a destination is first locked', async () => {
      expect(await read((s) => s.circuitBreakers.read([ENDPOINT]))).toEqual(new Map());
      const locked = await run((s) => s.circuitBreakers.lock([ENDPOINT, ENDPOINT], NOW));
      expect(locked).toEqual(new Map([[ENDPOINT, CLOSED_CIRCUIT]]));
      expect(await read((s) => s.circuitBreakers.read([ENDPOINT]))).toEqual(
        new Map([[ENDPOINT, CLOSED_CIRCUIT]]),
      );
    });

    it('the store of circuit breakers reads the breakers that were saved, of the given destinations', async () => {
      await run(async ({ circuitBreakers }) => {
        await circuitBreakers.lock([ENDPOINT, OTHER_ENDPOINT], NOW);
        await circuitBreakers.save(new Map([[ENDPOINT, opened]]), NOW);
      });
      const expected = new Map([
        [ENDPOINT, opened],
        [OTHER_ENDPOINT, CLOSED_CIRCUIT],
      ]);
      expect(await run((s) => s.circuitBreakers.lock([OTHER_ENDPOINT, ENDPOINT], NOW))).toEqual(expected);
    });

    const DAY_MS = 86_400_000;
    const lock = (endpoints: readonly string[], at: number) =>
      run((s) => s.circuitBreakers.lock(endpoints, at));
    const known = async (endpoints: readonly string[]) =>
      [...(await read((s) => s.circuitBreakers.read(endpoints))).keys()].sort();

    it('the store of circuit breakers removes a breaker without attempts for more than a day when another one is inserted', async () => {
      const all = [ENDPOINT, NEW_ENDPOINT, OTHER_ENDPOINT].sort();
      await lock([ENDPOINT], NOW);
      await lock([OTHER_ENDPOINT], NOW + DAY_MS);
      expect(await known(all)).toEqual(all.filter((endpoint) => endpoint !== NEW_ENDPOINT));
      await lock([NEW_ENDPOINT], NOW + DAY_MS + 1);
      expect(await known(all)).toEqual(all.filter((endpoint) => endpoint !== ENDPOINT));
    });

    it('the store of circuit breakers removes two breakers at most for each that is inserted', async () => {
      const old = ['a.example/', 'b.example/', 'c.example/'];
      await lock(old, NOW);
      await lock([NEW_ENDPOINT], NOW + DAY_MS + 1);
      expect((await known(old)).length).toBe(1);
    });

    it('the store of circuit breakers keeps a locked breaker, however long it had no attempts', async () => {
      await lock([ENDPOINT], NOW);
      await run(async ({ circuitBreakers }) => {
        await circuitBreakers.lock([ENDPOINT, NEW_ENDPOINT], NOW + DAY_MS + 1);
        await circuitBreakers.save(new Map([[ENDPOINT, opened]]), NOW + DAY_MS + 1);
      });
      expect(await read((s) => s.circuitBreakers.read([ENDPOINT]))).toEqual(new Map([[ENDPOINT, opened]]));
    });

    it('the store of circuit breakers inserts a breaker without waiting for a transaction that has locked an old one', async () => {
      await lock([ENDPOINT], NOW);
      const [isAttempting, isMade] = [new Gate(), new Gate()];
      const attempting = run(async ({ circuitBreakers }) => {
        await circuitBreakers.lock([ENDPOINT], NOW + DAY_MS + 1);
        isAttempting.open();
        if (storage.concurrency > 1) await isMade.opened;
        await circuitBreakers.save(new Map([[ENDPOINT, opened]]), NOW + DAY_MS + 1);
      });
      await isAttempting.opened;
      await lock([NEW_ENDPOINT], NOW + DAY_MS + 1);
      isMade.open();
      await attempting;
      expect(await read((s) => s.circuitBreakers.read([ENDPOINT]))).toEqual(new Map([[ENDPOINT, opened]]));
    });

    it('the store of circuit breakers loses no failure when two transactions insert and change one breaker at once', async () => {
      const fail = (start: MeetingPoint) =>
        run(async ({ circuitBreakers }) => {
          await start.meet();
          const breaker = (await circuitBreakers.lock([ENDPOINT], NOW)).get(ENDPOINT) ?? CLOSED_CIRCUIT;
          await circuitBreakers.read([ENDPOINT]);
          await circuitBreakers.save(
            new Map([[ENDPOINT, { ...breaker, failuresInRow: breaker.failuresInRow + 1 }]]),
            NOW,
          );
        });
      const failTwice = async () => {
        const start = new MeetingPoint(Math.min(2, storage.concurrency));
        await Promise.all([fail(start), fail(start)]);
        return (await read((s) => s.circuitBreakers.read([ENDPOINT]))).get(ENDPOINT)?.failuresInRow;
      };
      expect([await failTwice(), await failTwice()]).toEqual([2, 4]);
    });
  });

  describe('inbound webhooks', () => {
    const webhook = (whatsappPhoneId: string, url: string): InboundWebhook => ({
      whatsappPhoneId,
      projectId: PROJECT_ID,
      url,
      secret: aSealedSecret('sealed'),
      nextSecret: null,
      nextSecretFrom: null,
    });

    it('the store of inbound webhooks returns the configuration of the numbers, as it was saved last', async () => {
      const first = webhook(PHONE_NUMBER_ID, 'https://customer.example/1');
      const other = webhook(OTHER_PHONE_NUMBER_ID, 'https://customer.example/2');
      await run(async ({ projects, inboundWebhooks }) => {
        await projects.insert([aProject()]);
        await inboundWebhooks.save([other, first]);
      });
      const ids = [OTHER_PHONE_NUMBER_ID, PHONE_NUMBER_ID];
      expect(await read((s) => s.inboundWebhooks.byWhatsappPhoneIds(ids))).toEqual([first, other]);
      const renewed = {
        ...first,
        url: 'https://customer.example/3',
        secret: aSealedSecret('sealed anew'),
        nextSecret: aSealedSecret('new'),
        nextSecretFrom: NOW,
      };
      await run(({ inboundWebhooks }) => inboundWebhooks.save([renewed]));
      expect(await read((s) => s.inboundWebhooks.byWhatsappPhoneIds([PHONE_NUMBER_ID]))).toEqual([renewed]);
      expect(await run((s) => s.inboundWebhooks.lock(ids))).toEqual([renewed, other]);
      expect(await run((s) => s.inboundWebhooks.lock([]))).toEqual([]);
      expect(await run((s) => s.inboundWebhooks.lockShared(ids))).toEqual([renewed, other]);
      expect(await run((s) => s.inboundWebhooks.lockShared([]))).toEqual([]);
    });

    it('the store of inbound webhooks lists those of a project in pages, and no other', async () => {
      const numbers = ['664def00000000000000000a', '664def00000000000000000b', '664def00000000000000000c'];
      const all = numbers.map((id) => webhook(id, 'https://customer.example/1'));
      const foreign = { ...webhook(PHONE_NUMBER_ID, 'https://other.example/1'), projectId: anId(2) };
      await run(async ({ projects, inboundWebhooks }) => {
        await projects.insert([aProject(), aProject({ id: anId(2), slug: 'other' })]);
        await inboundWebhooks.insert([...all, foreign]);
      });
      const page = (after: string | null) => read((s) => s.inboundWebhooks.ofProject(PROJECT_ID, after, 2));
      expect(await page(null)).toEqual(all.slice(0, 2));
      expect(await page(numbers[1] ?? '')).toEqual(all.slice(2));
    });

    it('the store of inbound webhooks rejects a new one for a number that has one, and removes one', async () => {
      const first = webhook(PHONE_NUMBER_ID, 'https://customer.example/1');
      const other = webhook(OTHER_PHONE_NUMBER_ID, 'https://customer.example/2');
      await run(async ({ projects, inboundWebhooks }) => {
        await projects.insert([aProject()]);
        await inboundWebhooks.insert([first, other]);
      });
      const again = run(({ inboundWebhooks }) => inboundWebhooks.insert([first]));
      await expect(again).rejects.toThrow(/unique|duplicate/i);
      await run(({ inboundWebhooks }) => inboundWebhooks.remove([PHONE_NUMBER_ID]));
      const ids = [PHONE_NUMBER_ID, OTHER_PHONE_NUMBER_ID];
      expect(await read((s) => s.inboundWebhooks.byWhatsappPhoneIds(ids))).toEqual([other]);
    });
  });
}
