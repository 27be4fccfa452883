import type { BackgroundWork } from '../concurrency/background-work.ts';
import { isStorageFailure } from '../errors/storage-failure.ts';
import { StorageLocked } from '../errors/storage-locked.ts';
import { groupBy } from '../group-by.ts';
import type { ApplyMessageEvents } from './apply-message-events.ts';
import type { CommitAttempts } from './commit-attempts.ts';
import type { WaitingStart, WaitingStarts } from './waiting-starts.ts';

interface StartWaitingPorts {
  readonly waitingStarts: WaitingStarts;
  readonly commitAttempts: CommitAttempts;
  readonly applyMessageEvents: Pick<ApplyMessageEvents, 'keptUp'>;
  readonly background: BackgroundWork;
}

/**
 * Starts attempts that waited for their provider as soon as it has capacity, before their jobs are due. One batch at a time:
 * meanwhile the providers get capacity for the next one.
 */
export class StartWaitingAttempts {
  readonly #ports: StartWaitingPorts;
  #isRunning = false;
  #isStopping = false;

  constructor(ports: StartWaitingPorts) {
    this.#ports = ports;
    ports.waitingStarts.whenCapacity(() => this.#start());
  }

  /** From here on, attempts that still wait are left to their jobs. */
  stop(): void {
    this.#isStopping = true;
  }

  #start(): void {
    if (this.#isRunning || this.#isStopping) return;
    this.#isRunning = true;
    this.#ports.background.start(async () => {
      try {
        await this.#startAll();
      } catch (error) {
        this.#isRunning = false;
        throw error;
      }
    });
  }

  async #startAll(): Promise<void> {
    const { waitingStarts, applyMessageEvents } = this.#ports;
    while (!this.#isStopping) {
      await applyMessageEvents.keptUp();
      const readyStarts = waitingStarts.takeReady();
      if (readyStarts.length === 0) {
        // At once: what ends from here on is told again.
        this.#isRunning = false;
        return;
      }
      await this.#startTogether(readyStarts);
      // A start that was postponed once more left its capacity to others.
      for (const { provider } of readyStarts) waitingStarts.mayHaveCapacity(provider);
    }
  }

  /**
   * When the starts meet a lock, they are tried again by project. Those of a project that meets it again are left to their jobs.
   */
  async #startTogether(readyStarts: readonly WaitingStart[]): Promise<void> {
    try {
      await this.#ports.commitAttempts.execute({ readyStarts }, 'brief');
    } catch (error) {
      if (!isStorageFailure(error)) throw error;
      const projects = [...groupBy(readyStarts, ({ backlog }) => backlog.projectId).values()];
      if (projects.length === 1 || !(error instanceof StorageLocked)) return;
      await Promise.all(projects.map((own) => this.#startTogether(own)));
    }
  }
}
