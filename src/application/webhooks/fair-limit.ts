import { RotatingQueue } from '../concurrency/rotating-queue.ts';

/** Of each ten attempts under a shared limit, one is kept for projects that have none in flight. */
export const ATTEMPTS_PER_KEPT = 10;

/**
 * The attempts in flight under one limit, by project, and the queues that wait for one of them to end. Places that become free go
 * to the projects in rotation. Under a shared limit a project gets at most as many attempts as it leaves free. So attempts of the
 * next project begin at once, until too many projects hang and nothing is left: 28 projects under a limit of 200.
 */
export class FairLimit<Queue> {
  readonly #max: number;
  readonly #kept: number | null;
  readonly #inFlight = new Map<string, number>();
  /** By project. */
  readonly #waiting = new RotatingQueue<Queue>();
  #inFlightOfAll = 0;

  constructor(max: number, { isShared }: { readonly isShared: boolean }) {
    this.#max = max;
    this.#kept = isShared ? Math.floor(max / ATTEMPTS_PER_KEPT) : null;
  }

  /** Whether one more attempt of the project may begin. */
  mayBegin(projectId: string): boolean {
    const free = this.#max - this.#inFlightOfAll;
    if (free <= 0) return false;
    if (this.#kept === null) return true;
    const own = this.#inFlight.get(projectId) ?? 0;
    return own === 0 || own < free - this.#kept;
  }

  begin(projectId: string): void {
    this.#inFlightOfAll += 1;
    this.#inFlight.set(projectId, (this.#inFlight.get(projectId) ?? 0) + 1);
  }

  end(projectId: string): void {
    this.#inFlightOfAll -= 1;
    const own = this.#inFlight.get(projectId) ?? 0;
    if (own > 1) this.#inFlight.set(projectId, own - 1);
    else this.#inFlight.delete(projectId);
  }

  /** Lets the queue wait until it is the next. It waits once, however often it is added. */
  wait(projectId: string, queue: Queue): void {
    this.#waiting.add(projectId, queue);
  }

  /** Ends the wait of the queue. */
  leave(queue: Queue): void {
    this.#waiting.drop(queue);
  }

  /** Removes and returns the queue that is next; null when none may begin. From then on its project comes after the others. */
  next(): Queue | null {
    if (this.#inFlightOfAll >= this.#max) return null;
    // Only projects with attempts in flight are passed over, so no more than the limit allows.
    return this.#waiting.take((projectId) => this.mayBegin(projectId)) ?? null;
  }
}
