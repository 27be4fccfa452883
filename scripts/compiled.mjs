import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildBench } from './build.mjs';

// node scripts/compiled.mjs FILE [ARGUMENT...]: compiles benches and crash tests, and runs one of them in this process.
const folder = await buildBench().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
const program = join(folder, process.argv[2].replace(/\.ts$/, '.js'));
process.argv.splice(1, 2, program);
await import(pathToFileURL(program).href);
