import { expect, it } from 'vitest';
import { startWith } from './world.ts';

it('10.1 /healthz says ok without a key', async () => {
  const service = await startWith();
  expect(await service.request('/healthz', { apiKey: null })).toMatchObject({
    status: 200,
    body: { status: 'ok' },
  });
});

it('10.2 /readyz lists every dependency with its state, without a key', async () => {
  const { status, body } = await (await startWith()).request('/readyz', { apiKey: null });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    status: 'ready',
    dependencies: expect.arrayContaining([
      { name: 'database', ok: true, critical: true, detail: expect.any(String) },
      { name: 'queue', ok: true, critical: false, detail: expect.any(String) },
    ]),
  });
});

it('10.3 /openapi.json describes every endpoint without a key', async () => {
  const { status, body } = await (await startWith()).request('/openapi.json', { apiKey: null });
  expect(status).toBe(200);
  const { openapi, paths } = body as { openapi: string; paths: Record<string, object> };
  expect(openapi).toMatch(/^3\.1\./);
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining([
      '/sms',
      '/sms/track/{smsId}',
      '/international-sms-pricing',
      '/sender-ids',
      '/info',
    ]),
  );
});

it('10.4 /docs is a page that names the document and its own files, without a key', async () => {
  const service = await startWith();
  const page = await fetch(`${await service.url}/docs`);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(await page.text()).toContain('openapi.json');
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
    expect((await fetch(`${await service.url}/docs/${name}`)).status).toBe(200);
  }
});
