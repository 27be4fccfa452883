import { defineConfig } from 'vitest/config';

/** The tests that have to notice a mutant: patterns, comma-separated, set by scripts/mutation.mjs. */
const patterns = process.env.MUTATION_TESTS ?? '';

export default defineConfig({
  test: {
    include: patterns.split(','),
    // The files of one run share their modules: a mutant is tested in half the time.
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
