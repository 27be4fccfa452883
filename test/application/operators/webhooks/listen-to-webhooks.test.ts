import { afterEach, beforeEach, expect, it } from 'vitest';
import { ListenToWebhooks } from '../../../../src/application/operators/webhooks/listen-to-webhooks.ts';
import { firstIdAt } from '../../../../src/domain/shared/id-time.ts';
import { type ApplicationWorld, aSeedProject, openApplication } from '../../../support/application-world.ts';
import { anId, aProject, aWebhookEvent, NOW, SECOND_MS } from '../../../support/builders.ts';

const EARLIER = NOW - 60 * SECOND_MS;
const OTHERS = 5_000;

let world: ApplicationWorld;

beforeEach(async () => {
  world = await openApplication({
    projects: [aSeedProject({ project: aProject({ environment: 'dev', slug: 'mine' }) })],
  });
});
afterEach(() => world.close());

const idOf = (index: number) => firstIdAt(EARLIER) + index.toString(16).padStart(12, '0');

it('a page of events reads 5,000 events of all projects, and the next one goes on behind them', async () => {
  const others = Array.from({ length: OTHERS }, (_, index) =>
    aWebhookEvent({
      id: idOf(index),
      projectId: anId(9),
      orderingKey: `other ${index}`,
      nextAttemptAt: null,
    }),
  );
  const mine = aWebhookEvent({ id: idOf(OTHERS), nextAttemptAt: null });
  await world.unitOfWork.run(({ webhookEvents }) => webhookEvents.insert([...others, mine]));
  const listen = world.container.get(ListenToWebhooks);
  const first = await listen.page('mine', firstIdAt(EARLIER), 10);
  expect(first).toEqual({ events: [], next: idOf(OTHERS - 1) });
  const second = await listen.page('mine', first.next, 10);
  expect(second.events.map(({ event }) => event.id)).toEqual([mine.id]);
  expect(second.next).toBe(firstIdAt(NOW - 5 * SECOND_MS));
});
