import type { WorkSignal } from '../../application/ports/work-signal.ts';

/** Carries the signal from those who commit work to the one who looks for it, when somebody does. */
export class Doorbell implements WorkSignal {
  #listener: () => void = () => {};

  wake(): void {
    this.#listener();
  }

  /** Calls `listener` for every later signal, in place of the one before. */
  answer(listener: () => void): void {
    this.#listener = listener;
  }
}
