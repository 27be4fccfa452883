import { Writable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { LOG_WAITING_BYTES_MAX, LogOutput } from '../../../src/adapters/pino/log-output.ts';

/** A stream whose reader takes a write when the test says so. */
class SlowStream extends Writable {
  text = '';
  isRead = true;
  failure: Error | null = null;
  #resume: (() => void) | null = null;

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const take = () => {
      if (this.failure === null) this.text += chunk.toString();
      done(this.failure);
    };
    if (this.isRead) take();
    else this.#resume = take;
  }

  /** As standard output does, which an error does not end. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    done(error);
    (this as unknown as { _undestroy(): void })._undestroy();
  }

  read(): void {
    this.isRead = true;
    this.#resume?.();
  }
}

const LINE = `${'x'.repeat(1_023)}\n`;
const LINES_MAX = LOG_WAITING_BYTES_MAX / LINE.length;
const turn = () => new Promise((resolve) => setImmediate(resolve));

let stream: SlowStream;
let output: LogOutput;
beforeEach(() => {
  stream = new SlowStream();
  output = new LogOutput(stream);
});

const linesRead = () => stream.text.split('\n').filter((line) => line !== '');
const toldIn = (line = '') => {
  const { level, lines, event } = JSON.parse(line) as Record<string, unknown>;
  return { level, lines, event };
};
const dropped = (lines: number) => ({ level: 'warn', lines, event: 'log_lines_dropped' });

describe('LogOutput', () => {
  it('LogOutput writes each line at once while the stream is read', () => {
    output.write('first\n');
    expect(stream.text).toBe('first\n');
    output.write('second\n');
    expect(stream.text).toBe('first\nsecond\n');
  });

  it('LogOutput keeps lines up to its limit while nobody reads, and tells how many lines more it dropped', async () => {
    expect(LOG_WAITING_BYTES_MAX).toBe(1024 * 1024);
    stream.isRead = false;
    for (let line = 0; line < LINES_MAX + 7; line += 1) output.write(LINE);
    output.write('short\n');
    expect(stream.writableLength).toBe(LOG_WAITING_BYTES_MAX);
    stream.read();
    await turn();
    expect(linesRead()).toHaveLength(LINES_MAX + 1);
    expect(toldIn(linesRead().at(-1))).toEqual(dropped(8));
    output.write('after\n');
    expect(linesRead().slice(LINES_MAX + 1)).toEqual(['after']);
  });

  it('LogOutput says nothing of dropped lines when there are none', async () => {
    stream.isRead = false;
    for (let line = 0; line < LINES_MAX; line += 1) output.write(LINE);
    stream.read();
    await turn();
    expect(linesRead()).toHaveLength(LINES_MAX);
  });

  it('LogOutput counts the lines whose write failed, and tells with the next line that is written', async () => {
    stream.failure = new Error('ENOSPC');
    for (let line = 0; line < 3; line += 1) {
      output.write('lost\n');
      await turn();
    }
    stream.failure = null;
    output.write('after\n');
    await turn();
    const [told, after, ...more] = linesRead();
    expect(toldIn(told)).toEqual(dropped(3));
    expect([after, more]).toEqual(['after', []]);
  });
});
