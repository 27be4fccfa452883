import { beforeEach, describe, expect, it } from 'vitest';
import { OutageLines } from '../../../src/adapters/pino/outage-lines.ts';
import { PinoLogger } from '../../../src/adapters/pino/pino-logger.ts';
import { StorageLocked } from '../../../src/application/errors/storage-locked.ts';
import { StorageUnavailable } from '../../../src/application/errors/storage-unavailable.ts';
import { LINES_PER_SECOND_MAX } from '../../../src/application/line-budget.ts';

describe('PinoLogger', () => {
  let lines: Record<string, unknown>[];
  let logger: PinoLogger;
  let now: number;
  beforeEach(() => {
    lines = [];
    now = 0;
    logger = new PinoLogger({
      level: 'info',
      nowMs: () => now,
      destination: { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
    });
  });

  const fail = (error: unknown) => logger.error('request_failed', error);

  it('PinoLogger logs an outage of the database once for each event', () => {
    for (const event of ['request_failed', 'job_failed', 'request_failed'] as const) {
      logger.error(event, new StorageUnavailable(new Error('away')));
    }
    expect(lines.map(({ event }) => event)).toEqual(['request_failed', 'job_failed']);
  });

  it('PinoLogger logs every other error, as long as they are few', () => {
    for (let times = 0; times < LINES_PER_SECOND_MAX; times += 1) fail(new Error('of this request'));
    expect(lines.map(({ event, suppressed }) => [event, suppressed])).toEqual(
      Array.from({ length: LINES_PER_SECOND_MAX }, () => ['request_failed', undefined]),
    );
  });

  it('PinoLogger counts the errors of one second that are too many in the next line', () => {
    for (let times = 0; times < 900; times += 1) fail(new StorageLocked(new Error('locked')));
    expect(lines).toHaveLength(LINES_PER_SECOND_MAX);
    now += 1_000;
    fail(new StorageLocked(new Error('locked')));
    expect(lines.at(-1)).toMatchObject({ event: 'request_failed', suppressed: 900 - LINES_PER_SECOND_MAX });
    expect(String(lines.at(-1)?.error)).toMatch(/^StorageLocked: locked\n {4}at /);
  });

  it('PinoLogger lets many errors of one kind hide neither another kind nor those of another event', () => {
    for (let times = 0; times < 900; times += 1) fail(new StorageLocked(new Error('locked')));
    lines.length = 0;
    fail(new TypeError('a fault of ours'));
    fail('no error at all');
    fail(new StorageUnavailable(new Error('away')));
    logger.error('job_failed', new StorageLocked(new Error('locked')));
    expect(lines.map(({ event, suppressed }) => [event, suppressed])).toEqual([
      ['request_failed', undefined],
      ['request_failed', undefined],
      ['request_failed', undefined],
      ['job_failed', undefined],
    ]);
  });
});

describe('OutageLines', () => {
  let now: number;
  let outageLines: OutageLines;
  beforeEach(() => {
    now = 0;
    outageLines = new OutageLines(() => now);
  });
  const nextAt = (at: number) => {
    now = at;
    return outageLines.next('request_failed');
  };

  it('OutageLines lets one line a minute pass, with how many failures were not logged', () => {
    expect(nextAt(0)).toBe(0);
    for (let at = 4_000; at < 60_000; at += 4_000) expect(nextAt(at)).toBeNull();
    expect(nextAt(60_000)).toBe(14);
    expect(nextAt(61_000)).toBeNull();
  });

  it('OutageLines takes five seconds without a failure for the end of an outage', () => {
    expect(nextAt(0)).toBe(0);
    expect(nextAt(4_999)).toBeNull();
    expect(nextAt(9_998)).toBeNull();
    expect(nextAt(14_998)).toBe(2);
    expect(nextAt(14_999)).toBeNull();
  });
});
