import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString, COMMENT_HEADER, type OpenAPI3 } from 'openapi-typescript';
import { startHarness } from '../src/bootstrap/harness/harness.ts';

/** Where the types of the interface are kept, as the client imports them. */
export const OPENAPI_TYPES_FILE = join(import.meta.dirname, '../src/client/openapi-types.ts');

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(OPENAPI_TYPES_FILE, await openApiTypes());
}

/** The types of the interface, made from the document that the service serves at `/openapi.json`. */
export async function openApiTypes(): Promise<string> {
  await using harness = await startHarness();
  const { body } = await harness.request('/openapi.json', { apiKey: null });
  const nodes = await openapiTS(body as OpenAPI3, { immutable: true });
  return `${COMMENT_HEADER}${astToString(nodes)}`;
}
