import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { reportRoutes } from '../../../../../src/adapters/http/families/reports/reports.ts';
import {
  REPORT_DOWNLOADS_PER_ADDRESS_MAX,
  REPORT_DOWNLOADS_PER_PROJECT_MAX,
  REPORT_LINKS_MAX,
  REPORT_LINKS_PER_ADDRESS_MAX,
} from '../../../../../src/adapters/http/limits.ts';
import { ClientDisconnected } from '../../../../../src/adapters/http/replies/http-error.ts';
import { Rejected } from '../../../../../src/application/errors/rejected.ts';
import type { Report } from '../../../../../src/domain/reports/report.ts';
import { until } from '../../../../support/until.ts';
import { HttpWorld } from '../../http-world.ts';

let world: HttpWorld;
let opened: Readable[];

/** Lookups of made-up links, and what ends them. */
let lookups: string[];
let ends: (() => void)[];

/** How many downloads of the silent project were begun. */
let silentDownloads: number;

/** Reports whose files never end, or never come for the silent project; the id of a file is that of its project. */
const browseReports = {
  isFileId: (text: string) => text !== 'not-an-id',
  ofFile: async (fileId: string) => {
    if (fileId.startsWith('made-up')) {
      lookups.push(fileId);
      await new Promise<void>((resolve) => ends.push(resolve));
      throw new Rejected({ kind: 'report-not-found' });
    }
    return { projectId: fileId, fileName: 'report.csv' } as Report;
  },
  download: async ({ projectId }: Pick<Report, 'projectId'>, signal: AbortSignal) => {
    if (projectId === 'silent') {
      silentDownloads += 1;
      await once(signal, 'abort').then(() => Promise.reject(new Error('The request was aborted')));
    }
    const content = new Readable({ read: () => undefined });
    content.push('Message ID,');
    opened.push(content);
    return content;
  },
};

beforeEach(async () => {
  opened = [];
  lookups = [];
  ends = [];
  silentDownloads = 0;
  const family = reportRoutes({ browseReports } as never, null);
  world = await new HttpWorld({ families: [family] }).open();
});
afterEach(async () => {
  for (const content of opened) content.destroy();
  await world.close();
});

/** The reply to a download from an address of its own, as it begins. */
async function begin(project: string, address: number): Promise<IncomingMessage> {
  const request = httpRequest({
    port: world.port,
    host: '127.0.0.1',
    localAddress: `127.0.0.${address}`,
    path: `/reports/files/${project}`,
    agent: false,
  });
  request.on('error', () => undefined).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  return response;
}

it('the downloads of one project from many addresses keep nobody else from a report', async () => {
  const downloads: IncomingMessage[] = [];
  for (let address = 1; address <= REPORT_DOWNLOADS_PER_PROJECT_MAX; address += 1)
    downloads.push(await begin('one', address));
  expect(downloads.map(({ statusCode }) => statusCode)).toEqual(downloads.map(() => 200));

  const rejected = await begin('one', 100);
  expect([rejected.statusCode, rejected.headers['x-error-code']]).toEqual([503, 'overloaded']);
  rejected.resume();
  expect(opened).toHaveLength(REPORT_DOWNLOADS_PER_PROJECT_MAX);
  expect((await begin('other', 100)).statusCode).toBe(200);

  const closed = new Promise((resolve) => opened[0]?.once('close', resolve));
  downloads[0]?.destroy();
  await closed;
  expect((await begin('one', 100)).statusCode).toBe(200);
});

it('a download that the limit of its project rejects counts for no address', async () => {
  for (let address = 1; address <= REPORT_DOWNLOADS_PER_PROJECT_MAX; address += 1)
    await begin('one', address);
  for (let times = 0; times < REPORT_DOWNLOADS_PER_ADDRESS_MAX; times += 1) {
    const rejected = await begin('one', 100);
    expect(rejected.statusCode).toBe(503);
    rejected.resume();
  }
  expect((await begin('other', 100)).statusCode).toBe(200);
});

it('a caller who leaves before the file has come makes its place free, and is no error', async () => {
  for (let left = 1; left <= REPORT_DOWNLOADS_PER_ADDRESS_MAX; left += 1) {
    const { port } = world;
    const request = httpRequest({ port, host: '127.0.0.1', path: '/reports/files/silent', agent: false });
    request.on('error', () => undefined).end();
    await until(() => silentDownloads === left);
    request.destroy();
  }
  await until(async () => {
    const response = await begin('other', 1);
    if (response.statusCode === 503) response.resume();
    return response.statusCode === 200;
  });
  expect(world.logger.entriesBesideRequests).toEqual([]);
});

it('made-up links from many addresses keep nobody from a report: they wait by address, and hold no download', async () => {
  const callers: Promise<IncomingMessage>[] = [];
  for (let address = 1; address <= 11; address += 1)
    for (let link = 1; link <= 4; link += 1) callers.push(begin(`made-up-${address}-${link}`, 200 + address));
  await until(() => lookups.length === REPORT_LINKS_MAX);
  const honest = begin('one', 100);
  let replied = 0;
  const all = callers.map((each) =>
    each.then((response) => {
      replied += 1;
      response.resume();
      return response.statusCode;
    }),
  );
  let downloaded: number | undefined;
  void honest.then(({ statusCode }) => {
    downloaded = statusCode;
  });
  // Once around: each address was served once or twice before.
  for (let ended = 1; downloaded === undefined; ended += 1) {
    await until(() => ends.length > 0 || downloaded !== undefined);
    ends.shift()?.();
    await until(() => replied >= ended || downloaded !== undefined);
  }
  expect(downloaded).toBe(200);
  expect(replied).toBeLessThan(11 * REPORT_LINKS_PER_ADDRESS_MAX + REPORT_LINKS_MAX);
  while (replied < all.length) {
    const before = replied;
    await until(() => ends.length > 0);
    ends.shift()?.();
    await until(() => replied > before);
  }
  expect(await Promise.all(all)).toEqual(all.map(() => 404));
});

it('a link is looked up in a round of the event loop that has time for it', async () => {
  const { routes } = reportRoutes({ browseReports } as never, null);
  const download = routes.find(({ path }) => path === '/reports/files/:fileId');
  let beginRound = (): void => undefined;
  const permit = {
    projectId: null,
    network: '127.0.0.1',
    suspend() {},
    waitForRound: () =>
      new Promise<void>((resolve) => {
        beginRound = resolve;
      }),
  };
  const request = { socket: new Socket() };
  const reply = download?.serve(request as never, {} as never, { fileId: 'made-up-1' }, permit as never);
  await setImmediate();
  expect(lookups).toEqual([]);
  beginRound();
  await until(() => lookups.length === 1);
  ends[0]?.();
  await expect(reply).rejects.toThrow(Rejected);
});

it('a link that this installation did not make waits for nothing, and is not looked up', async () => {
  const { routes } = reportRoutes({ browseReports } as never, null);
  const download = routes.find(({ path }) => path === '/reports/files/:fileId');
  const permit = { projectId: null, network: 'a', suspend() {}, waitForRound: () => null };
  const ask = (fileId: string) =>
    download?.serve({ socket: new Socket() } as never, {} as never, { fileId }, permit as never);
  const searched = Promise.allSettled(Array.from({ length: REPORT_LINKS_MAX + 1 }, () => ask('made-up-1')));
  await until(() => lookups.length > 0);
  await expect(ask('not-an-id')).rejects.toMatchObject({ error: { status: 404, code: 'report-not-found' } });
  expect(lookups).not.toContain('not-an-id');
  for (let ended = 0; ended <= REPORT_LINKS_MAX; ended += 1) {
    await until(() => ends.length > 0);
    ends.shift()?.();
  }
  await searched;
});

it('links that wait are dropped at once when their callers leave, and are never looked up', async () => {
  const { routes } = reportRoutes({ browseReports } as never, null);
  const download = routes.find(({ path }) => path === '/reports/files/:fileId');
  const [present, gone] = [new Socket(), new Socket()];
  const ask = async (socket: Socket, network: string, fileId: string) => {
    const permit = { projectId: null, network, suspend() {}, waitForRound: () => null };
    return download?.serve({ socket } as never, {} as never, { fileId }, permit as never);
  };
  const running = Promise.allSettled(
    ['a', 'a', 'b', 'b'].map((network) => ask(present, network, 'made-up-1')),
  );
  await until(() => lookups.length === REPORT_LINKS_MAX);
  const left = Array.from({ length: 20 }, () => ask(gone, 'c', 'made-up-2'));
  const waiting = Promise.allSettled([ask(present, 'c', 'made-up-3')]);
  gone.destroy();
  for (const each of left) await expect(each).rejects.toThrow(ClientDisconnected);
  await expect(ask(gone, 'd', 'made-up-2')).rejects.toThrow(ClientDisconnected);
  for (const end of ends) end();
  await until(() => lookups.length === REPORT_LINKS_MAX + 1);
  ends.at(-1)?.();
  await Promise.all([running, waiting]);
  expect(lookups).not.toContain('made-up-2');
});
