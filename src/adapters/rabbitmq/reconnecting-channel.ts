import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfirmChannel } from 'amqplib';
import { codeOrName } from '../../application/errors/error-text.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { type OpenChannel, openChannel } from './open-channel.ts';

/** The wait before an attempt is drawn from 0 up to a bound that doubles with every failure. */
const RECONNECT_FIRST_MS = 100;

/** The largest bound. */
const RECONNECT_MAX_MS = 2_000;

export interface ReconnectingChannelOptions {
  readonly url: string;
  /** Shown by the broker beside the connection. */
  readonly name: string;
  readonly logger: Logger;
  /** Prepares every new channel before it is used. */
  readonly prepare: (channel: ConfirmChannel) => Promise<void>;
  /** Told when the broker takes no more messages. */
  readonly onBlocked?: (reason: string) => void;
  /** Told after a channel was given up, prepared or not. */
  readonly lost?: () => void;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** A channel on a connection of its own, opened again whenever it is lost, until `close`. */
export class ReconnectingChannel {
  readonly #options: ReconnectingChannelOptions;
  readonly #stop = new AbortController();
  #open: OpenChannel | null = null;
  #reason: string | null = 'not connected yet';
  #waiters: Waiter[] = [];
  #running: Promise<void> | null = null;
  #closed: Promise<void> | null = null;

  constructor(options: ReconnectingChannelOptions) {
    this.#options = options;
  }

  /** Begins to connect in the background. May be called twice. */
  start(): void {
    this.#running ??= this.#keepOpen();
  }

  /** The open channel, or null while there is none. */
  channel(): ConfirmChannel | null {
    return this.#open?.channel ?? null;
  }

  /** Why nothing can be sent, or null when it can. */
  unavailableReason(): string | null {
    const blocked = this.#open?.blocked() ?? null;
    return blocked === null ? this.#reason : `The broker takes no messages: ${blocked}`;
  }

  /** Resolves once the channel is open; rejects when it is closed before. */
  async ready(): Promise<void> {
    if (this.#open !== null) return;
    if (this.#closed !== null) throw closedError();
    await new Promise<void>((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  /** Drops the connection and opens another, unless `close` was called. */
  restart(reason: Error): void {
    if (this.#closed === null) this.#open?.drop(reason);
  }

  /** Closes after the broker has taken what was sent. May be called twice. */
  close(): Promise<void> {
    this.#closed ??= this.#shutDown();
    return this.#closed;
  }

  async #shutDown(): Promise<void> {
    for (const waiter of this.#waiters.splice(0)) waiter.reject(closedError());
    await this.#open?.close();
    this.#stop.abort();
    await this.#running;
    this.#reason = 'closed';
  }

  async #keepOpen(): Promise<void> {
    const { signal } = this.#stop;
    let failures = 0;
    while (!signal.aborted) {
      try {
        const open = await openChannel({ ...this.#options, signal });
        failures = 0;
        this.#setOpen(open);
        this.#lost(await open.ended);
      } catch (error) {
        failures += 1;
        this.#lost(error);
      }
      if (this.#closed !== null) return;
      await sleep(reconnectDelayMs(failures, Math.random()), undefined, { signal }).catch(() => undefined);
    }
  }

  #setOpen(open: OpenChannel): void {
    this.#open = open;
    this.#reason = null;
    this.#options.logger.info('queue_connected', { connection: this.#options.name });
    for (const waiter of this.#waiters.splice(0)) waiter.resolve();
  }

  /** The same reason is logged once, however often an attempt fails with it. */
  #lost(error: unknown): void {
    const reason = reasonOf(error);
    if (this.#closed === null && this.#reason !== reason) {
      this.#options.logger.warn('queue_disconnected', { connection: this.#options.name, reason });
    }
    this.#open = null;
    this.#reason = reason;
    this.#options.lost?.();
  }
}

/** Milliseconds to wait after `failures` failed attempts in a row; `random` is at least 0 and below 1. */
export function reconnectDelayMs(failures: number, random: number): number {
  return random * Math.min(RECONNECT_MAX_MS, RECONNECT_FIRST_MS * 2 ** failures);
}

/** A failed attempt on several addresses has no text of its own, only a code. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return error.message === '' ? codeOrName(error) : error.message;
}

function closedError(): Error {
  return new Error('The connection to the broker is closed');
}
