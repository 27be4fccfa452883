import { performance } from 'node:perf_hooks';
import { LineBudget } from '../../../../application/line-budget.ts';
import type { Logger } from '../../../../application/ports/logger.ts';
import type { RequestObserver, ServedRequest } from '../../../../application/ports/request-observer.ts';

const FIRST_CLIENT_ERROR = 400;
/** A fault has a line of its own: any other 500 is what a test number asked for. */
const LAST_REJECTED = 500;

/**
 * One line for each request: `debug` below status 400, `info` from 400, `warn` above 500. A fault has its own line,
 * `request_failed`. Callers who send many wrong requests cannot fill the log, and cannot hide a 503 in it: each level has
 * `LINES_PER_SECOND_MAX` of its own.
 */
export class RequestLog implements RequestObserver {
  readonly #logger: Logger;
  readonly #rejected: LineBudget;
  readonly #unserved: LineBudget;

  /** `nowMs` is a clock that never goes back, in milliseconds. */
  constructor(logger: Logger, nowMs: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#rejected = new LineBudget(nowMs);
    this.#unserved = new LineBudget(nowMs);
  }

  served(request: ServedRequest): void {
    const { status, isFault } = request;
    if (isFault) return;
    if (status < FIRST_CLIENT_ERROR) {
      if (this.#logger.writesDebug) this.#logger.debug('request_served', fieldsOf(request));
      return;
    }
    const isRejected = status <= LAST_REJECTED;
    const suppressed = (isRejected ? this.#rejected : this.#unserved).take();
    if (suppressed === null) return;
    const fields = { ...fieldsOf(request), ...(suppressed > 0 ? { suppressed } : {}) };
    if (isRejected) this.#logger.info('request_served', fields);
    else this.#logger.warn('request_served', fields);
  }
}

/** What a line may have, and nothing else. */
function fieldsOf({ method, route, status, durationMs, requestId, projectId, code }: ServedRequest) {
  return {
    method,
    route,
    status,
    durationMs: Math.round(durationMs),
    requestId,
    ...(projectId === null ? {} : { projectId }),
    ...(code === null ? {} : { code }),
  };
}
