import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InboundArrival } from '../../../src/application/ports/channel-provider.ts';
import { AcceptInbound } from '../../../src/application/webhooks/accept-inbound.ts';
import { InboundLog } from '../../../src/application/webhooks/inbound-log.ts';
import { type ApplicationWorld, aSeedProject, openApplication } from '../../support/application-world.ts';
import {
  aProject,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  HOUR_MS,
  NOW,
  SECOND_MS,
} from '../../support/builders.ts';

const NUMBER = aWhatsappPhoneNumber();
/** A number with a webhook, of a project that has no such number in its whatsapp businesses. */
const UNLISTED_ID = '664def0000000000000000ff';
const DAY_MS = 24 * HOUR_MS;
const projectId = aProject().id;
const destination = `${projectId}/customer.example/in`;

const arrival = (given: Partial<InboundArrival> = {}): InboundArrival => ({
  phoneNumberId: NUMBER.id,
  contact: { phoneNumber: '9647712345678', name: 'Layla' },
  messageId: 'wamid.1',
  content: { type: 'text', content: { text: 'سلاو' } },
  writtenAt: NOW - SECOND_MS,
  ...given,
});

describe('inbound messages', () => {
  let world: ApplicationWorld;
  let accept: AcceptInbound;
  let log: InboundLog;

  beforeEach(async () => {
    const webhook = (phoneNumberId: string) => ({
      phoneNumberId,
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
    log = world.container.get(InboundLog);
  });

  afterEach(() => world.close());

  it('an inbound message becomes one event, due at once, that tells who wrote what to which number', async () => {
    await accept.execute([
      arrival(),
      arrival({ messageId: 'wamid.2', content: { type: 'text', content: { text: 'x' } } }),
    ]);
    const events = await log.read(NUMBER.id);
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
    const events = await log.read(NUMBER.id);
    expect(events.map(({ body }) => JSON.parse(body).contact.name)).toEqual(['Layla']);
  });

  it('an inbound message to a number without a webhook becomes no event', async () => {
    await accept.execute([arrival({ phoneNumberId: '664def0000000000000000aa' })]);
    await accept.execute([]);
    expect(await world.database.knex('webhook_events').select()).toEqual([]);
    await accept.execute([arrival({ phoneNumberId: '664def0000000000000000aa' }), arrival()]);
    expect(await log.read(NUMBER.id)).toHaveLength(1);
  });

  it('an inbound message to a number that the project no longer lists has no name of the number', async () => {
    await accept.execute([arrival({ phoneNumberId: UNLISTED_ID })]);
    const [event] = await log.read(UNLISTED_ID);
    expect(event?.url).toBe('https://customer.example/unlisted');
    expect(JSON.parse(event?.body ?? '').phoneNumber).toEqual({
      id: UNLISTED_ID,
      phoneNumberId: '',
      displayPhoneNumber: '',
    });
  });

  it('the log shows inbound events for 15 days, the newest first', async () => {
    await accept.execute([arrival()]);
    world.clock.at = NOW + DAY_MS;
    await accept.execute([arrival({ messageId: 'wamid.2' })]);
    expect((await log.read(NUMBER.id)).map(({ createdAt }) => createdAt)).toEqual([NOW + DAY_MS, NOW]);
    world.clock.at = NOW + 15 * DAY_MS;
    expect((await log.read(NUMBER.id)).map(({ createdAt }) => createdAt)).toEqual([NOW + DAY_MS]);
    expect(await log.read(UNLISTED_ID)).toEqual([]);
  });

  it('inbound events are removed once their log has expired, two for each new event', async () => {
    const old = ['wamid.1', 'wamid.2', 'wamid.3'].map((messageId) => arrival({ messageId }));
    await accept.execute(old);
    await world.database
      .knex('webhook_events')
      .update({ state: 'delivered', is_open: 0, next_attempt_at: null });
    world.clock.at = NOW + 16 * DAY_MS;
    await accept.execute([arrival({ messageId: 'wamid.4' })]);
    expect(await world.database.knex('webhook_events').select('id')).toHaveLength(2);
    const ended = { state: 'delivered', is_open: 0, next_attempt_at: null };
    await world.database.knex('webhook_events').where({ created_at: world.clock.at }).update(ended);
    await accept.execute(['wamid.5', 'wamid.6'].map((messageId) => arrival({ messageId })));
    // The event that ended a moment ago stays: its log has not expired.
    expect(await world.database.knex('webhook_events').select('id')).toHaveLength(3);
  });

  it('an inbound event is due at once when it is retried by hand, unless it is delivered or unknown', async () => {
    await accept.execute([arrival()]);
    const [event] = await log.read(NUMBER.id);
    if (event === undefined) throw new Error('There is one event');
    expect(await log.retry(event.id)).toEqual(event);
    expect(await log.read(NUMBER.id)).toEqual([event]);
    await world.database.knex('jobs').delete();
    await world.database.knex('webhook_events').update({ next_attempt_at: NOW + HOUR_MS, attempts: 1 });
    world.clock.at = NOW + SECOND_MS;
    expect(await log.retry(event.id)).toMatchObject({ id: event.id, nextAttemptAt: NOW + SECOND_MS });
    expect((await log.read(NUMBER.id))[0]).toMatchObject({ nextAttemptAt: NOW + SECOND_MS });
    expect(await world.database.knex('jobs').select('id', 'due_at')).toEqual([
      { id: `webhooks/${destination}`, due_at: NOW + SECOND_MS },
    ]);
    await world.database
      .knex('webhook_events')
      .update({ state: 'delivered', is_open: 0, next_attempt_at: null });
    expect(await log.retry(event.id)).toBeNull();
    expect(await log.retry('0000000000000000000000ff')).toBeNull();
  });
});
