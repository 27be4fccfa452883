import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from './build.mjs';
import { openFilesProblem } from './open-files.mjs';

/** As in src/bootstrap/exit-codes.ts. */
const EXIT_CONFIGURATION = 78;

const problem = openFilesProblem();
if (problem !== null) {
  console.error(`Barid cannot start:\n${problem}`);
  process.exit(EXIT_CONFIGURATION);
}

// The program is imported by its real path, not through `dist`: a later build moves the link, and a module
// loaded after that would come from another program. Importing, not spawning, lets signals reach it directly.
const folder = await build().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
await import(pathToFileURL(join(folder, 'bootstrap', 'main.js')).href);
