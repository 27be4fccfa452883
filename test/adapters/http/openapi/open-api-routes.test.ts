import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import {
  DOCS_FILES_MAX,
  DOCS_FILES_PER_ADDRESS_MAX,
  UNSENT_REPLY_COUNTED_MS,
} from '../../../../src/adapters/http/limits.ts';
import type { OpenApi } from '../../../../src/adapters/http/openapi/open-api.ts';
import { openApiRoutes } from '../../../../src/adapters/http/openapi/open-api-routes.ts';
import type { RequestPermit } from '../../../../src/adapters/http/routing/request-permit.ts';
import { holdTimers, runTimers } from '../../../support/held-timers.ts';

afterEach(runTimers);

const FILES = ['/openapi.json', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js'];

/** Serves the files of one process to clients that read nothing until their response is closed. */
function clients() {
  const { routes } = openApiRoutes(() => ({}) as OpenApi);
  return async (path: string, network: string): Promise<ServerResponse> => {
    const request = new IncomingMessage(new Socket());
    const response = new ServerResponse(request);
    await routes
      .find((each) => each.path === path)
      ?.serve(request, response, {}, { network, projectId: null } as RequestPermit);
    return response;
  };
}

it('one address gets so many long files of the page at a time, and more when one has gone out', async () => {
  const get = clients();
  const open: ServerResponse[] = [];
  for (let count = 0; count < DOCS_FILES_PER_ADDRESS_MAX; count += 1)
    open.push(await get(FILES[count % FILES.length] ?? '', 'a'));
  for (const path of FILES) await expect(get(path, 'a')).rejects.toMatchObject({ error: { status: 503 } });
  await get('/docs', 'a');
  await get('/openapi.json', 'b');
  open[0]?.emit('close');
  await get('/openapi.json', 'a');
  await expect(get('/openapi.json', 'a')).rejects.toMatchObject({ error: { code: 'overloaded' } });
});

it('all addresses together get so many long files of the page at a time, and more soon after one has gone out', async () => {
  const get = clients();
  const first = await get('/openapi.json', 'first');
  for (let count = 1; count < DOCS_FILES_MAX; count += 1) await get('/openapi.json', String(count));
  await expect(get('/openapi.json', 'one more')).rejects.toMatchObject({ error: { status: 503 } });
  holdTimers();
  first.emit('close');
  vi.advanceTimersByTime(UNSENT_REPLY_COUNTED_MS - 1);
  await expect(get('/openapi.json', 'one more')).rejects.toMatchObject({ error: { status: 503 } });
  vi.advanceTimersByTime(1);
  await get('/openapi.json', 'one more');
});

it('a file for a client who has left counts for nobody', async () => {
  const { routes } = openApiRoutes(() => ({}) as OpenApi);
  const route = routes.find(({ path }) => path === '/openapi.json');
  for (let count = 0; count <= DOCS_FILES_PER_ADDRESS_MAX; count += 1) {
    const request = new IncomingMessage(new Socket());
    const response = new ServerResponse(request).destroy();
    expect(
      await route?.serve(request, response, {}, { network: 'a', projectId: null } as RequestPermit),
    ).toMatchObject({
      status: 200,
    });
  }
});
