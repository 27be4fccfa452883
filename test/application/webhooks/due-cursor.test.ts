import { expect, it } from 'vitest';
import { DueCursor } from '../../../src/application/webhooks/due-cursor.ts';
import type { WebhookEvent } from '../../../src/domain/webhooks/webhook-event.ts';
import { NOW } from '../../support/builders.ts';

const event = (id: string, nextAttemptAt: number | null = NOW) => ({ id, nextAttemptAt }) as WebhookEvent;

it('DueCursor reads all that is due at first', () => {
  const cursor = new DueCursor();
  expect([cursor.begin(), cursor.hasMore]).toEqual([null, false]);
});

it('DueCursor reads behind the last event while there are more, and all that is due after that', () => {
  const cursor = new DueCursor();
  cursor.advance([event('1', NOW - 5), event('2', NOW - 3)], true);
  expect([cursor.begin(), cursor.hasMore]).toEqual([{ nextAttemptAt: NOW - 3, id: '2' }, true]);
  cursor.advance([event('3')], false);
  expect([cursor.begin(), cursor.hasMore]).toEqual([null, false]);
});

it('DueCursor reads all that is due when it cannot tell how far a fetch has read', () => {
  const cursor = new DueCursor();
  for (const events of [[], [event('1', null)]]) {
    cursor.advance([event('0')], true);
    cursor.advance(events, true);
    expect([cursor.begin(), cursor.hasMore]).toEqual([null, true]);
  }
});

it('DueCursor forgets where it was when it is restarted, also during a fetch', () => {
  const cursor = new DueCursor();
  cursor.advance([event('1')], true);
  cursor.restart();
  expect(cursor.begin()).toBeNull();
  cursor.restart();
  cursor.advance([event('2')], true);
  expect([cursor.begin(), cursor.hasMore]).toEqual([null, true]);
  cursor.advance([event('3')], true);
  expect(cursor.begin()).toEqual({ nextAttemptAt: NOW, id: '3' });
});
