import { millisecondsInSecond } from 'date-fns/constants';
import {
  type CircuitBreaker,
  CLOSED_CIRCUIT,
  circuitAt,
  halfOpened,
  recordAttempt,
} from '../shared/circuit-breaker.ts';

/** How long a circuit of a provider is open: the first time, the second time, and so on. Codes cannot wait for long. */
export const PROVIDER_OPEN_WINDOWS_MS: readonly number[] = [1_000, 5_000, 15_000, 60_000];
/**
 * A success of a project speaks for its next messages so long. No longer than a provider that hangs leaves a message without
 * a result: else a project would go on with one that has died since.
 */
export const SUCCESS_COUNTS_MS = 10 * millisecondsInSecond;

/** The circuit of a channel provider for all projects. */
export interface ProviderCircuit {
  readonly breaker: CircuitBreaker;
  /** The projects with a failure since the last success of any project. */
  readonly failedProjectIds: ReadonlySet<string>;
}

/** The circuit of a channel provider for one project. */
export interface ProjectCircuit {
  readonly breaker: CircuitBreaker;
  /** When the last message had its success; null when it failed. */
  readonly succeededAt: number | null;
}

/** What decides about a message: the circuit of its project, and the one of all projects. */
export interface ProviderCircuits {
  readonly project: ProjectCircuit;
  readonly provider: ProviderCircuit;
}

/** A message that may be submitted. */
export interface CircuitAttempt {
  readonly projectId: string;
  /** The circuit that waits for its result; null when it is not the trial of one. */
  readonly trialOf: keyof ProviderCircuits | null;
  /** Until when that circuit was open when the trial began. */
  readonly openUntil: number | null;
}

export const CLOSED_PROVIDER_CIRCUIT: ProviderCircuit = {
  breaker: CLOSED_CIRCUIT,
  failedProjectIds: new Set(),
};

export const CLOSED_PROJECT_CIRCUIT: ProjectCircuit = { breaker: CLOSED_CIRCUIT, succeededAt: null };

/**
 * The attempt that a message of a project may be at `now`; null when it is turned away. The circuit of the project decides while
 * it is not closed, and a success of the project a moment ago. Else the circuit of all projects does: while it is open, a project
 * that has not failed since the last success of any project may try one message, and one such message is in flight at a time.
 */
export function attemptAt(
  { project, provider }: ProviderCircuits,
  projectId: string,
  now: number,
): CircuitAttempt | null {
  const untried: CircuitAttempt = { projectId, trialOf: null, openUntil: null };
  const own = circuitAt(project.breaker, now, PROVIDER_OPEN_WINDOWS_MS).state;
  if (own === 'open') return null;
  if (own === 'half-open') {
    return { projectId, trialOf: 'project', openUntil: project.breaker.openUntil };
  }
  const { succeededAt } = project;
  if (succeededAt !== null && Math.abs(now - succeededAt) < SUCCESS_COUNTS_MS) return untried;
  const { breaker, failedProjectIds } = provider;
  const { state } = circuitAt(breaker, now, PROVIDER_OPEN_WINDOWS_MS);
  if (state === 'closed') return untried;
  if (state === 'open' && (breaker.isHalfOpen || failedProjectIds.has(projectId))) return null;
  return { projectId, trialOf: 'provider', openUntil: breaker.openUntil };
}

/** The circuits while an attempt is in flight. */
export function afterBegin(
  circuits: ProviderCircuits,
  { trialOf }: CircuitAttempt,
  now: number,
): ProviderCircuits {
  return withTrial(circuits, trialOf, (breaker) => halfOpened(breaker, now));
}

/**
 * The circuits after an attempt: whether the provider `worked`, or null when the result says nothing of that. A success closes
 * both. A failure counts for the project and for all while both circuits are closed; a trial that fails opens its circuit again,
 * and that of a project counts for all. Every other failure began before a circuit opened. A trial whose result says nothing
 * leaves its circuit as it found it.
 */
export function afterResult(
  circuits: ProviderCircuits,
  attempt: CircuitAttempt,
  worked: boolean | null,
  now: number,
): ProviderCircuits {
  if (worked === null) {
    const { openUntil } = attempt;
    return withTrial(circuits, attempt.trialOf, (breaker) =>
      breaker.isHalfOpen ? { ...breaker, isHalfOpen: false, openUntil } : breaker,
    );
  }
  const { project, provider } = circuits;
  const recorded = (breaker: CircuitBreaker): CircuitBreaker =>
    recordAttempt(breaker, worked, now, PROVIDER_OPEN_WINDOWS_MS);
  if (worked) {
    return {
      project: { breaker: recorded(project.breaker), succeededAt: now },
      provider: { breaker: recorded(provider.breaker), failedProjectIds: new Set() },
    };
  }
  const { projectId, trialOf } = attempt;
  const isClosed = provider.breaker.openUntil === null;
  const countsForProject = project.breaker.openUntil === null ? isClosed : trialOf === 'project';
  const countsForAll = isClosed ? countsForProject : trialOf === 'provider';
  return {
    project: {
      breaker: countsForProject ? recorded(project.breaker) : project.breaker,
      succeededAt: null,
    },
    provider: {
      breaker: countsForAll ? recorded(provider.breaker) : provider.breaker,
      failedProjectIds: provider.failedProjectIds.has(projectId)
        ? provider.failedProjectIds
        : new Set([...provider.failedProjectIds, projectId]),
    },
  };
}

function withTrial(
  circuits: ProviderCircuits,
  trialOf: CircuitAttempt['trialOf'],
  change: (breaker: CircuitBreaker) => CircuitBreaker,
): ProviderCircuits {
  const { project, provider } = circuits;
  if (trialOf === 'project') {
    return { project: { ...project, breaker: change(project.breaker) }, provider };
  }
  return trialOf === 'provider'
    ? { project, provider: { ...provider, breaker: change(provider.breaker) } }
    : circuits;
}
