import { defineConfig } from 'vitest/config';
import type { Reporter, TestModule, TestRunEndReason, Vitest } from 'vitest/node';

/** The tests that have to notice a mutant: patterns, comma-separated, set by scripts/mutation.mjs. */
const patterns = process.env.MUTATION_TESTS ?? '';

/**
 * Reports a test file that fails outside of its tests, such as one that cannot be loaded, as an error of the run.
 * Stryker reads the results of tests only, and would take the mutant for a survivor (stryker-js issue 6150).
 */
class FailedFiles implements Reporter {
  #vitest: Vitest | null = null;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(files: readonly TestModule[], _: unknown, reason: TestRunEndReason): void {
    if (reason !== 'failed') return;
    for (const error of files.flatMap((file) => file.errors())) {
      this.#vitest?.state.catchError(new Error(error.message), 'Unhandled Error');
    }
  }
}

export default defineConfig({
  test: {
    include: patterns.split(','),
    // Tests of processor time: the instrumented code is many times slower.
    exclude: ['**/*.time.test.ts'],
    reporters: [new FailedFiles()],
    // The files of one run share their modules: a mutant is tested in half the time.
    isolate: false,
    // A test that waits for ever fails before Stryker has to restart its worker.
    testTimeout: 10_000,
    hookTimeout: 20_000,
  },
});
