import {
  afterBegin,
  afterResult,
  attemptAt,
  type CircuitAttempt,
  CLOSED_PROJECT_CIRCUIT,
  PROVIDER_OPEN_WINDOWS_MS,
  type ProjectCircuit,
  type ProviderCircuits,
} from '../../domain/messages/provider-circuit.ts';
import {
  didItsWork,
  rejectedAs,
  type SubmitResult,
  unknownResult,
  withoutContent,
} from '../../domain/messages/submit-result.ts';
import {
  type CircuitBreaker,
  CLOSED_CIRCUIT,
  circuitAt,
  openedUntil,
} from '../../domain/shared/circuit-breaker.ts';
import { isoOf } from '../../domain/shared/instant.ts';
import type {
  ChannelProvider,
  ProviderCheck,
  ProviderHealth,
  Submission,
} from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { ProviderEventSink } from '../ports/provider-events.ts';

interface GuardedPorts {
  readonly provider: ChannelProvider;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * A provider of live projects with its circuits. A provider fails when it gives no clear result, or takes nothing. After ten
 * failures in a row, or when 70 % of at least ten attempts within five minutes failed, it is not called for a while: what it
 * would have got goes to the next one at once. Each project has a circuit of its own, and all have one in common. While that is
 * open, each project tries one message.
 */
export class GuardedProvider implements ChannelProvider {
  readonly name: string;
  readonly revoke?: (providerMessageIds: readonly string[]) => Promise<void>;
  readonly #ports: GuardedPorts;
  /** For all projects. */
  #circuit: CircuitBreaker = CLOSED_CIRCUIT;
  readonly #projectCircuits = new Map<string, ProjectCircuit>();

  constructor(ports: GuardedPorts) {
    this.#ports = ports;
    this.name = ports.provider.name;
    const { provider } = ports;
    if (provider.revoke !== undefined) this.revoke = async (ids) => provider.revoke?.(ids);
  }

  start(sink: ProviderEventSink): Promise<void> {
    return this.#ports.provider.start(sink);
  }

  async submit(submission: Submission): Promise<SubmitResult> {
    const { provider, clock } = this.#ports;
    const { projectId } = submission;
    const now = clock.now();
    const circuits = this.#circuitsFor(projectId);
    const attempt = attemptAt(circuits, now);
    if (attempt === null)
      return rejectedAs('busy', `${this.name} failed too often, and is not called for now`);
    this.#keep(projectId, afterBegin(circuits, attempt, now));
    let result: SubmitResult;
    try {
      result = await provider.submit(submission);
    } catch (error) {
      this.#record(projectId, attempt, unknownResult('The provider failed'));
      throw error;
    }
    this.#record(projectId, attempt, result);
    return withoutContent(result, submission);
  }

  health(): ProviderHealth {
    const health = this.#ports.provider.health();
    const circuit = circuitAt(this.#circuit, this.#ports.clock.now(), PROVIDER_OPEN_WINDOWS_MS);
    if (circuit.state === 'closed') return health;
    return { ok: false, detail: `circuit ${circuit.state}; ${health.detail}`, circuit: circuit.state };
  }

  check(): Promise<ProviderCheck> {
    return this.#ports.provider.check();
  }

  close(): Promise<void> {
    return this.#ports.provider.close();
  }

  #record(projectId: string, attempt: CircuitAttempt, result: SubmitResult): void {
    const before = this.#circuitsFor(projectId);
    const after = afterResult(before, attempt, didItsWork(result), this.#ports.clock.now());
    this.#keep(projectId, after);
    const isOfAll = this.#logChange(before.provider, after.provider, result, {});
    // What concerns all is told once, not for each project.
    if (isOfAll || after.provider.openUntil !== null) return;
    this.#logChange(before.project.breaker, after.project.breaker, result, { projectId });
  }

  /** Whether a circuit opened or closed. */
  #logChange(
    before: CircuitBreaker,
    after: CircuitBreaker,
    result: SubmitResult,
    of: { readonly projectId?: string },
  ): boolean {
    const { logger } = this.#ports;
    const fields = { provider: this.name, ...of };
    const until = openedUntil(before, after);
    // The trial of a circuit that was closed opens it only until its result.
    const isClosed = before.consecutiveOpens > 0 && after.openUntil === null;
    if (until !== null) {
      const reason = result.kind === 'unknown' ? 'no clear result' : 'takes nothing';
      logger.warn('provider_circuit_opened', { ...fields, until: isoOf(until), reason });
    } else if (isClosed) logger.info('provider_circuit_closed', fields);
    return until !== null || isClosed;
  }

  #circuitsFor(projectId: string): ProviderCircuits {
    const project = this.#projectCircuits.get(projectId) ?? CLOSED_PROJECT_CIRCUIT;
    return { project, provider: this.#circuit };
  }

  #keep(projectId: string, { project, provider }: ProviderCircuits): void {
    this.#circuit = provider;
    if (project !== CLOSED_PROJECT_CIRCUIT) this.#projectCircuits.set(projectId, project);
  }
}
