import { expect, it } from 'vitest';
import { docsFile } from '../../../../src/adapters/http/openapi/docs-page.ts';

/** A file that the page does not use: no other test has read it. */
const NAME = 'index.css';

it('a file of /docs that could not be read is read again for the next reply, and then no more', async () => {
  const results = [
    Promise.reject(new Error('EMFILE: too many open files')),
    Promise.resolve(Buffer.from('a')),
  ];
  let reads = 0;
  const read = (): Promise<Buffer> => {
    const result = results[reads] ?? Promise.resolve(Buffer.from('b'));
    reads += 1;
    return result;
  };
  await expect(docsFile(NAME, read)).rejects.toThrow('EMFILE');
  expect((await docsFile(NAME, read)).toString()).toBe('a');
  expect((await docsFile(NAME, read)).toString()).toBe('a');
  expect(reads).toBe(2);
});
