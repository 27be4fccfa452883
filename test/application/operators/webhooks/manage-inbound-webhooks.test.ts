import { afterEach, beforeEach, expect, it } from 'vitest';
import { ManageInboundWebhooks } from '../../../../src/application/operators/webhooks/manage-inbound-webhooks.ts';
import type { WebhookEvent } from '../../../../src/domain/webhooks/webhook-event.ts';
import { type ApplicationWorld, aSeedProject, openApplication } from '../../../support/application-world.ts';
import { anId, aProject, aSealedSecret, aWebhookEvent, HOUR_MS, NOW } from '../../../support/builders.ts';

const NUMBER_ID = anId(7);
const PROJECT = aProject().id;
const OLD_URL = 'https://customer.example/in';
const NEW_URL = 'https://customer.example/new?token=1';
/** More than two slices. */
const OPEN = 1_001;

let world: ApplicationWorld;
let manage: ManageInboundWebhooks;

beforeEach(async () => {
  const inboundWebhooks = [{ whatsappPhoneId: NUMBER_ID, url: OLD_URL, secret: 's' }];
  world = await openApplication({ projects: [aSeedProject({ inboundWebhooks })] });
  manage = world.container.get(ManageInboundWebhooks);
});
afterEach(() => world.close());

const idOf = (index: number) => index.toString(16).padStart(24, '0');
const waiting = (index: number, given: Partial<WebhookEvent> = {}) =>
  aWebhookEvent({
    id: idOf(index),
    kind: 'inbound',
    whatsappPhoneId: NUMBER_ID,
    orderingKey: `${NUMBER_ID}/${index}`,
    url: OLD_URL,
    endpoint: 'customer.example/in',
    secret: aSealedSecret(),
    state: 'queued_retry',
    nextAttemptAt: NOW + HOUR_MS,
    ...given,
  });
const insertWaiting = () =>
  world.unitOfWork.run(({ webhookEvents }) =>
    webhookEvents.insert([
      ...Array.from({ length: OPEN }, (_, index) => waiting(index)),
      waiting(OPEN, { state: 'discarded', nextAttemptAt: null }),
      waiting(OPEN + 1, { projectId: anId(9) }),
    ]),
  );
const countsBy = async (column: string): Promise<Readonly<Record<string, number>>> => {
  const values: readonly string[] = await world.database.knex('webhook_events').pluck(column);
  return Object.fromEntries(
    [...new Set(values)].map((value) => [value, values.filter((each) => each === value).length]),
  );
};
const actions = () => world.database.knex('audit_records').pluck('action');

it('all events that wait follow their webhook to another address with its secret, in slices, and no others', async () => {
  await insertWaiting();
  await manage.redirect('operator', PROJECT, NUMBER_ID, NEW_URL);
  expect(await countsBy('url')).toEqual({ [NEW_URL]: OPEN, [OLD_URL]: 2 });
  expect(await countsBy('endpoint')).toEqual({ 'customer.example/new': OPEN, 'customer.example/in': 2 });
  const [webhook] = await world.unitOfWork.read(({ inboundWebhooks }) =>
    inboundWebhooks.byWhatsappPhoneIds([NUMBER_ID]),
  );
  expect(await countsBy('secret')).toEqual({ [webhook?.secret ?? '']: OPEN, sealed: 2 });
  expect(await world.database.knex('jobs').pluck('id')).toEqual([`webhooks/${PROJECT}/customer.example/new`]);
  expect(await actions()).toEqual(['inbound-webhook-changed']);
});

it('the same address again moves the events that an interrupted change left behind, and touches no others', async () => {
  await insertWaiting();
  await manage.redirect('operator', PROJECT, NUMBER_ID, NEW_URL);
  await world.database
    .knex('webhook_events')
    .where({ id: idOf(600) })
    .update({ url: OLD_URL });
  await manage.redirect('operator', PROJECT, NUMBER_ID, NEW_URL);
  expect(await countsBy('url')).toEqual({ [NEW_URL]: OPEN, [OLD_URL]: 2 });
  expect(await countsBy('version')).toEqual({ 0: 2, 1: OPEN - 1, 2: 1 });
  expect(await actions()).toEqual(['inbound-webhook-changed']);
});

it('all events that wait are discarded in slices when their webhook is removed, and no others', async () => {
  await insertWaiting();
  await manage.remove('operator', PROJECT, NUMBER_ID);
  expect(await countsBy('state')).toEqual({ discarded: OPEN + 1, queued_retry: 1 });
  expect(await countsBy('last_error')).toEqual({ 'webhook-removed': OPEN, null: 2 });
  expect(await world.database.knex('inbound_webhooks').select()).toEqual([]);
  expect(await actions()).toEqual(['inbound-webhook-removed']);
});

it('a webhook stays until the last of its events is discarded, so that an interrupted removal can be repeated', async () => {
  await insertWaiting();
  await world.database.knex.raw(
    `CREATE TRIGGER interrupted BEFORE UPDATE ON webhook_events WHEN new.id = '${idOf(700)}'
     BEGIN SELECT RAISE(ABORT, 'interrupted'); END`,
  );
  await expect(manage.remove('operator', PROJECT, NUMBER_ID)).rejects.toThrow('interrupted');
  expect(await countsBy('state')).toEqual({ discarded: 501, queued_retry: OPEN - 499 });
  expect(await world.database.knex('inbound_webhooks').pluck('url')).toEqual([OLD_URL]);
  await world.database.knex.raw('DROP TRIGGER interrupted');
  await manage.remove('operator', PROJECT, NUMBER_ID);
  expect(await countsBy('state')).toEqual({ discarded: OPEN + 1, queued_retry: 1 });
  expect(await actions()).toEqual(['inbound-webhook-removed']);
});
