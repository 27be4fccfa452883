import { expect, it, vi } from 'vitest';
import { PROJECT_REQUESTS_MAX, PROJECT_REQUESTS_PER_PROJECT_MAX } from '../../src/adapters/http/limits.ts';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { routeFamilies } from '../../src/bootstrap/routes/customer-routes.ts';
import { iqd } from '../../src/domain/shared/money.ts';
import { RawConnection } from '../adapters/http/raw-connection.ts';
import { aMessage, anSmsId } from '../support/builders.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { startService } from '../support/running-service.ts';
import { seedWith } from '../support/seeds.ts';
import { until } from '../support/until.ts';

const NEIGHBOUR_KEY = 'sk_dev_fedcba9876543210fedcba9876543210fedcba98';
const OTHER_KEYS = [NEIGHBOUR_KEY, ...[1, 2].map((n) => `sk_dev_${String(n).repeat(40)}`)];
const PRICES = '/international-sms-pricing';
const RESOURCES = '/whatsapp/resources';
const REPORTS = '/reports';
const TRACK = `/sms/track/${anSmsId(1)}`;
const INFO = '/info';
const SENDER_IDS = '/sender-ids';
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
  const { readCatalog, browseReports, trackMessage } = service.service.roots;
  vi.spyOn(readCatalog, 'internationalPrices').mockImplementation(holding(PRICES, { total: 0, rows: [] }));
  vi.spyOn(readCatalog, 'whatsappResources').mockImplementation(holding(RESOURCES, []));
  vi.spyOn(browseReports, 'list').mockImplementation(holding(REPORTS, []));
  vi.spyOn(readCatalog, 'info').mockImplementation(holding(INFO, { projectName: 'A', credit: iqd(0) }));
  vi.spyOn(readCatalog, 'senderIds').mockImplementation(holding(SENDER_IDS, []));
  vi.spyOn(trackMessage, 'execute').mockImplementation(holding(TRACK, aMessage()));
  /** Ends the read that began first. */
  const endFirst = () => ends.shift()?.();
  return { service, begun, endFirst };
}

/** A request that goes through no gate: the service has seen what came before it. */
async function passGate(service: Harness, apiKey: string): Promise<void> {
  const { status } = await service.request('/sms', { method: 'POST', apiKey, body: {} });
  expect(status).toBe(400);
}

/** Begins a read, and resolves when the service has seen it: a later request has its reply. */
async function read(service: Harness, path: string, key = DEMO_API_KEY): Promise<RawConnection> {
  const connection = await RawConnection.open(Number(new URL(await service.url).port));
  connection.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  await passGate(service, key);
  return connection;
}

it('the routes that the project gate does not guard are these', async () => {
  const { service } = await startService();
  const families = routeFamilies(service.roots, {
    role: 'all',
    build: { version: '1', commit: null },
    logger: new RecordingLogger(),
  });
  const unguarded = families.flatMap(({ routes }) =>
    routes.flatMap(({ admission, workGate, method, path }) => {
      const gate = admission.scheme?.name === 'projectKey' ? workGate : 'no project';
      return gate === 'project' ? [] : [`${method.toUpperCase()} ${path}: ${gate}`];
    }),
  );
  expect(unguarded).toEqual([
    // One transaction for all that come together.
    'POST /sms: none',
    // The gate of requests about campaigns.
    'POST /whatsapp/campaigns: own',
    'GET /whatsapp/campaigns/:_id: own',
    'PATCH /whatsapp/campaigns/:_id: own',
    'DELETE /whatsapp/campaigns/:_id: own',
    'POST /whatsapp/campaigns/:_id/preflight: own',
    'POST /whatsapp/campaigns/:_id/start: own',
    'POST /whatsapp/campaigns/:_id/sample: own',
    'POST /whatsapp/campaigns/:_id/recipients: own',
    // The gate of `RequestReports`, so that nobody waits at it for a file.
    'POST /reports/generate: none',
    // The gate of links, by address.
    'GET /reports/files/:fileId: no project',
    // Batches of the use cases.
    'POST /callbacks/:provider: no project',
    'GET /callbacks/:provider: no project',
    // Nothing, one check at a time for all, nothing.
    'GET /healthz: no project',
    'GET /readyz: no project',
    'GET /version: no project',
  ]);
});

it('two requests of a project work at a time, over all its routes, and keep no other project from its own', async () => {
  expect([PROJECT_REQUESTS_PER_PROJECT_MAX, PROJECT_REQUESTS_MAX]).toEqual([2, 6]);
  const { service, begun, endFirst } = await heldReads();
  const reads: RawConnection[] = [];
  for (const path of [PRICES, TRACK, INFO, RESOURCES, SENDER_IDS, REPORTS])
    reads.push(await read(service, path));
  expect(begun).toEqual([PRICES, TRACK]);
  reads.push(await read(service, TRACK, NEIGHBOUR_KEY));
  expect(begun).toEqual([PRICES, TRACK, TRACK]);
  for (const count of [4, 5, 5, 6, 7]) {
    endFirst();
    await until(() => begun.length === count);
  }
  endFirst();
  endFirst();
  expect(begun).toEqual([PRICES, TRACK, TRACK, INFO, RESOURCES, SENDER_IDS, REPORTS]);
  for (const connection of reads) await connection.until(REPLY);
  for (const connection of reads) connection.destroy();
});

it('six requests of projects work at a time in all, and the others wait round-robin over the projects', async () => {
  const { service, begun, endFirst } = await heldReads();
  const reads: RawConnection[] = [];
  for (const key of [DEMO_API_KEY, ...OTHER_KEYS.slice(0, 2)]) {
    for (let n = 0; n < PROJECT_REQUESTS_PER_PROJECT_MAX; n += 1)
      reads.push(await read(service, RESOURCES, key));
  }
  for (const path of [RESOURCES, RESOURCES]) reads.push(await read(service, path));
  reads.push(await read(service, PRICES, OTHER_KEYS[2]));
  expect(begun).toEqual(Array.from({ length: PROJECT_REQUESTS_MAX }, () => RESOURCES));
  endFirst();
  endFirst();
  await until(() => begun.length === PROJECT_REQUESTS_MAX + 2);
  expect(begun.slice(PROJECT_REQUESTS_MAX)).toEqual([RESOURCES, PRICES]);
  for (let ended = 0; ended < PROJECT_REQUESTS_MAX; ended += 1) endFirst();
  await until(() => begun.length === PROJECT_REQUESTS_MAX + 3);
  endFirst();
  for (const connection of reads) await connection.until(REPLY);
  for (const connection of reads) connection.destroy();
});

it('a caller who leaves while a request waits at the project gate makes its place free, and nothing is read', async () => {
  const { service, begun, endFirst } = await heldReads();
  const reads = [await read(service, PRICES), await read(service, PRICES)];
  const leaving = await read(service, RESOURCES);
  const staying = await read(service, REPORTS);
  leaving.destroy();
  await passGate(service, DEMO_API_KEY);
  endFirst();
  await until(() => begun.length === 3);
  expect(begun).toEqual([PRICES, PRICES, REPORTS]);
  endFirst();
  endFirst();
  for (const connection of [...reads, staying]) await connection.until(REPLY);
  for (const connection of [...reads, staying]) connection.destroy();
});
