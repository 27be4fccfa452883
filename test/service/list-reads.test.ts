import { expect, it, vi } from 'vitest';
import { LIST_READS_MAX, LIST_READS_PER_PROJECT_MAX } from '../../src/adapters/http/limits.ts';
import type { Harness } from '../../src/bootstrap/harness.ts';
import { RawConnection } from '../adapters/http/raw-connection.ts';
import { startService } from '../support/running-service.ts';
import { KEY, seedWith } from '../support/seeds.ts';
import { until } from '../support/until.ts';

const NEIGHBOUR_KEY = 'sk_dev_fedcba9876543210fedcba9876543210fedcba98';
const OTHER_KEYS = [NEIGHBOUR_KEY, ...[1, 2].map((n) => `sk_dev_${String(n).repeat(40)}`)];
const PRICES = '/international-sms-pricing';
const RESOURCES = '/whatsapp/resources';
const REPORTS = '/reports';
const REPLY = /HTTP\/1\.1 200/;

/** A service of four projects, whose reads of lists begin, and are held until the test ends them. */
async function heldReads() {
  const seed = seedWith({ inboundWebhooks: [], whatsapp: { businesses: [] } });
  const others = seed.projects.flatMap((project) =>
    OTHER_KEYS.map((key, index) => ({ ...project, slug: `other-${index}`, apiKeys: [key] })),
  );
  const service = await startService({ seed: { ...seed, projects: [...seed.projects, ...others] } });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const holding =
    <Result>(path: string, result: Result) =>
    async () => {
      begun.push(path);
      await new Promise<void>((resolve) => ends.push(resolve));
      return result;
    };
  const { readCatalog, browseReports } = service.service.roots;
  vi.spyOn(readCatalog, 'internationalPrices').mockImplementation(holding(PRICES, { total: 0, rows: [] }));
  vi.spyOn(readCatalog, 'whatsappResources').mockImplementation(holding(RESOURCES, []));
  vi.spyOn(browseReports, 'list').mockImplementation(holding(REPORTS, []));
  /** Ends the read that began first. */
  const endFirst = () => ends.shift()?.();
  return { service, begun, endFirst };
}

/** Begins a read, and resolves when the service has seen it: a later request has its reply. */
async function read(service: Harness, path: string, key = KEY): Promise<RawConnection> {
  const connection = await RawConnection.open(Number(new URL(await service.url).port));
  connection.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  const { status } = await service.request('/sender-ids', { method: 'GET', apiKey: key });
  expect(status).toBe(200);
  return connection;
}

it('two reads of lists of a project work at a time, over the three routes, and keep no other project from its own', async () => {
  expect([LIST_READS_PER_PROJECT_MAX, LIST_READS_MAX]).toEqual([2, 6]);
  const { service, begun, endFirst } = await heldReads();
  const reads = [await read(service, PRICES), await read(service, RESOURCES), await read(service, REPORTS)];
  expect(begun).toEqual([PRICES, RESOURCES]);
  reads.push(await read(service, REPORTS, NEIGHBOUR_KEY));
  expect(begun).toEqual([PRICES, RESOURCES, REPORTS]);
  endFirst();
  await until(() => begun.length === 4);
  for (let ended = 0; ended < 3; ended += 1) endFirst();
  for (const connection of reads) await connection.until(REPLY);
  for (const connection of reads) connection.destroy();
});

it('six reads of lists work at a time in all, and the others wait round-robin over the projects', async () => {
  const { service, begun, endFirst } = await heldReads();
  const reads: RawConnection[] = [];
  for (const key of [KEY, ...OTHER_KEYS.slice(0, 2)]) {
    for (let n = 0; n < LIST_READS_PER_PROJECT_MAX; n += 1) reads.push(await read(service, RESOURCES, key));
  }
  for (const path of [RESOURCES, RESOURCES]) reads.push(await read(service, path));
  reads.push(await read(service, PRICES, OTHER_KEYS[2]));
  expect(begun).toEqual(Array.from({ length: LIST_READS_MAX }, () => RESOURCES));
  endFirst();
  endFirst();
  await until(() => begun.length === LIST_READS_MAX + 2);
  expect(begun.slice(LIST_READS_MAX)).toEqual([RESOURCES, PRICES]);
  for (let ended = 0; ended < LIST_READS_MAX; ended += 1) endFirst();
  await until(() => begun.length === LIST_READS_MAX + 3);
  endFirst();
  for (const connection of reads) await connection.until(REPLY);
  for (const connection of reads) connection.destroy();
});

it('a caller who leaves while a read of a list waits makes its place free, and nothing is read', async () => {
  const { service, begun, endFirst } = await heldReads();
  const reads = [await read(service, PRICES), await read(service, PRICES)];
  const leaving = await read(service, RESOURCES);
  const staying = await read(service, REPORTS);
  leaving.destroy();
  expect((await service.request('/sender-ids', { method: 'GET' })).status).toBe(200);
  endFirst();
  await until(() => begun.length === 3);
  expect(begun).toEqual([PRICES, PRICES, REPORTS]);
  endFirst();
  endFirst();
  for (const connection of [...reads, staying]) await connection.until(REPLY);
  for (const connection of [...reads, staying]) connection.destroy();
});
