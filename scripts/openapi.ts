import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startHarness } from '../src/bootstrap/harness/harness.ts';

/** Writes the document that the service serves to docs/openapi.json. */
const harness = await startHarness();
const { body } = await harness.request('/openapi.json', { apiKey: null });
await harness.close();
const path = join(import.meta.dirname, '..', 'docs', 'openapi.json');
await writeFile(path, `${JSON.stringify(body, null, 2)}\n`);
