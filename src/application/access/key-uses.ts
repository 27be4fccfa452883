import { millisecondsInMinute } from 'date-fns/constants';
import type { Clock } from '../ports/clock.ts';
import type { KeyHasher } from '../ports/key-hasher.ts';
import type { Logger } from '../ports/logger.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

/** The uses of a process are written this long after the first of them, in milliseconds; a crash loses no more. */
export const KEY_USE_INTERVAL_MS = millisecondsInMinute;

/** The most keys that one transaction writes. */
const KEYS_PER_WRITE = 500;

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly keyHasher: KeyHasher;
  readonly keyUseInterval: Timeout;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Notes when each API key was used last: in memory at once, and in the storage once a minute at the most. */
export class KeyUses {
  readonly #ports: Ports;
  /** The newest use of each key that is not written yet, in milliseconds since 1970. */
  #uses = new Map<string, number>();
  #cancelNext: (() => void) | null = null;
  #writing: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** A request was accepted with this key, which must be one that exists: every key is kept until it is written. */
  note(apiKey: string): void {
    this.#uses.set(apiKey, this.#ports.clock.now());
    if (this.#cancelNext !== null || this.#isStopped) return;
    this.#cancelNext = this.#ports.keyUseInterval(() => {
      this.#cancelNext = null;
      void this.write();
    });
  }

  /** Writes what was noted. What cannot be written is logged and kept for the next time. Never rejects. */
  write(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#writeNoted());
    return this.#writing;
  }

  /** Writes what was noted, for the last time. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelNext?.();
    return this.write();
  }

  async #writeNoted(): Promise<void> {
    const noted = [...this.#uses];
    this.#uses = new Map();
    for (let at = 0; at < noted.length; at += KEYS_PER_WRITE) {
      const part = noted.slice(at, at + KEYS_PER_WRITE);
      try {
        await this.#store(part);
      } catch (error) {
        this.#ports.logger.error('key_uses_not_stored', error);
        for (const [apiKey, usedAt] of noted.slice(at)) {
          if (!this.#uses.has(apiKey)) this.#uses.set(apiKey, usedAt);
        }
        return;
      }
    }
  }

  /** A use that a dying machine forgets does no harm. */
  #store(uses: readonly (readonly [apiKey: string, usedAt: number])[]): Promise<void> {
    const { unitOfWork, keyHasher } = this.#ports;
    const keys = uses.map(([apiKey, usedAt]) => ({ digest: keyHasher.digest(apiKey), lastUsedAt: usedAt }));
    return unitOfWork.run(({ projects }) => projects.noteKeyUses(keys), 'eventual');
  }
}
