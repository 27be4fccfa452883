import { millisecondsInSecond } from 'date-fns/constants';
import {
  type Circuit,
  type CircuitBreaker,
  CLOSED_CIRCUIT,
  circuitAt,
  FAILURE_PERCENT_PERIOD_MS,
  FAILURES_IN_ROW_MAX,
  halfOpened,
  openedUntil,
  recordAttempt,
} from '../shared/circuit-breaker.ts';
import { SUBMIT_TIMEOUT_MS } from './submit-result.ts';

/** How long a circuit of a provider is open: the first time, the second time, and so on. Codes cannot wait for long. */
export const PROVIDER_OPEN_WINDOWS_MS: readonly number[] = [1_000, 5_000, 15_000, 60_000];
/** How long the circuit of all projects is open, in milliseconds. It is half-open then until any project has a success. */
const COMMON_OPEN_WINDOW_MS = millisecondsInSecond;
/**
 * The most failures of one project that count for the circuit of all projects: half of those that open it. So no project opens it
 * alone.
 */
const COMMON_FAILURES_OF_PROJECT_MAX = FAILURES_IN_ROW_MAX / 2;
/**
 * How long a success of a project lets its next messages pass, in milliseconds. A provider that hangs leaves a message without a
 * result for as long. With more time, a project would go on with a provider that has died since.
 */
const SUCCESS_COUNTS_MS = 10 * millisecondsInSecond;

/** A provider that throttled everything for so long takes nothing, in milliseconds. */
const THROTTLED_ALL_MS = 5_000;

/** That a provider throttles, and took nothing from anybody since. */
export interface ThrottledAll {
  readonly since: number;
  readonly last: number;
}

/** The circuit of a channel provider for one project. */
export interface ProjectCircuit {
  readonly breaker: CircuitBreaker;
  /** When the last message had its success; null when it failed. */
  readonly succeededAt: number | null;
}

/** The circuit of a channel provider for all projects. */
export interface CommonCircuit {
  /**
   * How many messages of each project failed since any project had a success, at most `COMMON_FAILURES_OF_PROJECT_MAX` of one.
   */
  readonly failures: ReadonlyMap<string, number>;
  /** Null while it is closed. */
  readonly openUntil: number | null;
  /** Until when the last project circuit is open that opened since any project had a success; null when none opened. */
  readonly projectOpenUntil: number | null;
}

/** What decides about a message: the circuit of its project, and the one of all projects. */
export interface ProviderCircuits {
  readonly project: ProjectCircuit;
  readonly common: CommonCircuit;
}

/** What the result of a message says of the provider. */
export interface ProviderWork {
  /** Whether the provider did its work; null when the result does not say. */
  readonly worked: boolean | null;
  /** It throttles the project, and says nothing of how it serves others. */
  readonly isThrottled: boolean;
}

/** Says that a message may be submitted. */
export interface CircuitPermit {
  /** Whether the circuit of the project waits for its result. */
  readonly isProbe: boolean;
  /** Until when that circuit was open when the probe began; null when it was closed. */
  readonly openUntil: number | null;
}

export const CLOSED_PROJECT_CIRCUIT: ProjectCircuit = { breaker: CLOSED_CIRCUIT, succeededAt: null };

export const CLOSED_COMMON_CIRCUIT: CommonCircuit = {
  failures: new Map(),
  openUntil: null,
  projectOpenUntil: null,
};

/** Whether the circuit is closed and tells nothing about later messages: it may be forgotten. */
export function isIdle({ breaker, succeededAt }: ProjectCircuit, now: number): boolean {
  if (breaker.openUntil !== null || breaker.failuresInRow > 0) return false;
  return succeededAt === null || Math.abs(now - succeededAt) >= FAILURE_PERCENT_PERIOD_MS;
}

/**
 * What is known after a provider has throttled a message, of which it took none since `before`. Where nobody asked for five
 * seconds it begins anew, but not while a circuit is open: then few ask.
 */
export function afterThrottled(before: ThrottledAll | null, isOpen: boolean, now: number): ThrottledAll {
  const goesOn = before !== null && (isOpen || Math.abs(now - before.last) < THROTTLED_ALL_MS);
  return { since: goesOn ? before.since : now, last: now };
}

/** Whether the provider has throttled everything for so long that it takes nothing. */
export function takesNothing({ since, last }: ThrottledAll): boolean {
  return last - since >= THROTTLED_ALL_MS;
}

/**
 * The state of a provider that operators are told: that of the circuit of all projects. While that one is closed, it is the state
 * of the last project circuit that opened since any project had a success. So a provider with only one project can be down, too.
 */
export function commonStateAt({ openUntil, projectOpenUntil }: CommonCircuit, now: number): Circuit['state'] {
  return circuitAt({ openUntil: openUntil ?? projectOpenUntil }, now, PROVIDER_OPEN_WINDOWS_MS).state;
}

/**
 * The permit of a message of a project at `now`; null when it is turned away. While the circuit of the project is not
 * closed, that circuit decides. After a success of the project a moment ago, the message may be submitted. Else the circuit of
 * all projects decides. While it is not closed, each project tries one message, and its own circuit waits for the result. No
 * project waits for the probe of another, whose messages may fail for good. A project with a failure waits until the circuit of
 * all projects is half-open.
 */
export function permitAt({ project, common }: ProviderCircuits, now: number): CircuitPermit | null {
  const { breaker, succeededAt } = project;
  const probe: CircuitPermit = { isProbe: true, openUntil: breaker.openUntil };
  const own = circuitAt(breaker, now, PROVIDER_OPEN_WINDOWS_MS).state;
  if (own !== 'closed') return own === 'open' ? null : probe;
  const ofAll = circuitAt(common, now, PROVIDER_OPEN_WINDOWS_MS).state;
  const hasJustSucceeded = succeededAt !== null && Math.abs(now - succeededAt) < SUCCESS_COUNTS_MS;
  if (hasJustSucceeded || ofAll === 'closed') return { isProbe: false, openUntil: null };
  return ofAll === 'open' && breaker.failuresInRow > 0 ? null : probe;
}

/**
 * The circuits while the message of a permit is in flight. A probe without a result holds up its project for `SUBMIT_TIMEOUT_MS`
 * at most.
 */
export function afterBegin(
  { project, common }: ProviderCircuits,
  { isProbe }: CircuitPermit,
  now: number,
): ProviderCircuits {
  if (!isProbe) return { project, common };
  const breaker = { ...halfOpened(project.breaker, now), openUntil: now + SUBMIT_TIMEOUT_MS };
  return { project: { ...project, breaker }, common };
}

/**
 * The circuits after a message of a project. A success closes both circuits. While both are closed, a failure counts for both,
 * and one that is throttled for that of its project only. A probe that fails opens the circuit of its project, and counts for
 * all projects while their circuit is closed. No other failure counts: its message was submitted before a circuit opened. A
 * probe whose result says nothing leaves the circuit as it found it. Ten failures in a row open the circuit of all projects; at
 * most five of one project count.
 */
export function afterResult(
  projectId: string,
  { project, common }: ProviderCircuits,
  { isProbe, openUntil }: CircuitPermit,
  { worked, isThrottled }: ProviderWork,
  now: number,
): ProviderCircuits {
  const own = project.breaker;
  if (worked === null) {
    const breaker = isProbe && own.isHalfOpen ? { ...own, isHalfOpen: false, openUntil } : own;
    return { project: { ...project, breaker }, common };
  }
  const recorded = recordAttempt(own, worked, now, PROVIDER_OPEN_WINDOWS_MS);
  if (worked) return { project: { breaker: recorded, succeededAt: now }, common: CLOSED_COMMON_CIRCUIT };
  const isClosed = common.openUntil === null;
  const counts = own.openUntil === null ? isClosed : isProbe;
  if (!counts) return { project: { breaker: own, succeededAt: null }, common };
  return {
    project: { breaker: recorded, succeededAt: null },
    common: isClosed
      ? afterFailure(isThrottled ? null : projectId, common, openedUntil(own, recorded), now)
      : common,
  };
}

/**
 * `projectId` is null for a failure that does not count for all projects. `openUntil`: until when it opened the circuit of its
 * project; null when it did not.
 */
function afterFailure(
  projectId: string | null,
  { failures, projectOpenUntil }: CommonCircuit,
  openUntil: number | null,
  now: number,
): CommonCircuit {
  if (projectId === null)
    return { failures, openUntil: null, projectOpenUntil: openUntil ?? projectOpenUntil };
  const ofProject = Math.min((failures.get(projectId) ?? 0) + 1, COMMON_FAILURES_OF_PROJECT_MAX);
  const counted = new Map(failures).set(projectId, ofProject);
  const ofAll = [...counted.values()].reduce((sum, count) => sum + count, 0);
  return {
    failures: counted,
    openUntil: ofAll < FAILURES_IN_ROW_MAX ? null : now + COMMON_OPEN_WINDOW_MS,
    projectOpenUntil: openUntil ?? projectOpenUntil,
  };
}
