/**
 * Under load, answers that came within this time are let go together, so that whoever records them does so in
 * one transaction instead of many.
 */
export const ANSWERS_PACE_MS = 10;

/** Lets an answer go at once when none was for a while, and the next ones together. */
export class PacedAnswers {
  readonly #paceMs: number;
  #held: (() => void)[] = [];
  #isPacing = false;

  constructor(paceMs: number = ANSWERS_PACE_MS) {
    this.#paceMs = paceMs;
  }

  /** Resolves when the answer may go. */
  async turn(): Promise<void> {
    if (this.#isPacing) return new Promise((resolve) => this.#held.push(resolve));
    this.#isPacing = true;
    this.#pace();
  }

  #pace(): void {
    setTimeout(() => {
      const held = this.#held;
      this.#held = [];
      for (const letGo of held) letGo();
      if (held.length > 0) this.#pace();
      else this.#isPacing = false;
    }, this.#paceMs);
  }
}
