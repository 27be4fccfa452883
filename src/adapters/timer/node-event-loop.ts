import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLoop } from '../../application/ports/event-loop.ts';

/** The event loop that runs this code. */
export class NodeEventLoop implements EventLoop {
  busyMs(): number {
    return performance.eventLoopUtilization().active;
  }

  pause(ms: number): Promise<void> {
    return sleep(ms);
  }
}
