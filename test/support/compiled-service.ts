import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { buildService } = await import(
  pathToFileURL(join(import.meta.dirname, '../../scripts/build.mjs')).href
);
/** Of the compiled service: compiling in passing took seconds of every start. */
const BOOTSTRAP: string = join(await buildService(), 'bootstrap');

/** The service as a program. */
export const MAIN_PROGRAM = join(BOOTSTRAP, 'main.js');

/** The command line as a program. */
export const BARID_PROGRAM = join(BOOTSTRAP, 'commands', 'barid.js');
