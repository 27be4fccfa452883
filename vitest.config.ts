import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    dir: 'test',
    include: ['**/*.test.ts'],
    // Processes of their own: native modules and a moved environment stay apart.
    pool: 'forks',
    // The files of a process share the modules: loading them for each file took a third of the time of all tests.
    isolate: false,
    maxWorkers: 3,
    // Against a hang alone: on a slow machine that does other work, starting four processes takes twenty seconds.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
