import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';

const FILLER = Buffer.alloc(4_096, '\n');

/** A named pipe without a reader: as the standard output of a process, a log that nobody reads. */
export class Fifo {
  readonly #path: string;
  /** Keeps the pipe open, so that writers do not wait for a reader. */
  readonly #end: number;
  #reader: ChildProcessByStdio<null, Readable, null> | null = null;

  constructor(path: string) {
    execFileSync('mkfifo', [path]);
    this.#path = path;
    this.#end = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  }

  /** For one process that writes; the caller closes it. */
  openForWriting(): number {
    return openSync(this.#path, constants.O_WRONLY);
  }

  /** Line feeds, until the pipe takes no more. */
  fill(): void {
    for (let bytes = FILLER.length; bytes > 0; ) {
      try {
        writeSync(this.#end, FILLER, 0, bytes);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        bytes >>= 1;
      }
    }
  }

  /** From now on somebody reads; returns the lines so far, at each call. */
  read(): () => readonly string[] {
    let text = '';
    this.#reader = spawn('cat', [this.#path], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#reader.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    return () => text.split('\n').filter((line) => line !== '');
  }

  close(): void {
    this.#reader?.kill();
    closeSync(this.#end);
  }
}
