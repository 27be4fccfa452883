import { Worker } from 'node:worker_threads';

const RUN = 0;
const STOP = 1;

/** The thread that moves committed pages from a SQLite log into its file, so that no request waits for it. */
export class Checkpointer {
  readonly #thread: Worker;
  readonly #signal = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(RUN);
  readonly #ended: Promise<void>;

  constructor(filename: string) {
    this.#thread = new Worker(new URL('./checkpoint-thread.mjs', import.meta.url), {
      workerData: { filename, stop: this.#signal },
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
