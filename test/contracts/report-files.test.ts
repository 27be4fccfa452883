import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { MemoryReportFiles } from '../../src/adapters/memory/report-files.ts';
import { DirectoryReportFiles } from '../../src/adapters/node/directory-report-files.ts';
import { BucketReportFiles } from '../../src/adapters/s3/bucket-report-files.ts';
import type { ReportFiles } from '../../src/application/ports/report-files.ts';
import type { ReportsConfig } from '../../src/bootstrap/config/config.ts';
import { bucketAt, tracesIn } from '../support/bucket.ts';
import { peerConnections } from '../support/provider-tls.ts';
import { contentOf, REPORT_FILES_PROMISES, type ReportFilesUnderTest } from './report-files.contract.ts';

const TEST_TIMEOUT_MS = 60_000;
const bucketUrl = process.env.TEST_S3_URL ?? '';

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

describe('MemoryReportFiles', () => {
  contract({ durable: false }, async () => memoryWorld());
});

describe('DirectoryReportFiles', () => {
  contract({ durable: true }, directoryWorld);
});

describe.skipIf(bucketUrl === '')(
  bucketUrl === '' ? 'BucketReportFiles (skipped: TEST_S3_URL is not set)' : 'BucketReportFiles',
  () => {
    contract({ durable: true }, async () => bucketWorld());
  },
);

function contract(
  { durable }: { readonly durable: boolean },
  open: () => Promise<ReportFilesUnderTest>,
): void {
  const promises = REPORT_FILES_PROMISES.filter(({ isOfDurable }) => durable || isOfDurable !== true);
  it.each(promises.map(({ sentence, check }) => [sentence, check] as const))(
    'the report files keep a promise: %s',
    { timeout: TEST_TIMEOUT_MS },
    async (_, check) => check(await open()),
  );
}

function memoryWorld(): ReportFilesUnderTest {
  return { files: new MemoryReportFiles(), traces: async () => [], dieWriting: null };
}

async function directoryWorld(): Promise<ReportFilesUnderTest & { readonly directory: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'barid-reports-'));
  folders.push(folder);
  const directory = join(folder, 'reports');
  return {
    directory,
    files: new DirectoryReportFiles({ directory }),
    traces: () => namesIn(directory),
    dieWriting: (fileId) => dieWriting({ kind: 'directory', directory }, fileId),
  };
}

function bucketWorld(): ReportFilesUnderTest {
  const config = bucketAt(bucketUrl, `contract-${randomBytes(8).toString('hex')}/reports`);
  return {
    files: new BucketReportFiles(config, peerConnections),
    traces: () => tracesIn(config),
    dieWriting: (fileId) => dieWriting({ kind: 'bucket', ...config }, fileId),
  };
}

async function dieWriting(config: ReportsConfig, fileId: string): Promise<void> {
  const program = join(import.meta.dirname, 'report-files-process.ts');
  const child = fork(program, [JSON.stringify(config), fileId], { execArgv: ['--import', 'tsx'] });
  const [message] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as unknown[];
  expect(message).toBe('half written');
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  expect(await exit).toEqual([null, 'SIGKILL']);
}

type Fault = (sound: ReportFiles) => Partial<ReportFiles>;

/** Those of the promises that match, and that do not hold for files with a fault. */
async function brokenPromises(
  matching: RegExp,
  fault: Fault,
  open: () => Promise<ReportFilesUnderTest>,
): Promise<readonly string[]> {
  const broken: string[] = [];
  for (const { sentence, check } of REPORT_FILES_PROMISES.filter((each) => matching.test(each.sentence))) {
    const world = await open();
    const { files } = world;
    const faulty: ReportFiles = {
      write: (...given) => files.write(...given),
      read: (...given) => files.read(...given),
      remove: (...given) => files.remove(...given),
      ...fault(files),
    };
    await check({ ...world, files: faulty }).catch(() => broken.push(sentence));
  }
  return broken;
}

async function collect(content: AsyncIterable<string>): Promise<string> {
  let whole = '';
  for await (const part of content) whole += part;
  return whole;
}

/** What most faults do: they take the whole content first, and so hold it in memory. */
const writing =
  (write: (sound: ReportFiles, fileId: string, whole: string) => Promise<void>): Fault =>
  (sound) => ({ write: async (fileId, content) => write(sound, fileId, await collect(content)) });

const reading =
  (read: (sound: ReportFiles, fileId: string) => ReturnType<ReportFiles['read']>): Fault =>
  (sound) => ({ read: (fileId) => read(sound, fileId) });

describe('the contract of report files', () => {
  it.each<[fault: string, plant: Fault, broken: RegExp]>([
    [
      'half a file is visible',
      (sound) => ({
        async write(fileId, content) {
          let written = '';
          for await (const part of content) {
            written += part;
            if (written.length % (4 * 2 ** 20) === 0) await sound.write(fileId, contentOf(written));
          }
          await sound.write(fileId, contentOf(written));
        },
      }),
      /appears as a whole/,
    ],
    [
      'a rejected content leaves what it gave',
      (sound) => ({
        async write(fileId, content) {
          const given: string[] = [];
          try {
            for await (const part of content) given.push(part);
          } finally {
            await sound.write(fileId, contentOf(...given));
          }
        },
      }),
      /rejects after 1 MiB leaves nothing/,
    ],
    [
      'a rejected content ends the file without an error',
      (sound) => ({
        write: (fileId, content) =>
          sound.write(
            fileId,
            (async function* () {
              try {
                yield* content;
              } catch {
                return;
              }
            })(),
          ),
      }),
      /rejects after 0 MiB leaves nothing/,
    ],
    [
      'the error of a content is replaced',
      (sound) => ({
        write: (...given) => sound.write(...given).catch(() => Promise.reject(new Error('The write failed'))),
      }),
      /its error reaches the writer/,
    ],
    [
      'a rejected content removes the earlier file',
      (sound) => ({
        write: async (fileId, content) => {
          await sound.remove(fileId);
          await sound.write(fileId, content);
        },
      }),
      /leaves the earlier file/,
    ],
    [
      'an earlier file is kept',
      writing(async (sound, fileId, whole) => {
        if ((await sound.read(fileId)) === null) await sound.write(fileId, contentOf(whole));
      }),
      /is replaced as a whole/,
    ],
    [
      'a file is written behind the earlier one',
      writing(async (sound, fileId, whole) => {
        const earlier = await sound.read(fileId);
        const before = earlier === null ? '' : (await buffer(earlier)).toString();
        await sound.write(fileId, contentOf(before + whole));
      }),
      /is replaced as a whole/,
    ],
    [
      'letters beyond Latin are lost',
      writing((sound, fileId, whole) =>
        sound.write(fileId, contentOf(Buffer.from(whole, 'latin1').toString('latin1'))),
      ),
      /read as it was written/,
    ],
    [
      'an empty file is not stored',
      writing(async (sound, fileId, whole) => {
        if (whole !== '') await sound.write(fileId, contentOf(whole));
      }),
      /content of nothing/,
    ],
    [
      'a file can be read once',
      reading(async (sound, fileId) => {
        const content = await sound.read(fileId);
        if (content === null) return null;
        const whole = await buffer(content);
        await sound.remove(fileId);
        return Readable.from([whole]);
      }),
      /as often as it is asked for/,
    ],
    [
      'a file that is missing is read as empty',
      reading(async (sound, fileId) => (await sound.read(fileId)) ?? Readable.from([])),
      /not there is read as null/,
    ],
    [
      'the read of a missing file throws',
      reading(async (sound, fileId) => {
        const content = await sound.read(fileId);
        if (content === null) throw new Error('No such file');
        return content;
      }),
      /not there is read as null/,
    ],
    ['remove removes nothing', () => ({ remove: async () => undefined }), /remove takes everything/],
    [
      'remove rejects when there is no file',
      (sound) => ({
        async remove(fileId) {
          const content = await sound.read(fileId);
          if (content === null) throw new Error('No such file');
          await sound.remove(fileId);
        },
      }),
      /no file is fine/,
    ],
    [
      'a second writer writes into the file of the first',
      (sound) => {
        let shared = '';
        return {
          async write(fileId, content) {
            for await (const part of content) shared += part;
            await sound.write(fileId, contentOf(shared));
          },
        };
      },
      /of two writers/,
    ],
  ])('the contract finds a planted fault: %s', { timeout: TEST_TIMEOUT_MS }, async (_, plant, broken) => {
    expect(await brokenPromises(broken, plant, async () => memoryWorld())).not.toEqual([]);
  });

  it.each<[fault: string, plant: (directory: string) => Fault, broken: RegExp]>([
    [
      'remove leaves the parts of a process that died',
      (directory) => () => ({
        remove: (fileId) => unlink(join(directory, `${fileId}.csv`)).catch(() => undefined),
      }),
      /^remove takes away what a process that died/,
    ],
    [
      'a write leaves the parts of a process that died',
      (directory) => (sound) => ({
        async write(fileId, content) {
          const parts = await leftIn(directory);
          await sound.write(fileId, content);
          for (const part of parts) await writeFile(join(directory, part), '');
        },
      }),
      /the next write takes the rest away/,
    ],
    [
      'a rejected write leaves its part',
      (directory) => (sound) => ({
        write: (fileId, content) =>
          sound.write(fileId, content).catch(async (error) => {
            await writeFile(join(directory, `${fileId}.00.part`), 'half');
            throw error;
          }),
      }),
      /rejects after 1 MiB leaves nothing/,
    ],
    [
      'a write collects the content first',
      () => (sound) => ({
        async write(fileId, content) {
          const parts: string[] = [];
          for await (const part of content) parts.push(part);
          await sound.write(fileId, contentOf(...parts));
        },
      }),
      /a write of 50 MiB holds little/,
    ],
    [
      'a read collects the content first',
      () =>
        reading(async (sound, fileId) => {
          const content = await sound.read(fileId);
          return content === null ? null : Readable.from(slicesOf(await buffer(content)));
        }),
      /a read of 50 MiB holds little/,
    ],
  ])(
    'the contract finds a planted fault in a directory: %s',
    { timeout: TEST_TIMEOUT_MS },
    async (_, plant, broken) => {
      let directory = '';
      const sentences = await brokenPromises(
        broken,
        (sound) => plant(directory)(sound),
        async () => {
          const world = await directoryWorld();
          directory = world.directory;
          return world;
        },
      );
      expect(sentences).not.toEqual([]);
    },
  );
});

async function leftIn(directory: string): Promise<readonly string[]> {
  return (await namesIn(directory)).filter((name) => name.endsWith('.part'));
}

function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch(() => []);
}

function* slicesOf(whole: Buffer): Generator<Buffer> {
  for (let at = 0; at < whole.length; at += 2 ** 16) yield whole.subarray(at, at + 2 ** 16);
}
