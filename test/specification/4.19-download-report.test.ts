import { expect, it } from 'vitest';
import { reportOf } from '../support/reports.ts';
import { errorOf, startWith } from './world.ts';

const ALL = { startDate: '2029-01-01', endDate: '2031-01-01' };

it('4.19 the link needs no key, and downloads the file under its name', async () => {
  const service = await startWith();
  const { downloadUrl } = await reportOf(service, ALL);
  const [{ filename }] = (await service.request('/reports')).body as [{ filename: string }];
  const response = await fetch(downloadUrl);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${filename}"`);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(await response.text()).toMatch(/^Message ID,/);
});

it('4.19 an unknown file, and an id of another form, are not found', async () => {
  const service = await startWith();
  for (const fileId of ['0'.repeat(40), 'x', '..%2f..%2fsecret.key', '%00']) {
    expect(errorOf(await service.request(`/reports/files/${fileId}`, { apiKey: null }))).toEqual({
      status: 404,
      code: 'report-not-found',
      body: { message: 'Report not found' },
    });
  }
});

it('4.19 downloads that have ended, and those of no file, count for nobody', async () => {
  const service = await startWith();
  const { downloadUrl } = await reportOf(service, ALL);
  for (let download = 0; download < 12; download += 1) {
    expect((await service.request(`/reports/files/${'0'.repeat(40)}`)).status).toBe(404);
    expect((await fetch(downloadUrl, { method: 'HEAD' })).status).toBe(200);
    const response = await fetch(downloadUrl);
    expect(response.status).toBe(200);
    await response.text();
  }
});
