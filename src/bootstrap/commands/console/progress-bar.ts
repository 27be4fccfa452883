import type { CommandOutput } from './command-output.ts';

const BAR_CHARACTERS = 30;
const PERCENT = 100;
const BYTES_PER_MB = 1_000_000;

/** Draws how much of a file is written, over its own line; draws nothing where no terminal is. */
export class ProgressBar {
  readonly #output: Pick<CommandOutput, 'progress'>;
  readonly #label: string;

  constructor(output: Pick<CommandOutput, 'progress'>, label: string) {
    this.#output = output;
    this.#label = label;
  }

  /** Both in bytes. */
  draw(written: number, total: number): void {
    const part = total === 0 ? 1 : Math.min(1, written / total);
    const full = Math.round(part * BAR_CHARACTERS);
    const bar = '#'.repeat(full).padEnd(BAR_CHARACTERS, '.');
    const megabytes = (total / BYTES_PER_MB).toFixed(0);
    this.#output.progress?.(`\r${this.#label} [${bar}] ${Math.floor(part * PERCENT)}% of ${megabytes} MB`);
  }

  /** Leaves an empty line to what is printed next. */
  end(): void {
    this.#output.progress?.('\r\u001b[K');
  }
}
