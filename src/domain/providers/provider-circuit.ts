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
/** How long the circuit of all projects is open. It is half-open then until a success of anybody. */
const COMMON_OPEN_WINDOW_MS = millisecondsInSecond;
/** Of the failures that open the circuit of all projects, so many of one project count: half. Never does one open it alone. */
const COMMON_FAILURES_OF_PROJECT_MAX = FAILURES_IN_ROW_MAX / 2;
/**
 * A success of a project speaks for its next messages so long. No longer than a provider that hangs leaves a message without
 * a result: else a project would go on with one that has died since.
 */
const SUCCESS_COUNTS_MS = 10 * millisecondsInSecond;

/** The circuit of a channel provider for one project. */
export interface ProjectCircuit {
  readonly breaker: CircuitBreaker;
  /** When the last message had its success; null when it failed. */
  readonly succeededAt: number | null;
}

/** The circuit of a channel provider for all projects. */
export interface CommonCircuit {
  /** How many messages failed since the last success of anybody, by project: as many as count of each. */
  readonly failures: ReadonlyMap<string, number>;
  /** Null while it is closed. */
  readonly openUntil: number | null;
  /** Until when the circuit of a project is open, the last one that opened since the last success of anybody. */
  readonly projectOpenUntil: number | null;
}

/** What decides about a message: the circuit of its project, and the one of all projects. */
export interface ProviderCircuits {
  readonly project: ProjectCircuit;
  readonly provider: CommonCircuit;
}

/** A message that may be submitted. */
export interface CircuitAttempt {
  /** Whether the circuit of the project waits for its result. */
  readonly isTrial: boolean;
  /** Until when that circuit was open when the trial began; null when it was closed. */
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
 * What operators are told of a provider: the circuit of all projects, or while that is closed, the one of a project that opened
 * when nobody had a success any more. So a provider is down too when only one project uses it.
 */
export function commonStateAt({ openUntil, projectOpenUntil }: CommonCircuit, now: number): Circuit['state'] {
  return circuitAt({ openUntil: openUntil ?? projectOpenUntil }, now, PROVIDER_OPEN_WINDOWS_MS).state;
}

/**
 * The attempt that a message of a project may be at `now`; null when it is turned away. The circuit of the project decides while
 * it is not closed, and a success of the project a moment ago. Else the circuit of all projects does. While that is not closed,
 * each project tries one message, and its own circuit waits for the result. No project waits for the trial of another, whose
 * messages may fail for good. One that has failed waits until the window of the circuit of all is over.
 */
export function attemptAt({ project, provider }: ProviderCircuits, now: number): CircuitAttempt | null {
  const { breaker, succeededAt } = project;
  const trial: CircuitAttempt = { isTrial: true, openUntil: breaker.openUntil };
  const own = circuitAt(breaker, now, PROVIDER_OPEN_WINDOWS_MS).state;
  if (own !== 'closed') return own === 'open' ? null : trial;
  const ofAll = circuitAt(provider, now, PROVIDER_OPEN_WINDOWS_MS).state;
  const hasJustSucceeded = succeededAt !== null && Math.abs(now - succeededAt) < SUCCESS_COUNTS_MS;
  if (hasJustSucceeded || ofAll === 'closed') return { isTrial: false, openUntil: null };
  return ofAll === 'open' && breaker.failuresInRow > 0 ? null : trial;
}

/** The circuits while an attempt is in flight. A trial without a result holds up its project for `SUBMIT_TIMEOUT_MS` at most. */
export function afterBegin(
  { project, provider }: ProviderCircuits,
  { isTrial }: CircuitAttempt,
  now: number,
): ProviderCircuits {
  if (!isTrial) return { project, provider };
  const breaker = { ...halfOpened(project.breaker, now), openUntil: now + SUBMIT_TIMEOUT_MS };
  return { project: { ...project, breaker }, provider };
}

/**
 * The circuits after an attempt of a project: whether the provider `worked`, or null when the result says nothing of that. A
 * success closes both. A failure counts for the project and for all while both circuits are closed; a trial that fails opens the
 * circuit of its project, and counts for all while that one is closed. Every other failure began before a circuit opened. A trial
 * whose result says nothing leaves the circuit as it found it. Ten failures in a row open the circuit of all, of which five of
 * one project count at most.
 */
export function afterResult(
  projectId: string,
  { project, provider }: ProviderCircuits,
  { isTrial, openUntil }: CircuitAttempt,
  worked: boolean | null,
  now: number,
): ProviderCircuits {
  const own = project.breaker;
  if (worked === null) {
    const breaker = isTrial && own.isHalfOpen ? { ...own, isHalfOpen: false, openUntil } : own;
    return { project: { ...project, breaker }, provider };
  }
  const recorded = recordAttempt(own, worked, now, PROVIDER_OPEN_WINDOWS_MS);
  if (worked) return { project: { breaker: recorded, succeededAt: now }, provider: CLOSED_COMMON_CIRCUIT };
  const isClosed = provider.openUntil === null;
  const counts = own.openUntil === null ? isClosed : isTrial;
  if (!counts) return { project: { breaker: own, succeededAt: null }, provider };
  return {
    project: { breaker: recorded, succeededAt: null },
    provider: isClosed ? afterFailure(projectId, provider, openedUntil(own, recorded), now) : provider,
  };
}

/** `openUntil`: until when the failure opened the circuit of its project; null when it did not. */
function afterFailure(
  projectId: string,
  { failures, projectOpenUntil }: CommonCircuit,
  openUntil: number | null,
  now: number,
): CommonCircuit {
  const ofProject = Math.min((failures.get(projectId) ?? 0) + 1, COMMON_FAILURES_OF_PROJECT_MAX);
  const counted = new Map(failures).set(projectId, ofProject);
  const ofAll = [...counted.values()].reduce((sum, count) => sum + count, 0);
  return {
    failures: counted,
    openUntil: ofAll < FAILURES_IN_ROW_MAX ? null : now + COMMON_OPEN_WINDOW_MS,
    projectOpenUntil: openUntil ?? projectOpenUntil,
  };
}
