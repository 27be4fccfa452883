import { expect, it } from 'vitest';
import { DownloadLimit } from '../../../../src/adapters/http/families/download-limit.ts';
import {
  REPORT_DOWNLOADS_MAX,
  REPORT_DOWNLOADS_PER_ADDRESS_MAX,
} from '../../../../src/adapters/http/limits.ts';

it('an address has ten downloads at a time, and others have theirs', () => {
  const limit = new DownloadLimit();
  const end = limit.begin('a');
  for (let more = 1; more < REPORT_DOWNLOADS_PER_ADDRESS_MAX; more += 1) limit.begin('a');
  expect(() => limit.begin('a')).toThrow('overloaded');
  limit.begin('b');
  end();
  limit.begin('a');
  expect(() => limit.begin('a')).toThrow('overloaded');
  expect(REPORT_DOWNLOADS_PER_ADDRESS_MAX).toBe(10);
});

it('a process has a hundred downloads at a time', () => {
  const limit = new DownloadLimit();
  const ends = Array.from({ length: REPORT_DOWNLOADS_MAX }, (_, index) => limit.begin(`address ${index}`));
  expect(() => limit.begin('another')).toThrow('overloaded');
  ends[0]?.();
  limit.begin('another');
  expect(REPORT_DOWNLOADS_MAX).toBe(100);
});
