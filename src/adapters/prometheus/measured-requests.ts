import { millisecondsInSecond } from 'date-fns/constants';
import type { RequestObserver, ServedRequest } from '../../application/ports/request-observer.ts';
import type { Metrics } from './metrics.ts';
import { statusClass } from './status-class.ts';

const SEND_ROUTE = '/sms';
const NO_ROUTE = 'none';
const OTHER_METHOD = 'OTHER';

/** A caller may send any method that Node knows. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']);

/** Counts and times replies, and counts the sends that were rejected. */
export class MeasuredRequests implements RequestObserver {
  readonly #metrics: Metrics;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  served({ method: given, route: declared, status: exact, durationMs, code }: ServedRequest): void {
    const method = METHODS.has(given) ? given : OTHER_METHOD;
    const route = declared ?? NO_ROUTE;
    const status = statusClass(exact);
    this.#metrics.requests.observe({ method, route, status }, durationMs / millisecondsInSecond);
    if (code !== null && route === SEND_ROUTE && method === 'POST') this.#metrics.sendsRejected.inc({ code });
  }
}
