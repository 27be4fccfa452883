import { Worker } from 'node:worker_threads';

const RUN = 0;
const STOP = 1;

interface CheckpointerConfig {
  readonly filename: string;
  /** A page that is in the log leaves it after so long, unless a reader needs it. */
  readonly truncateIntervalMs: number;
}

/**
 * The thread that moves committed pages from a SQLite log into its file, so that no request waits for it, and empties
 * the log from time to time.
 */
export class Checkpointer {
  readonly #thread: Worker;
  readonly #signal = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(RUN);
  readonly #ended: Promise<void>;

  constructor({ filename, truncateIntervalMs }: CheckpointerConfig) {
    this.#thread = new Worker(new URL('./checkpoint-thread.mjs', import.meta.url), {
      workerData: { filename, truncateIntervalMs, stop: this.#signal },
    });
    this.#ended = new Promise((resolve) => {
      this.#thread.once('exit', () => resolve());
    });
    this.#thread.unref();
  }

  /** Resolves when the thread has closed the file. */
  async stop(): Promise<void> {
    this.#thread.ref();
    Atomics.store(this.#signal, 0, STOP);
    Atomics.notify(this.#signal, 0);
    await this.#ended;
  }
}
