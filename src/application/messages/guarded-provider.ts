import {
  CLOSED_PROVIDER_CIRCUIT,
  notTriedOut,
  PROVIDER_OPEN_WINDOWS_MS,
  type ProviderCircuit,
  providerCircuitAt,
  recordResult,
  triedOut,
  turnedAway,
} from '../../domain/messages/provider-circuit.ts';
import {
  didItsWork,
  rejectedAs,
  type SubmitResult,
  unknownResult,
  withoutContent,
} from '../../domain/messages/submit-result.ts';
import { circuitAt, openedUntil } from '../../domain/shared/circuit-breaker.ts';
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
 * A provider of live projects with its circuit. A provider fails when it gives no clear result, or takes nothing. After ten
 * failures in a row, or when 70 % of at least ten attempts within five minutes failed, it is not called for a while: what it
 * would have got goes to the next one at once. Failures of one project alone count as one while another has successes.
 */
export class GuardedProvider implements ChannelProvider {
  readonly name: string;
  readonly revoke?: (providerMessageIds: readonly string[]) => Promise<void>;
  readonly #ports: GuardedPorts;
  #circuit: ProviderCircuit = CLOSED_PROVIDER_CIRCUIT;

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
    const { state } = providerCircuitAt(this.#circuit, projectId, now);
    if (state === 'open') return this.#notCalled(projectId);
    const isTrial = state === 'half-open';
    if (isTrial) this.#circuit = triedOut(this.#circuit, now);
    let result: SubmitResult;
    try {
      result = await provider.submit(submission);
    } catch (error) {
      this.#record(unknownResult('The provider failed'), projectId, isTrial);
      throw error;
    }
    this.#record(result, projectId, isTrial);
    return withoutContent(result, submission);
  }

  health(): ProviderHealth {
    const health = this.#ports.provider.health();
    const circuit = circuitAt(this.#circuit.breaker, this.#ports.clock.now(), PROVIDER_OPEN_WINDOWS_MS);
    if (circuit.state === 'closed') return health;
    return { ok: false, detail: `circuit ${circuit.state}; ${health.detail}`, circuit: circuit.state };
  }

  check(): Promise<ProviderCheck> {
    return this.#ports.provider.check();
  }

  close(): Promise<void> {
    return this.#ports.provider.close();
  }

  #record(result: SubmitResult, projectId: string, isTrial: boolean): void {
    const { clock, logger } = this.#ports;
    const before = this.#circuit.breaker;
    const worked = didItsWork(result, isTrial);
    if (worked === null) {
      if (isTrial) this.#circuit = notTriedOut(this.#circuit, clock.now());
      return;
    }
    this.#circuit = recordResult(this.#circuit, { projectId, worked, isTrial }, clock.now());
    const after = this.#circuit.breaker;
    const until = openedUntil(before, after);
    if (until !== null) {
      logger.warn('provider_circuit_opened', {
        provider: this.name,
        until: isoOf(until),
        reason: result.kind === 'unknown' ? 'no clear result' : 'takes nothing',
      });
    } else if (before.openUntil !== null && after.openUntil === null) {
      logger.info('provider_circuit_closed', { provider: this.name });
    }
  }

  #notCalled(projectId: string): SubmitResult {
    this.#circuit = turnedAway(this.#circuit, projectId);
    return rejectedAs('busy', `${this.name} failed too often, and is not called for now`);
  }
}
