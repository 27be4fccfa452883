import { millisecondsInSecond } from 'date-fns/constants';
import {
  type CircuitBreaker,
  CLOSED_CIRCUIT,
  circuitAt,
  halfOpened,
  recordAttempt,
} from '../shared/circuit-breaker.ts';
import { SUBMIT_TIMEOUT_MS } from './submit-result.ts';

/** How long a circuit of a provider is open: the first time, the second time, and so on. Codes cannot wait for long. */
export const PROVIDER_OPEN_WINDOWS_MS: readonly number[] = [1_000, 5_000, 15_000, 60_000];
/**
 * A success of a project speaks for its next messages so long. No longer than a provider that hangs leaves a message without
 * a result: else a project would go on with one that has died since.
 */
export const SUCCESS_COUNTS_MS = 10 * millisecondsInSecond;

/** The circuit of a channel provider for one project. */
export interface ProjectCircuit {
  readonly breaker: CircuitBreaker;
  /** When the last message had its success; null when it failed. */
  readonly succeededAt: number | null;
}

/** What decides about a message: the circuit of its project, and the one of all projects. */
export interface ProviderCircuits {
  readonly project: ProjectCircuit;
  readonly provider: CircuitBreaker;
}

/** A message that may be submitted. */
export interface CircuitAttempt {
  /** Whether the circuit of the project waits for its result. */
  readonly isTrial: boolean;
  /** Until when that circuit was open when the trial began; null when it was closed. */
  readonly openUntil: number | null;
}

export const CLOSED_PROJECT_CIRCUIT: ProjectCircuit = { breaker: CLOSED_CIRCUIT, succeededAt: null };

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
 * The circuits after an attempt: whether the provider `worked`, or null when the result says nothing of that. A success closes
 * both. A failure counts for the project and for all while both circuits are closed; a trial that fails opens the circuit of its
 * project, and counts for all while that one is closed. Every other failure began before a circuit opened. A trial whose result
 * says nothing leaves the circuit as it found it.
 */
export function afterResult(
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
  const recorded = (breaker: CircuitBreaker): CircuitBreaker =>
    recordAttempt(breaker, worked, now, PROVIDER_OPEN_WINDOWS_MS);
  if (worked) {
    return { project: { breaker: recorded(own), succeededAt: now }, provider: recorded(provider) };
  }
  const isClosed = provider.openUntil === null;
  const counts = own.openUntil === null ? isClosed : isTrial;
  return {
    project: { breaker: counts ? recorded(own) : own, succeededAt: null },
    provider: counts && isClosed ? recorded(provider) : provider,
  };
}
