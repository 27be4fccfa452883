import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { nextRound } from '../../../src/application/concurrency/next-round.ts';
import { StorageLocked } from '../../../src/application/errors/storage-locked.ts';
import { StorageAway } from '../../../src/application/errors/storage-unavailable.ts';
import type { InboundArrival } from '../../../src/application/ports/provider-events.ts';
import { AcceptInbound } from '../../../src/application/webhooks/accept-inbound.ts';
import { EnqueueWebhooks } from '../../../src/application/webhooks/enqueue-webhooks.ts';
import { ports } from '../../../src/bootstrap/tokens.ts';
import { LAST_ID } from '../../../src/domain/shared/id-time.ts';
import { type ApplicationWorld, aSeedProject, openApplication } from '../../support/application-world.ts';
import {
  aPhoneNumber,
  aProject,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  HOUR_MS,
  NOW,
  SECOND_MS,
} from '../../support/builders.ts';
import { Gate } from '../../support/job-collector.ts';

const NUMBER = aWhatsappPhoneNumber();
/** A number with a webhook, of a project that has no such number in its whatsapp businesses. */
const UNLISTED_ID = '664def0000000000000000ff';
const DAY_MS = 24 * HOUR_MS;
const projectId = aProject().id;
const destination = `${projectId}/customer.example/in`;

const arrival = (given: Partial<InboundArrival> = {}): InboundArrival => ({
  whatsappPhoneId: NUMBER.id,
  contact: { phoneNumber: '9647712345678', name: 'Layla' },
  messageId: 'wamid.1',
  content: { type: 'text', content: { text: 'سلاو' } },
  writtenAt: NOW - SECOND_MS,
  ...given,
});

describe('inbound messages', () => {
  let world: ApplicationWorld;
  let accept: AcceptInbound;

  beforeEach(async () => {
    const webhook = (whatsappPhoneId: string) => ({
      whatsappPhoneId,
      url: 'https://customer.example/in',
      secret: 's',
    });
    world = await openApplication({
      projects: [
        aSeedProject({
          whatsappBusinesses: [aWhatsappBusiness()],
          inboundWebhooks: [
            webhook(NUMBER.id),
            { ...webhook(UNLISTED_ID), url: 'https://customer.example/unlisted' },
          ],
        }),
      ],
    });
    accept = world.container.get(AcceptInbound);
  });

  afterEach(() => world.close());

  const eventsOf = async (whatsappPhoneId: string) => {
    const all = { after: '', last: LAST_ID };
    const events = await world.unitOfWork.read((stores) => stores.webhookEvents.ofProject(projectId, all, 9));
    return events.filter((event) => event.whatsappPhoneId === whatsappPhoneId);
  };

  it('an inbound message becomes one event, due at once, that tells who wrote what to which number', async () => {
    await accept.execute([
      arrival(),
      arrival({ messageId: 'wamid.2', content: { type: 'text', content: { text: 'x' } } }),
    ]);
    const events = await eventsOf(NUMBER.id);
    expect(events).toHaveLength(2);
    const event = events.find(({ body }) => body.includes('wamid.1'));
    expect(event).toMatchObject({ kind: 'inbound', state: 'pending', nextAttemptAt: NOW, projectId });
    expect(JSON.parse(event?.body ?? '')).toMatchObject({
      eventId: event?.id,
      timestamp: '2026-01-15T12:00:00.000Z',
      phoneNumber: {
        id: NUMBER.id,
        phoneNumberId: NUMBER.phoneNumberId,
        displayPhoneNumber: NUMBER.displayPhoneNumber,
      },
      contact: { phoneNumber: '9647712345678', name: 'Layla' },
      message: {
        id: 'wamid.1',
        timestamp: '2026-01-15T11:59:59.000Z',
        type: 'text',
        content: { text: 'سلاو' },
      },
    });
    expect(await world.database.knex('jobs').select('id', 'due_at')).toEqual([
      { id: `webhooks/${destination}`, due_at: NOW },
    ]);
  });

  it('an inbound message becomes one event however often the provider reports it, at once or later', async () => {
    await accept.execute([arrival(), arrival({ contact: { phoneNumber: '1', name: 'Second' } })]);
    await accept.execute([arrival()]);
    const events = await eventsOf(NUMBER.id);
    expect(events.map(({ body }) => JSON.parse(body).contact.name)).toEqual(['Layla']);
  });

  it('an inbound message to a number without a webhook becomes no event', async () => {
    await accept.execute([arrival({ whatsappPhoneId: '664def0000000000000000aa' })]);
    await accept.execute([]);
    expect(await world.database.knex('webhook_events').select()).toEqual([]);
    await accept.execute([arrival({ whatsappPhoneId: '664def0000000000000000aa' }), arrival()]);
    expect(await eventsOf(NUMBER.id)).toHaveLength(1);
  });

  it('messages that arrive together are one transaction, however many people write', async () => {
    const runs = vi.spyOn(world.unitOfWork, 'run');
    await Promise.all(
      Array.from({ length: 64 }, (_, n) => accept.execute([arrival({ messageId: `wamid.${n}` })])),
    );
    expect(runs).toHaveBeenCalledTimes(1);
    expect(await world.database.knex('webhook_events').count({ count: '*' })).toEqual([{ count: 64 }]);
  });

  it('many messages are stored 64 at a time, with pauses between, and one that cannot be keeps no other', async () => {
    let busyMs = 0;
    const pauses: number[] = [];
    const counts: number[] = [];
    const slow = new AcceptInbound({
      unitOfWork: world.unitOfWork,
      enqueueWebhooks: {
        add: async (stores, events, earlier) => {
          busyMs += 10;
          counts.push(events.length);
          await world.container.get(EnqueueWebhooks).add(stores, events, earlier);
        },
      },
      clock: world.clock,
      ids: world.container.get(ports.idSource),
      wakeSignal: { wake: () => {} },
      eventLoop: { busyMs: () => busyMs, pause: async (ms) => void pauses.push(ms) },
    });
    const many = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => arrival({ messageId: `wamid.${from + n}` }));
    await slow.execute(many(0, 64));
    expect([counts, pauses]).toEqual([[64], []]);
    await slow.execute(many(100, 130));
    expect([counts.slice(1), pauses]).toEqual([
      [64, 64, 2],
      [20, 20, 20],
    ]);
    const unstorable = arrival({ messageId: 'wamid.bad', writtenAt: Number.NaN });
    await expect(slow.execute([unstorable, ...many(300, 129)])).rejects.toThrow();
    expect(await world.database.knex('webhook_events').count({ count: '*' })).toEqual([
      { count: 64 + 130 + 129 },
    ]);
  });

  it('messages to many numbers are stored in rotation: one goes before the many to another that came before it', async () => {
    const order: string[] = [];
    const many = Array.from({ length: 300 }, (_, n) => arrival({ messageId: `wamid.${n}` }));
    const large = accept.execute(many).then(() => order.push('many'));
    const one = accept.execute([arrival({ whatsappPhoneId: UNLISTED_ID, messageId: 'wamid.other' })]);
    await Promise.all([large, one.then(() => order.push('one'))]);
    expect(order).toEqual(['one', 'many']);
    expect(await world.database.knex('webhook_events').count({ count: '*' })).toEqual([{ count: 301 }]);
  });

  it('no more messages are tried when the database is away', async () => {
    const away = new StorageAway(new Error('planted'));
    const runs = vi.spyOn(world.unitOfWork, 'run').mockRejectedValue(away);
    const many = (count: number) =>
      Array.from({ length: count }, (_, n) => arrival({ messageId: `wamid.${n}` }));
    await expect(accept.execute(many(64))).rejects.toBe(away);
    const ofOnePiece = runs.mock.calls.length;
    await expect(accept.execute(many(640))).rejects.toBe(away);
    expect(runs).toHaveBeenCalledTimes(2 * ofOnePiece);
  });

  it('messages of a locked project wait for the lock, also those that come while it is known', async () => {
    const unlocked = new Gate();
    let isLocked = true;
    const run = world.unitOfWork.run.bind(world.unitOfWork);
    const runs = vi.spyOn(world.unitOfWork, 'run').mockImplementation(async (work, durability, lockWait) => {
      if (isLocked && lockWait === 'brief') throw new StorageLocked(new Error('planted'));
      await unlocked.opened;
      return run(work, durability, lockWait);
    });
    const first = accept.execute([arrival()]);
    await vi.waitUntil(() => runs.mock.calls.some(([, , lockWait]) => lockWait === 'long'));
    const later = accept.execute([arrival({ messageId: 'wamid.2' })]);
    // Until it has joined the others of its project.
    for (let round = 0; round < 50; round += 1) await nextRound();
    isLocked = false;
    unlocked.open();
    await Promise.all([first, later]);
    expect(await eventsOf(NUMBER.id)).toHaveLength(2);
  });

  it('a message that cannot be stored fails alone among those that arrive with it', async () => {
    const unstorable = arrival({ messageId: 'wamid.bad', writtenAt: Number.NaN });
    const outcomes = await Promise.allSettled([accept.execute([arrival()]), accept.execute([unstorable])]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(await eventsOf(NUMBER.id)).toHaveLength(1);
  });

  const windows = () =>
    world.database
      .knex('service_windows')
      .select('phone_number_id', 'phone_number', 'wrote_at')
      .orderBy(['wrote_at', 'phone_number_id']);
  const window = (phoneNumber: string, at: number, whatsappPhoneId = NUMBER.id) => ({
    phone_number_id: whatsappPhoneId,
    phone_number: phoneNumber,
    wrote_at: at,
  });

  it('of each customer and number the latest time of writing is kept, in whatever order messages come', async () => {
    const from = (phoneNumber: string, at: number, more: Partial<InboundArrival> = {}) =>
      arrival({ contact: { phoneNumber, name: 'Layla' }, writtenAt: at, messageId: `wamid.${at}`, ...more });
    await accept.execute([
      from('9647712345678', NOW - 30),
      from('9647712345678', NOW - 10),
      from('9647712345678', NOW - 20),
      from('9647712345679', NOW - 5),
      from('9647712345678', NOW - 40, { whatsappPhoneId: UNLISTED_ID }),
    ]);
    const kept = [
      window('9647712345678', NOW - 40, UNLISTED_ID),
      window('9647712345678', NOW - 10),
      window('9647712345679', NOW - 5),
    ];
    expect(await windows()).toEqual(kept);
    await accept.execute([from('9647712345678', NOW - 15)]);
    expect(await windows()).toEqual(kept);
  });

  it('a customer is known by the canonical number, also when the number has no webhook', async () => {
    const whatsappPhoneId = '664def0000000000000000aa';
    await accept.execute([
      arrival({ whatsappPhoneId, contact: { phoneNumber: '96407712345678', name: '' } }),
    ]);
    expect(await windows()).toEqual([window('9647712345678', NOW - SECOND_MS, whatsappPhoneId)]);
  });

  it('a contact that has no phone number is not noted, and its message becomes an event', async () => {
    await accept.execute([arrival({ contact: { phoneNumber: 'layla', name: 'Layla' } })]);
    expect(await windows()).toEqual([]);
    expect(await eventsOf(NUMBER.id)).toHaveLength(1);
  });

  it('each customer who writes sweeps two who wrote a day ago or earlier, the oldest first', async () => {
    await world.unitOfWork.run(({ conversations }) =>
      conversations.noteWritten(
        ['1', '2', '3', '4'].map((digit, n) => ({
          whatsappPhoneId: NUMBER.id,
          phoneNumber: aPhoneNumber(`964770000000${digit}`),
          at: NOW - DAY_MS + n - 2,
        })),
      ),
    );
    await accept.execute([arrival({ writtenAt: NOW })]);
    const [, , third, fourth] = [0, 1, 2, 3].map((n) => window(`964770000000${n + 1}`, NOW - DAY_MS + n - 2));
    expect(await windows()).toEqual([third, fourth, window('9647712345678', NOW)]);
    await accept.execute([arrival({ writtenAt: NOW })]);
    expect(await windows()).toEqual([fourth, window('9647712345678', NOW)]);
  });

  it('an inbound message to a number that the project no longer lists has no name of the number', async () => {
    await accept.execute([arrival({ whatsappPhoneId: UNLISTED_ID })]);
    const [event] = await eventsOf(UNLISTED_ID);
    expect(event?.url).toBe('https://customer.example/unlisted');
    expect(JSON.parse(event?.body ?? '').phoneNumber).toEqual({
      id: UNLISTED_ID,
      phoneNumberId: '',
      displayPhoneNumber: '',
    });
  });
});
