import { expect, it } from 'vitest';
import { EVENT_RETRY_MS, Simulator } from '../../../src/adapters/simulator/simulator.ts';
import type { ProviderEvent } from '../../../src/application/ports/provider-events.ts';
import { anSmsId, aSubmission, NOW } from '../../support/builders.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { submitAll } from '../../support/submit-all.ts';

function world() {
  const clock = { at: NOW, now: () => clock.at };
  const logger = new RecordingLogger();
  const simulator = new Simulator({ clock, logger });
  const delivered: ProviderEvent[] = [];
  return { clock, logger, simulator, delivered };
}

const idsOf = (events: readonly ProviderEvent[]) =>
  events.map((event) => (event.kind === 'receipt' ? event.receipt.providerMessageId : event.kind));

it('the simulator gives each part of a message an id, and receipts under these ids', async () => {
  const { clock, simulator, delivered } = world();
  await simulator.start(async (events) => void delivered.push(...events));
  simulator.follow(() => ({
    result: 'accepted',
    parts: 2,
    receipts: [
      { afterMs: 5, part: 2, receipt: { kind: 'delivered' } },
      { afterMs: 9, receipt: { kind: 'read' } },
    ],
  }));
  const result = await simulator.submit(aSubmission());
  const ids = [`simulated-${anSmsId()}-0-part-1`, `simulated-${anSmsId()}-0-part-2`];
  expect(result).toEqual({ kind: 'accepted', providerMessageIds: ids });
  expect(simulator.nextDueAt()).toBe(NOW + 5);
  clock.at = NOW + 9;
  expect(await simulator.deliverDue()).toBe(3);
  expect(idsOf(delivered)).toEqual([ids[1], ids[0], ids[1]]);
  expect(simulator.nextDueAt()).toBeNull();
});

it('the simulator delivers an event again that could not be recorded, and no other', async () => {
  const { clock, logger, simulator, delivered } = world();
  const taken: number[] = [];
  let isPoisoned = true;
  await simulator.start(async (events) => {
    taken.push(events.length);
    if (isPoisoned && idsOf(events).some((id) => id.includes(anSmsId(2)))) throw new Error('no database');
    delivered.push(...events);
  });
  await submitAll(
    simulator,
    [1, 2, 3].map((number) => aSubmission({ smsId: anSmsId(number) })),
  );
  clock.at = NOW + 1_000;
  expect(await simulator.deliverDue()).toBe(2);
  expect(logger.entries).toEqual([{ level: 'error', event: 'provider_event_failed', fields: { count: 1 } }]);
  expect(simulator.nextDueAt()).toBe(NOW + 1_000 + EVENT_RETRY_MS);
  clock.at = NOW + 1_000 + EVENT_RETRY_MS;
  isPoisoned = false;
  expect(await simulator.deliverDue()).toBe(1);
  // All at once, then each by itself, then the one that is left.
  expect(taken).toEqual([3, 1, 1, 1, 1]);
  expect(idsOf(delivered)).toEqual([1, 3, 2].map((number) => `simulated-${anSmsId(number)}-0`));
});
