import type { WakeSignal } from '../../application/ports/wake-signal.ts';

/** Passes the wake signal on inside this process. */
export class LocalWakeSignal implements WakeSignal {
  #listener: () => void = () => {};

  wake(): void {
    this.#listener();
  }

  /** Calls `listener` for every later signal, in place of the one before. */
  subscribe(listener: () => void): void {
    this.#listener = listener;
  }
}
