import { beforeEach, expect, it } from 'vitest';
import { HeaderLines } from '../../../src/adapters/egress/header-lines.ts';

let lines: HeaderLines;
beforeEach(() => {
  lines = new HeaderLines();
});
const inRow = (text: string): number => {
  lines.read(Buffer.from(text));
  return lines.inRow;
};

it.each([
  ['a head without an end', 'HTTP/1.1 200 OK\r\na: 1\r\nb:\r\nc:c', 2],
  ['a head whose lines end with line feeds alone', 'HTTP/1.1 200 OK\na:\nb:\n', 2],
  ['a head with lines that go on in the next one', 'HTTP/1.1 200 OK\r\na:\r\n b\r\n\tc:\r\n \r\nd:\r\n', 2],
  ['a whole head', 'HTTP/1.1 200 OK\r\na: 1\r\nb: 2\r\n\r\n', 0],
  [
    'an interim response and the head behind it',
    'HTTP/1.1 103 E\r\na: 1\r\n\r\nHTTP/1.1 200 OK\r\nb: 1\r\n',
    1,
  ],
  ['trailers behind the last chunk', 'HTTP/1.1 200 OK\r\na: 1\r\n\r\n1\r\nx\r\n0\r\nb: 1\r\nc: 2\r\n', 2],
  ['a body of JSON in lines', 'HTTP/1.1 200 OK\r\na: 1\r\n\r\n{\n  "a": 1,\n  "b": 2\n}\n', 0],
  ['a body of lines that are like headers', 'HTTP/1.1 200 OK\r\n\r\na: 1\nb: 2\n', 2],
])('the header lines in a row at the end are counted in %s', (_, text, expected) => {
  expect(inRow(text)).toBe(expected);
});

it('header lines are counted alike when they come byte by byte', () => {
  for (const byte of 'HTTP/1.1 200 OK\r\na: 1\r\n b:\r\nc: 1\r\n') inRow(byte);
  expect(lines.inRow).toBe(2);
});

it('a new response begins with no header lines, also behind half a line', () => {
  inRow('a: 1\r\nb: 2\r\n c:');
  lines.reset();
  expect(inRow('d\r\ne:\r\n')).toBe(1);
});
