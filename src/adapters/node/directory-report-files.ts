import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ReportFiles } from '../../application/ports/report-files.ts';
import { PRIVATE_FILE, PRIVATE_FOLDER } from './private-modes.ts';

/** Files that are being written end with this: a process that died leaves one. */
const PART = '.part';

/** Reports as files of one directory, which is made when it is missing. */
export class DirectoryReportFiles implements ReportFiles {
  readonly #directory: string;

  constructor({ directory }: { readonly directory: string }) {
    this.#directory = directory;
  }

  async write(fileId: string, content: AsyncIterable<string>): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: PRIVATE_FOLDER });
    const part = join(this.#directory, `${fileId}.${randomBytes(8).toString('hex')}${PART}`);
    try {
      const file = await open(part, 'wx', PRIVATE_FILE);
      try {
        for await (const text of content) await file.appendFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(part, this.#pathOf(fileId));
      await this.#syncDirectory();
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
    await this.#removeParts(fileId);
  }

  async read(fileId: string): Promise<Readable | null> {
    let file: FileHandle;
    try {
      file = await open(this.#pathOf(fileId), 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    return file.createReadStream();
  }

  async remove(fileId: string): Promise<void> {
    await rm(this.#pathOf(fileId), { force: true });
    await this.#removeParts(fileId);
  }

  /** Also the name of the file survives the crash of the machine. */
  async #syncDirectory(): Promise<void> {
    const directory = await open(this.#directory, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }

  #pathOf(fileId: string): string {
    return join(this.#directory, `${fileId}.csv`);
  }

  /** What processes that died have left of a file. One that still writes cannot finish then, which it no longer has to. */
  async #removeParts(fileId: string): Promise<void> {
    const names = await readdir(this.#directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const parts = names.filter((name) => name.startsWith(`${fileId}.`) && name.endsWith(PART));
    await Promise.all(parts.map((name) => rm(join(this.#directory, name), { force: true })));
  }
}
