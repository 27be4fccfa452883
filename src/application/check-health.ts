import type { JobQueue } from './ports/job-queue.ts';
import type { UnitOfWork } from './ports/unit-of-work.ts';

export interface DependencyHealth {
  readonly name: string;
  readonly ok: boolean;
  /** Without a critical dependency no request can be answered. */
  readonly critical: boolean;
  readonly detail: string;
}

export interface Readiness {
  readonly ready: boolean;
  readonly dependencies: readonly DependencyHealth[];
}

/** Whether this process can do its work, dependency by dependency. */
export class CheckHealth {
  readonly #ports: { readonly unitOfWork: UnitOfWork; readonly jobQueue: JobQueue };
  #isStopping = false;

  constructor(ports: { readonly unitOfWork: UnitOfWork; readonly jobQueue: JobQueue }) {
    this.#ports = ports;
  }

  /** From here on the process says that it is not ready, so that nothing new is sent to it. */
  stopping(): void {
    this.#isStopping = true;
  }

  async readiness(): Promise<Readiness> {
    const dependencies = [await this.#database(), this.#queue()];
    const ready = !this.#isStopping && dependencies.every(({ ok, critical }) => ok || !critical);
    return { ready, dependencies };
  }

  async #database(): Promise<DependencyHealth> {
    try {
      await this.#ports.unitOfWork.ping();
      return { name: 'database', ok: true, critical: true, detail: 'answers' };
    } catch {
      return { name: 'database', ok: false, critical: true, detail: 'does not answer' };
    }
  }

  /** Messages are accepted without the queue: their jobs wait in the database. */
  #queue(): DependencyHealth {
    const problem = this.#ports.jobQueue.problem();
    return { name: 'queue', ok: problem === null, critical: false, detail: problem ?? 'carries jobs' };
  }
}
