import type { EventLoop } from '../../src/application/ports/event-loop.ts';

/** An event loop that is never busy, so that nothing pauses. */
export const IDLE_EVENT_LOOP: EventLoop = { busyMs: () => 0, pause: async () => {} };
