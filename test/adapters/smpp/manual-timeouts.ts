import type { Timeouts } from '../../../src/adapters/smpp/pdu-connection.ts';

interface Timer {
  readonly ms: number;
  readonly expired: () => void;
}

/** Timeouts that expire when a test says so. */
export class ManualTimeouts {
  #timers: Timer[] = [];
  #checks: (() => void)[] = [];

  #isOver = false;

  readonly timeouts: Timeouts = (ms) => (expired) => {
    if (this.#isOver) queueMicrotask(expired);
    const timer = { ms, expired };
    this.#timers.push(timer);
    for (const check of [...this.#checks]) check();
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  };

  /** The timeouts that go on, in milliseconds. */
  get all(): readonly number[] {
    return this.#timers.map(({ ms }) => ms);
  }

  /** Resolves once a timeout of so many milliseconds goes on. */
  begun(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!this.all.includes(ms)) return;
        this.#checks = this.#checks.filter((each) => each !== check);
        resolve();
      };
      this.#checks.push(check);
      check();
    });
  }

  /** Lets every timeout expire at once from now on: the test is over. */
  finish(): void {
    this.#isOver = true;
    for (const { expired } of this.#timers.splice(0)) expired();
  }

  /** Lets every timeout of so many milliseconds expire. Throws when there is none. */
  expire(ms: number): void {
    const due = this.#timers.filter((timer) => timer.ms === ms);
    if (due.length === 0) throw new Error(`No timeout of ${ms} ms goes on, only ${this.all}`);
    this.#timers = this.#timers.filter((timer) => timer.ms !== ms);
    for (const { expired } of due) expired();
  }
}
