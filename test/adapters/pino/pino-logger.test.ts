import { beforeEach, describe, expect, it } from 'vitest';
import { OutageLines } from '../../../src/adapters/pino/outage-lines.ts';
import { PinoLogger } from '../../../src/adapters/pino/pino-logger.ts';
import { StorageUnavailable } from '../../../src/application/errors/storage-unavailable.ts';

describe('PinoLogger', () => {
  let lines: Record<string, unknown>[];
  let logger: PinoLogger;
  beforeEach(() => {
    lines = [];
    logger = new PinoLogger({
      level: 'info',
      destination: { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
    });
  });

  it('PinoLogger logs an outage of the database once for each event', () => {
    for (const event of ['request_failed', 'job_failed', 'request_failed'] as const) {
      logger.error(event, new StorageUnavailable(new Error('away')));
    }
    expect(lines.map(({ event }) => event)).toEqual(['request_failed', 'job_failed']);
  });

  it('PinoLogger logs every other error', () => {
    for (let times = 0; times < 3; times += 1) logger.error('request_failed', new Error('of this request'));
    expect(lines.map(({ event, suppressed }) => [event, suppressed])).toEqual(
      Array.from({ length: 3 }, () => ['request_failed', undefined]),
    );
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
