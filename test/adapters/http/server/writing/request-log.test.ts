import { describe, expect, it } from 'vitest';
import { RequestLog } from '../../../../../src/adapters/http/server/writing/request-log.ts';
import { LINES_PER_SECOND_MAX } from '../../../../../src/application/line-budget.ts';
import type { ServedRequest } from '../../../../../src/application/ports/request-observer.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';

const served = (given: Partial<ServedRequest> = {}): ServedRequest => ({
  method: 'POST',
  route: '/sms',
  status: 200,
  code: null,
  durationMs: 3.6,
  requestId: 'r-1',
  projectId: '664abc000000000000000001',
  isFault: false,
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  ...given,
});

function aLog({ writesDebug = true } = {}) {
  const logger = new RecordingLogger();
  logger.writesDebug = writesDebug;
  let now = 0;
  const log = new RequestLog(logger, () => now);
  return { log, logger, advance: (ms: number) => (now += ms) };
}

describe('the log of requests', () => {
  it('a line has the method, the declared path, the status, the time, the request and the project, and nothing else', () => {
    const { log, logger } = aLog();
    log.served(served());
    expect(logger.entries).toEqual([
      {
        level: 'debug',
        event: 'request_served',
        fields: {
          method: 'POST',
          route: '/sms',
          status: 200,
          durationMs: 4,
          requestId: 'r-1',
          projectId: '664abc000000000000000001',
        },
      },
    ]);
  });

  it('a rejected request is information with its code, and one that could not be served is a warning', () => {
    const { log, logger } = aLog();
    log.served(served({ status: 401, code: 'unauthorized', projectId: null }));
    log.served(served({ status: 503, code: 'overloaded' }));
    expect(logger.entries.map(({ level, fields }) => [level, fields.status, fields.code])).toEqual([
      ['info', 401, 'unauthorized'],
      ['warn', 503, 'overloaded'],
    ]);
    expect(logger.entries[0]?.fields).not.toHaveProperty('projectId');
  });

  it('a request that was served has no line unless debug lines are written', () => {
    const { log, logger } = aLog({ writesDebug: false });
    log.served(served());
    expect(logger.entries).toEqual([]);
  });

  it('a fault has no second line', () => {
    const { log, logger } = aLog();
    log.served(served({ status: 500, isFault: true }));
    expect(logger.entries).toEqual([]);
  });

  it('many rejected requests fill no log: the lines beyond the limit of a second are counted in the next one', () => {
    const { log, logger, advance } = aLog();
    for (let sent = 0; sent < LINES_PER_SECOND_MAX + 5; sent += 1) log.served(served({ status: 429 }));
    expect(logger.entries).toHaveLength(LINES_PER_SECOND_MAX);
    advance(1_000);
    log.served(served({ status: 429 }));
    log.served(served({ status: 429 }));
    expect(logger.entries.slice(LINES_PER_SECOND_MAX).map(({ fields }) => fields.suppressed)).toEqual([
      5,
      undefined,
    ]);
  });

  it.each([429, 500])(
    'many requests that are rejected with %i do not suppress the line of one that could not be served',
    (status) => {
      const { log, logger } = aLog();
      for (let sent = 0; sent <= LINES_PER_SECOND_MAX; sent += 1) log.served(served({ status }));
      log.served(served({ status: 503 }));
      expect(logger.entries.at(-1)).toMatchObject({ level: 'warn', fields: { status: 503 } });
      expect(logger.entries.at(-1)?.fields).not.toHaveProperty('suppressed');
    },
  );
});
