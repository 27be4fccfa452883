/**
 * Under load, answers that came within this time are let go together, so that whoever records them does so in
 * one transaction instead of many.
 */
export const ANSWERS_PACE_MS = 10;
/** So many are enough for one transaction; waiting for more would keep the connections idle. */
export const ANSWERS_HELD_MAX = 64;

/** Lets an answer go at once when none was for a while, and the next ones together. */
export class PacedAnswers {
  #held: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** Resolves when the answer may go. */
  async turn(): Promise<void> {
    if (this.#timer === null) {
      this.#pace();
      return;
    }
    await new Promise<void>((resolve) => {
      this.#held.push(resolve);
      if (this.#held.length >= ANSWERS_HELD_MAX) this.#letGo();
    });
  }

  #pace(): void {
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#held.length === 0) return;
      this.#letGo();
      this.#pace();
    }, ANSWERS_PACE_MS);
  }

  #letGo(): void {
    const held = this.#held;
    this.#held = [];
    for (const go of held) go();
  }
}
