import { clearTimeout, setTimeout } from 'node:timers';
import { Worker } from 'node:worker_threads';
import { READS, RUNNING, SHARED_NUMBERS, STOPPING } from './checkpoint-state.mjs';

interface CheckpointerConfig {
  readonly filename: string;
  /** A page that is in the log leaves it after so long, unless a reader needs it. */
  readonly truncateIntervalMs: number;
  /** Told of each thread that failed: until one works, the log grows and keeps what was masked. */
  readonly onFailed: (error: unknown) => void;
}

/** A thread that failed is followed by another one after this time, in milliseconds. */
const RESTART_MS = 1_000;

/**
 * The thread that moves committed pages from a SQLite write-ahead log into its file, so that requests hardly wait for it. From
 * time to time a commit begins the log anew, and the thread removes what is left of the old one. Only the log of a connection
 * that has nothing to do is emptied by the thread: a connection that finds its log emptied by another one forgets its pages and
 * its copies. A thread that fails is followed by another one: the log holds everything meanwhile.
 */
export class Checkpointer {
  /** The numbers that the threads of the file share, see `checkpoint-state.mjs`. */
  readonly shared = new Int32Array(new SharedArrayBuffer(SHARED_NUMBERS * Int32Array.BYTES_PER_ELEMENT));
  readonly #config: CheckpointerConfig;
  /** Null after a thread failed, until the next one starts. */
  #thread: Worker | null = null;
  #ended: Promise<void> = Promise.resolve();
  #restart: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(config: CheckpointerConfig) {
    this.#config = config;
    this.#start();
  }

  /** Resolves when the thread has closed the file. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#restart);
    this.#thread?.ref();
    Atomics.store(this.shared, STOPPING, 1);
    Atomics.notify(this.shared, STOPPING);
    await this.#ended;
  }

  #start(): void {
    const { filename, truncateIntervalMs, onFailed } = this.#config;
    const thread = new Worker(new URL('./checkpoint-thread.mjs', import.meta.url), {
      workerData: { filename, truncateIntervalMs, shared: this.shared },
    });
    // Without a listener the error would end the process.
    thread.once('error', onFailed);
    this.#ended = new Promise((resolve) => {
      thread.once('exit', () => {
        this.#thread = null;
        resolve();
        if (!this.#isStopping) this.#startLater();
      });
    });
    thread.unref();
    this.#thread = thread;
  }

  #startLater(): void {
    // The thread may have ended while no read was to begin.
    Atomics.store(this.shared, READS, RUNNING);
    Atomics.notify(this.shared, READS);
    this.#restart = setTimeout(() => {
      try {
        this.#start();
      } catch (error) {
        // The system starts no more threads now.
        this.#config.onFailed(error);
        this.#startLater();
      }
    }, RESTART_MS).unref();
  }
}
