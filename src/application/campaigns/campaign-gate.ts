/** Requests about campaigns of one project that are worked on at a time; more wait. */
export const CAMPAIGN_REQUESTS_PER_PROJECT_MAX = 2;

/** Those of all projects: less than a database has connections, so that sends always find one. */
export const CAMPAIGN_REQUESTS_MAX = 6;

/**
 * Lets a few requests about campaigns work at a time, of all projects and of each, round-robin over the projects: they read and
 * write a thousand recipients, and nobody's codes may wait for them. The others wait here, without a connection and
 * before their bodies are read.
 */
export class CampaignGate {
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #running = new Map<string, number>();
  #runningInAll = 0;

  /** Runs the work as soon as it is let through. */
  async run<Result>(projectId: string, work: () => Promise<Result>): Promise<Result> {
    await this.#enter(projectId);
    try {
      return await work();
    } finally {
      this.#leave(projectId);
    }
  }

  #enter(projectId: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(projectId) ?? [];
      waiting.push(resolve);
      this.#waiting.set(projectId, waiting);
      this.#admit();
    });
  }

  #leave(projectId: string): void {
    const left = this.#runningOf(projectId) - 1;
    if (left === 0) this.#running.delete(projectId);
    else this.#running.set(projectId, left);
    this.#runningInAll -= 1;
    this.#admit();
  }

  /** A project that is served goes behind the others. */
  #admit(): void {
    for (const [projectId, waiting] of [...this.#waiting]) {
      if (this.#runningInAll === CAMPAIGN_REQUESTS_MAX) return;
      if (this.#runningOf(projectId) === CAMPAIGN_REQUESTS_PER_PROJECT_MAX) continue;
      const [next, ...others] = waiting;
      this.#waiting.delete(projectId);
      if (others.length > 0) this.#waiting.set(projectId, others);
      this.#running.set(projectId, this.#runningOf(projectId) + 1);
      this.#runningInAll += 1;
      next?.();
    }
  }

  #runningOf(projectId: string): number {
    return this.#running.get(projectId) ?? 0;
  }
}
