import { performance } from 'node:perf_hooks';
import type { Channel } from 'amqplib';
import { withDeadline } from './deadline.ts';

/** How old the count of waiting jobs may be before it is read again: consumers take a full queue in less than 100 ms. */
const DEPTH_REFRESH_MS = 50;

/** Time for the broker to tell that count; without it the capacity is 0. */
const DEPTH_RESPONSE_MS = 1_000;

/** How many jobs wait in a queue: the broker's count, and the jobs published since that count. */
export class QueueDepth {
  readonly #queue: string;
  readonly #readyMax: number;
  #ready = 0;
  #publishedSinceRead = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;
  #isSilent = false;

  constructor(queue: string, readyMax: number) {
    this.#queue = queue;
    this.#readyMax = readyMax;
  }

  /** Counts jobs the broker may not have counted yet. */
  published(jobs: number): void {
    this.#publishedSinceRead += jobs;
  }

  /** Whether the broker did not tell the count the last time. */
  isSilent(): boolean {
    return this.#isSilent;
  }

  /** How many more jobs may wait; 0 when the broker does not tell. Never rejects. */
  async availableCapacity(channel: Channel): Promise<number> {
    if (performance.now() - this.#readAtMs >= DEPTH_REFRESH_MS) {
      try {
        await withDeadline(this.#read(channel), DEPTH_RESPONSE_MS, 'The broker does not respond');
      } catch {
        this.#isSilent = true;
        return 0;
      }
    }
    return Math.max(0, this.#readyMax - this.#ready - this.#publishedSinceRead);
  }

  #read(channel: Channel): Promise<void> {
    this.#reading ??= this.#count(channel).finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #count(channel: Channel): Promise<void> {
    const publishedBefore = this.#publishedSinceRead;
    const { messageCount } = await channel.checkQueue(this.#queue);
    this.#ready = messageCount;
    this.#publishedSinceRead -= publishedBefore;
    this.#readAtMs = performance.now();
    this.#isSilent = false;
  }
}
