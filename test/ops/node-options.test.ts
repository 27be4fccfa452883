import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** The collector takes one thread beside the event loop: with four, as node has it, requests wait on two cores. */
const OPTIONS = '--v8-pool-size=1';

it.each([
  ['package.json', `"start": "exec node ${OPTIONS} scripts/start.mjs"`],
  ['Dockerfile', `ENTRYPOINT ["node", "${OPTIONS}", "scripts/barid.mjs"]`],
  ['ops/barid.service', `ExecStart=/usr/bin/node ${OPTIONS} /opt/barid/`],
  ['bench/support/checkout.ts', `['${OPTIONS}'`],
])('%s starts the service with one thread for the garbage collector', (file, start) => {
  expect(readFileSync(join(import.meta.dirname, '../..', file), 'utf8')).toContain(start);
});
