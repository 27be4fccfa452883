import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from './build.mjs';
import { openFilesProblem } from './open-files.mjs';

/** As in src/bootstrap/exit-codes.ts. */
const EXIT_USAGE = 2;
const EXIT_CONFIGURATION = 78;

if (process.argv.length > 2) {
  console.error(
    'npm start takes no words: settings are variables, such as PORT=4001 npm start (docs/configuration.md)',
  );
  process.exit(EXIT_USAGE);
}
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
