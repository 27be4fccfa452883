import { Readable } from 'node:stream';
import type { ReportFiles } from '../../application/ports/report-files.ts';

/** Reports beside a database in memory: they end with the process. */
export class MemoryReportFiles implements ReportFiles {
  readonly #files = new Map<string, Buffer>();

  async write(fileId: string, content: AsyncIterable<string>): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of content) parts.push(Buffer.from(part));
    this.#files.set(fileId, Buffer.concat(parts));
  }

  async read(fileId: string): Promise<Readable | null> {
    const file = this.#files.get(fileId);
    return file === undefined ? null : Readable.from([file], { objectMode: false });
  }

  async remove(fileId: string): Promise<void> {
    this.#files.delete(fileId);
  }
}
