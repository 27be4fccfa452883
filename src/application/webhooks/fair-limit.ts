/** Of each ten attempts under a shared limit, one is kept for projects that have none in flight. */
export const ATTEMPTS_PER_KEPT = 10;

/**
 * The attempts in flight under one limit, by project, and the queues that wait for one of them to end. What becomes free goes
 * to the projects in rotation. Under a shared limit a project gets at most as many attempts as it leaves free. So the attempts
 * of the next project begin at once, until so many projects hang that nothing is left: 28 under a limit of 200.
 */
export class FairLimit<Queue> {
  readonly #max: number;
  readonly #kept: number | null;
  readonly #inFlight = new Map<string, number>();
  /** By project; the one that was served longest ago comes first, and of its queues the one that has waited longest. */
  readonly #waiting = new Map<string, Set<Queue>>();
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

  /** The queue waits until it is the next; once, however often it is added. */
  wait(projectId: string, queue: Queue): void {
    const queues = this.#waiting.get(projectId) ?? new Set();
    this.#waiting.set(projectId, queues.add(queue));
  }

  /** The queue waits no more. */
  leave(projectId: string, queue: Queue): void {
    const queues = this.#waiting.get(projectId);
    queues?.delete(queue);
    if (queues?.size === 0) this.#waiting.delete(projectId);
  }

  /** Removes and returns the queue that is next; null when none may begin. Its project comes after the others from then on. */
  next(): Queue | null {
    // Only projects with attempts in flight are passed over: no more than the limit allows.
    for (const [projectId, queues] of this.#waiting) {
      if (this.#inFlightOfAll >= this.#max) return null;
      if (!this.mayBegin(projectId)) continue;
      this.#waiting.delete(projectId);
      for (const queue of queues) {
        queues.delete(queue);
        if (queues.size > 0) this.#waiting.set(projectId, queues);
        return queue;
      }
    }
    return null;
  }
}
