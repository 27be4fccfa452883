import { millisecondsInSecond } from 'date-fns/constants';
import {
  type Circuit,
  type CircuitBreaker,
  CLOSED_CIRCUIT,
  circuitAt,
  halfOpened,
  recordAttempt,
} from '../shared/circuit-breaker.ts';

/** How long the circuit of a provider is open: the first time, the second time, and so on. Codes cannot wait for long. */
export const PROVIDER_OPEN_WINDOWS_MS: readonly number[] = [1_000, 5_000, 15_000, 60_000];
/** The success of one project speaks for the provider so long. */
export const SUCCESS_COUNTS_MS = 30 * millisecondsInSecond;
/** A half-open attempt is kept so long for a project that did not fail. It tries again every 2 s. */
export const KEPT_FOR_OTHERS_MS = 5 * millisecondsInSecond;

/** The circuit of a channel provider, by whom it carried messages for. */
export interface ProviderCircuit {
  readonly breaker: CircuitBreaker;
  /** The last success of each of the last two projects that had one, the newest first. */
  readonly successes: readonly { readonly projectId: string; readonly at: number }[];
  /** The project of the last failure that counted. */
  readonly failedProjectId: string | null;
  /** Whether a project other than that was turned away since the circuit opened. */
  readonly othersWait: boolean;
}

export const CLOSED_PROVIDER_CIRCUIT: ProviderCircuit = {
  breaker: CLOSED_CIRCUIT,
  successes: [],
  failedProjectId: null,
  othersWait: false,
};

/**
 * What a message of a project may do at `now`. When others wait, the attempt of a half-open circuit is kept for them for a
 * while: the project that sends most would get each one.
 */
export function providerCircuitAt(circuit: ProviderCircuit, projectId: string, now: number): Circuit {
  const { breaker, failedProjectId, othersWait } = circuit;
  const state = circuitAt(breaker, now, PROVIDER_OPEN_WINDOWS_MS);
  if (state.state !== 'half-open' || !othersWait || projectId !== failedProjectId) return state;
  const until = (breaker.openUntil ?? now) + KEPT_FOR_OTHERS_MS;
  return now < until ? { state: 'open', until } : state;
}

/** The circuit after a message of a project was turned away. */
export function turnedAway(circuit: ProviderCircuit, projectId: string): ProviderCircuit {
  return circuit.othersWait || projectId === circuit.failedProjectId
    ? circuit
    : { ...circuit, othersWait: true };
}

/** The circuit while the one attempt of a half-open one is in flight. */
export function triedOut(circuit: ProviderCircuit, now: number): ProviderCircuit {
  return { ...circuit, breaker: halfOpened(circuit.breaker, now) };
}

/** The circuit after the one attempt of a half-open one was not sent: the next message is tried. */
export function notTriedOut(circuit: ProviderCircuit, now: number): ProviderCircuit {
  return circuit.breaker.isHalfOpen
    ? { ...circuit, breaker: { ...circuit.breaker, isHalfOpen: false, openUntil: now } }
    : circuit;
}

/**
 * The circuit after one attempt of a project; `isTrial` when it was the one of a half-open circuit. Failures of the same
 * project count as one while another had a success lately: the provider does its work. Of an open circuit no failure counts
 * but that of the trial.
 */
export function recordResult(
  circuit: ProviderCircuit,
  { projectId, worked, isTrial }: { projectId: string; worked: boolean; isTrial: boolean },
  now: number,
): ProviderCircuit {
  const { successes, failedProjectId } = circuit;
  const breaker = recordAttempt(circuit.breaker, worked, now, PROVIDER_OPEN_WINDOWS_MS);
  const others = successes.filter((success) => success.projectId !== projectId);
  if (worked) {
    return {
      breaker,
      successes: [{ projectId, at: now }, ...others.slice(0, 1)],
      failedProjectId,
      othersWait: false,
    };
  }
  const isOpen = circuit.breaker.openUntil !== null;
  const isOfOneProject =
    projectId === failedProjectId && others.some(({ at }) => Math.abs(now - at) < SUCCESS_COUNTS_MS);
  if (isOpen ? !isTrial : isOfOneProject) return circuit;
  return { breaker, successes, failedProjectId: projectId, othersWait: false };
}
