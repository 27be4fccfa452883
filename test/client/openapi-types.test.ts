import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { OPENAPI_TYPES_FILE, openApiTypes } from '../../scripts/openapi-types.ts';

it('the types of the client are those of the document; npm run openapi-types makes them anew', async () => {
  expect(readFileSync(OPENAPI_TYPES_FILE, 'utf8')).toBe(await openApiTypes());
});
