import fc from 'fast-check';
import { expect, it } from 'vitest';
import { GrowingBuffer } from '../../src/application/growing-buffer.ts';
import { heldMemory } from '../support/held-memory.ts';

const MEGABYTE = 1_048_576;

it('a growing buffer without chunks is empty', () => {
  expect(new GrowingBuffer(10).bytes()).toHaveLength(0);
});

it('a growing buffer has the bytes of all chunks in their order', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 3_000 })), (arrays) => {
      const chunks = arrays.map((array) => Buffer.from(array));
      const whole = Buffer.concat(chunks);
      const buffer = new GrowingBuffer(whole.length);
      for (const chunk of chunks) expect(buffer.add(chunk)).toBe(true);
      expect(buffer.bytes().equals(whole)).toBe(true);
    }),
  );
});

it('a growing buffer does not copy a single chunk', () => {
  const buffer = new GrowingBuffer(10);
  const chunk = Buffer.from('whole');
  buffer.add(Buffer.alloc(0));
  buffer.add(chunk);
  expect(buffer.bytes().buffer).toBe(chunk.buffer);
  expect(buffer.bytes().toString()).toBe('whole');
});

it('a growing buffer never writes into a chunk', () => {
  const first = Buffer.from('aXXX').subarray(0, 1);
  const buffer = new GrowingBuffer(10);
  buffer.add(first);
  buffer.add(Buffer.from('bc'));
  expect(buffer.bytes().toString()).toBe('abc');
  expect(Buffer.from(first.buffer, first.byteOffset, 4).toString()).toBe('aXXX');
});

it('a growing buffer takes as many bytes as its limit, and holds nothing beyond it', () => {
  const buffer = new GrowingBuffer(4);
  expect(buffer.add(Buffer.from('abc'))).toBe(true);
  expect(buffer.add(Buffer.from('d'))).toBe(true);
  expect(buffer.bytes().toString()).toBe('abcd');
  expect(buffer.add(Buffer.from('e'))).toBe(false);
  expect(buffer.bytes()).toHaveLength(0);
  expect(new GrowingBuffer(4).add(Buffer.from('abcde'))).toBe(false);
});

it('a growing buffer holds little more than its bytes, of whatever large buffers they are views', async () => {
  const before = await heldMemory();
  const buffer = new GrowingBuffer(MEGABYTE);
  for (let count = 0; count < 500; count += 1) buffer.add(Buffer.alloc(65_536, 'x').subarray(7, 8));
  expect((await heldMemory()) - before).toBeLessThan(2 * MEGABYTE);
  expect(buffer.bytes().toString()).toBe('x'.repeat(500));
});

it('a growing buffer of very many chunks has at most twice the bytes in memory', async () => {
  const before = await heldMemory();
  const buffer = new GrowingBuffer(3 * MEGABYTE);
  for (let count = 0; count < MEGABYTE; count += 1) buffer.add(Buffer.from('x'));
  expect((await heldMemory()) - before).toBeLessThan(4 * MEGABYTE);
  expect(buffer.bytes()).toHaveLength(MEGABYTE);
});
