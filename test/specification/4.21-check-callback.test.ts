import { expect, it } from 'vitest';
import { startWith } from './world.ts';

it('4.21 GET /callbacks/{provider} is there for providers that are configured only', async () => {
  const reply = await (await startWith()).request('/callbacks/meta', { apiKey: null });
  expect([reply.status, reply.headers.get('x-error-code')]).toEqual([404, 'not-found']);
});
