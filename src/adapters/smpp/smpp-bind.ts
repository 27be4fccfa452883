import { performance } from 'node:perf_hooks';
import type { Logger } from '../../application/ports/logger.ts';
import type { Timeouts } from './pdu-connection.ts';
import type { SmppSession } from './smpp-session.ts';

/** The bound of the first wait, in milliseconds; it doubles with each further session that fails, or ends at once. */
const RECONNECT_FIRST_MS = 1_000;
/** The largest bound, and the one after rejected credentials, in milliseconds. */
export const RECONNECT_MAX_MS = 30_000;

/** A session that lasted so long is no failure, in milliseconds: an SMSC may end those that are idle. */
export const STEADY_MS = 5_000;

export interface SmppBindOptions {
  /** Of the provider. */
  readonly name: string;
  readonly newSession: () => SmppSession;
  readonly timeouts: Timeouts;
  /** At least 0 and below 1. */
  readonly random: () => number;
  readonly logger: Logger;
  /** The bind takes more than before, or nothing any more. */
  readonly onChange: () => void;
}

/** Keeps one session open, and opens another whenever it ends, until `close`. */
export class SmppBind {
  readonly #options: SmppBindOptions;
  #session: SmppSession | null = null;
  #reason = 'not connected yet';
  #logged: string | null = null;
  #failures = 0;
  #isClosed = false;
  #cancelWait: () => void = () => {};

  constructor(options: SmppBindOptions) {
    this.#options = options;
  }

  /** The session that takes messages now; null while there is none. */
  get session(): SmppSession | null {
    return this.#session?.isUsable === true ? this.#session : null;
  }

  /** Why there is none. */
  get reason(): string {
    return this.#session?.problem ?? this.#reason;
  }

  /** Keeps a session open from now on; resolves when the first attempt to open one is over. */
  start(): Promise<void> {
    return new Promise((resolve) => void this.#open(resolve));
  }

  /** Takes `limitMs` at most. */
  async close(limitMs: number): Promise<void> {
    this.#isClosed = true;
    this.#cancelWait();
    await this.#session?.unbind(limitMs);
  }

  async #open(attempted: () => void = () => {}): Promise<void> {
    const { newSession, logger, name, onChange } = this.#options;
    const session = newSession();
    this.#session = session;
    const result = await session.bind();
    const beganAt = performance.now();
    if (result.kind === 'bound') {
      this.#logged = null;
      logger.info('smpp_bind_opened', { provider: name });
      onChange();
    }
    attempted();
    const reason = await session.ended;
    this.#session = null;
    this.#reason = reason;
    onChange();
    if (this.#isClosed) return;
    // The same reason is logged once, however often a bind fails with it.
    if (this.#logged !== reason) logger.warn('smpp_bind_ended', { provider: name, reason });
    this.#logged = reason;
    // An SMSC that accepts each bind only to end it is one that fails.
    if (session.hasServed || performance.now() - beganAt >= STEADY_MS) this.#failures = 0;
    const areCredentialsRejected = result.kind === 'failed' && result.areCredentialsRejected;
    const waitMs = reconnectDelayMs(
      areCredentialsRejected ? Number.POSITIVE_INFINITY : this.#failures,
      this.#options.random(),
    );
    this.#failures += 1;
    this.#cancelWait = this.#options.timeouts(waitMs)(() => void this.#open());
  }
}

/**
 * Milliseconds to wait after `failures` failures in a row before the last one: half of the bound, and a random part of the rest.
 */
export function reconnectDelayMs(failures: number, random: number): number {
  const bound = Math.min(RECONNECT_MAX_MS, RECONNECT_FIRST_MS * 2 ** failures);
  return Math.round(bound * (0.5 + random / 2));
}
