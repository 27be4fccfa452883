import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { expect, it } from 'vitest';
import { DownloadLimit } from '../../../../src/adapters/http/families/download-limit.ts';
import {
  REPORT_DOWNLOADS_MAX,
  REPORT_DOWNLOADS_PER_ADDRESS_MAX,
} from '../../../../src/adapters/http/limits.ts';

const source = () => new Readable({ read() {} });

async function close(stream: Readable): Promise<void> {
  const end = finished(stream).catch(() => undefined);
  stream.destroy();
  await end;
}

it('an address has ten downloads at a time, and the next one closes its file', async () => {
  const limit = new DownloadLimit();
  const first = source();
  limit.begin('a', first);
  for (let more = 1; more < REPORT_DOWNLOADS_PER_ADDRESS_MAX; more += 1) limit.begin('a', source());
  const surplus = source();
  expect(() => limit.begin('a', surplus)).toThrow('overloaded');
  expect(surplus.destroyed).toBe(true);
  limit.begin('b', source());
  await close(first);
  limit.begin('a', source());
  expect(REPORT_DOWNLOADS_PER_ADDRESS_MAX).toBe(10);
});

it('a process has a hundred downloads at a time', async () => {
  const limit = new DownloadLimit();
  const sources = Array.from({ length: REPORT_DOWNLOADS_MAX }, source);
  for (const [index, each] of sources.entries()) limit.begin(`address ${index}`, each);
  expect(() => limit.begin('another', source())).toThrow('overloaded');
  await Promise.all(sources.map(close));
  limit.begin('another', source());
  expect(REPORT_DOWNLOADS_MAX).toBe(100);
});
