import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';
import type { ReportFiles } from '../../src/application/ports/report-files.ts';
import { Gate } from '../support/job-collector.ts';

/** Report files with their other side, as the contract needs it. */
export interface ReportFilesUnderTest {
  readonly files: ReportFiles;
  /** What is stored of all files, unfinished writes among it; a name each. */
  readonly traces: () => Promise<readonly string[]>;
  /** Kills a process in the middle of writing the file; null where the files end with the process. */
  readonly dieWriting: ((fileId: string) => Promise<void>) | null;
}

/** A promise of `ReportFiles`: `check` rejects when it is broken. It begins with no file. */
export interface ReportFilesPromise {
  readonly sentence: string;
  /** Whether the promise is one of files that outlive the process. */
  readonly isOfDurable?: boolean;
  readonly check: (world: ReportFilesUnderTest) => Promise<void>;
}

const ID = 'a1'.repeat(20);
const OTHER_ID = 'b2'.repeat(20);

/** No letter has as many bytes as characters, and the last one is a pair of surrogates. */
const LINE = 'رقم الرسالة,سعر,"٣٠٠ د.ع",👩‍👩‍👧\r\n';
const MIB = 2 ** 20;
const PIECE_BYTES = 2 ** 16;
const BIG_MIB = 50;
/** How much is written or read between two measurements: each collects the garbage of the whole process. */
const MEASURED_MIB = 5;
/** What may be held of a file of 50 MiB: two parts of an upload and the text that they are made of. */
const HELD_MIB_MAX = 25;
/** More than two parts of an upload: what is written before is on its way by then. */
const HALF_MIB = 12;

/** What every place for report files promises. */
export const REPORT_FILES_PROMISES: readonly ReportFilesPromise[] = [
  {
    sentence: 'a file is read as it was written, as often as it is asked for',
    check: async ({ files }) => {
      await files.write(ID, contentOf(LINE, '', LINE.repeat(1_000)));
      expect(await contentIn(files)).toBe(LINE.repeat(1_001));
      expect(await Promise.all([contentIn(files), contentIn(files)])).toEqual([
        LINE.repeat(1_001),
        LINE.repeat(1_001),
      ]);
    },
  },
  {
    sentence: 'a content of nothing is an empty file',
    check: async ({ files }) => {
      await files.write(ID, contentOf());
      expect(await contentIn(files)).toBe('');
    },
  },
  {
    sentence: 'a file that is not there is read as null',
    check: async ({ files }) => {
      expect(await files.read(ID)).toBeNull();
      await files.write(OTHER_ID, contentOf('other'));
      expect(await files.read(ID)).toBeNull();
    },
  },
  {
    sentence: 'a new file appears as a whole when its write resolves',
    check: async ({ files }) => {
      await whileHalfWritten(files, async () => expect(await files.read(ID)).toBeNull());
      expect(await contentIn(files)).toBe(WHOLE);
    },
  },
  {
    sentence: 'a file is replaced as a whole when the write resolves',
    check: async ({ files, traces }) => {
      await files.write(ID, contentOf('the earlier file, longer than the next'));
      const before = await traces();
      await whileHalfWritten(files, async () =>
        expect(await contentIn(files)).toBe('the earlier file, longer than the next'),
      );
      expect(await contentIn(files)).toBe(WHOLE);
      await files.write(ID, contentOf('short'));
      expect(await contentIn(files)).toBe('short');
      expect(await traces()).toEqual(before);
    },
  },
  ...[0, 1, HALF_MIB].map((mib) => ({
    sentence: `a content that rejects after ${mib} MiB leaves nothing, and its error reaches the writer`,
    check: async ({ files, traces }: ReportFilesUnderTest) => {
      const reason = new Error('The lease is lost');
      await expect(files.write(ID, rejectingContent(mib, reason))).rejects.toBe(reason);
      expect(await files.read(ID)).toBeNull();
      expect(await traces()).toEqual([]);
    },
  })),
  {
    sentence: 'a content that rejects leaves the earlier file as it was',
    check: async ({ files }) => {
      await files.write(ID, contentOf('earlier'));
      const reason = new Error('The lease is lost');
      await expect(files.write(ID, rejectingContent(1, reason))).rejects.toBe(reason);
      expect(await contentIn(files)).toBe('earlier');
    },
  },
  {
    sentence: 'remove takes everything of one file and nothing of another, and no file is fine',
    check: async ({ files, traces }) => {
      await files.remove(ID);
      await files.write(OTHER_ID, contentOf('other'));
      const before = await traces();
      await files.write(ID, contentOf('this'));
      await files.remove(ID);
      await files.remove(ID);
      expect(await files.read(ID)).toBeNull();
      expect(await contentIn(files, OTHER_ID)).toBe('other');
      expect(await traces()).toEqual(before);
    },
  },
  {
    sentence:
      'of two writers of one file each writes a whole file or rejects, and the last to resolve is read',
    check: async ({ files, traces }) => {
      const resolved: string[] = [];
      const [halfWritten, mayGoOn] = [new Gate(), new Gate()];
      const writer = (letter: string, content: AsyncIterable<string>) =>
        files.write(ID, content).then(
          () => resolved.push(letter.repeat(HALF_MIB * MIB)),
          () => undefined,
        );
      const slow = writer(
        'a',
        (async function* () {
          for (let mib = 1; mib < HALF_MIB; mib += 1) yield 'a'.repeat(MIB);
          halfWritten.open();
          await mayGoOn.opened;
          yield 'a'.repeat(MIB);
        })(),
      );
      await halfWritten.opened;
      await writer('b', contentOf(...Array.from({ length: HALF_MIB }, () => 'b'.repeat(MIB))));
      mayGoOn.open();
      await slow;
      expect(resolved.length).toBeGreaterThan(0);
      expect((await contentIn(files)) === resolved.at(-1)).toBe(true);
      await files.remove(ID);
      expect(await traces()).toEqual([]);
    },
  },
  {
    sentence: 'a process that dies in the middle leaves no file, and the next write takes the rest away',
    isOfDurable: true,
    check: async ({ files, traces, dieWriting }) => {
      await files.write(ID, contentOf('whole'));
      const clean = await traces();
      await files.remove(ID);
      await dieWriting?.(ID);
      expect(await files.read(ID)).toBeNull();
      expect((await traces()).length).toBeGreaterThan(0);
      await files.write(ID, contentOf('whole'));
      expect(await contentIn(files)).toBe('whole');
      expect(await traces()).toEqual(clean);
    },
  },
  {
    sentence: 'remove takes away what a process that died in the middle has left',
    isOfDurable: true,
    check: async ({ files, traces, dieWriting }) => {
      await dieWriting?.(ID);
      expect((await traces()).length).toBeGreaterThan(0);
      await files.remove(ID);
      expect(await traces()).toEqual([]);
    },
  },
  {
    sentence: 'a write of 50 MiB holds little of it in memory',
    isOfDurable: true,
    check: async ({ files }) => {
      await files.write(OTHER_ID, streamOf(HALF_MIB));
      const held = await heldMib(async (measure) => {
        await files.write(
          ID,
          (async function* () {
            for (let mib = 0; mib < BIG_MIB; mib += MEASURED_MIB) {
              yield* megabytes(MEASURED_MIB);
              measure();
            }
          })(),
        );
      });
      expect(held).toBeLessThan(HELD_MIB_MAX);
    },
  },
  {
    sentence: 'a read of 50 MiB holds little of it in memory',
    isOfDurable: true,
    check: async ({ files }) => {
      await files.write(ID, streamOf(BIG_MIB));
      let bytes = 0;
      const held = await heldMib(async (measure) => {
        for await (const chunk of (await files.read(ID)) ?? []) {
          const before = Math.floor(bytes / MIB / MEASURED_MIB);
          bytes += (chunk as Buffer).length;
          if (Math.floor(bytes / MIB / MEASURED_MIB) > before) measure();
        }
      });
      expect(bytes).toBe(BIG_MIB * MIB);
      expect(held).toBeLessThan(HELD_MIB_MAX);
    },
  },
];

const WHOLE = 'x'.repeat((HALF_MIB + 1) * MIB);

export async function* contentOf(...parts: readonly string[]): AsyncGenerator<string> {
  yield* parts;
}

async function* rejectingContent(mib: number, reason: Error): AsyncGenerator<string> {
  yield* megabytes(mib);
  throw reason;
}

/** In pieces that lie in the heap: a repeated string shares its halves, and a long one lies outside, uncounted. */
function* megabytes(count: number): Generator<string> {
  for (let piece = 0; piece < (count * MIB) / PIECE_BYTES; piece += 1) {
    yield Buffer.alloc(PIECE_BYTES, 'x').toString('latin1');
  }
}

async function* streamOf(mib: number): AsyncGenerator<string> {
  yield* megabytes(mib);
}

async function contentIn(files: ReportFiles, fileId = ID): Promise<string | null> {
  const content = await files.read(fileId);
  return content === null ? null : text(content);
}

/** Writes a file and calls `check` when most of it was taken. */
async function whileHalfWritten(files: ReportFiles, check: () => Promise<void>): Promise<void> {
  await files.write(
    ID,
    (async function* () {
      yield* megabytes(HALF_MIB);
      await check();
      yield* megabytes(1);
    })(),
  );
}

/**
 * How many MiB the use of memory has risen at most between two calls of `measure`, garbage not counted: what earlier work still
 * holds at the beginning may fall away meanwhile.
 */
async function heldMib(work: (measure: () => void) => Promise<void>): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  let least = Number.POSITIVE_INFINITY;
  let held = 0;
  const measure = (): void => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    least = Math.min(least, heapUsed + external);
    held = Math.max(held, heapUsed + external - least);
  };
  await new Promise((resolve) => setImmediate(resolve));
  measure();
  await work(measure);
  return held / MIB;
}
