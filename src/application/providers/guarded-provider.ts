import { withoutContent } from '../../domain/chain/quoted-content.ts';
import type { Backlog } from '../../domain/jobs/fair-share.ts';
import { CLOSED_CAPACITY, type ProviderCapacity } from '../../domain/providers/provider-capacity.ts';
import {
  afterBegin,
  afterResult,
  afterThrottled,
  type CircuitPermit,
  CLOSED_COMMON_CIRCUIT,
  CLOSED_PROJECT_CIRCUIT,
  type CommonCircuit,
  commonStateAt,
  isIdle,
  type ProjectCircuit,
  type ProviderCircuits,
  permitAt,
  type ThrottledAll,
  takesNothing,
} from '../../domain/providers/provider-circuit.ts';
import {
  didItsWork,
  isThrottled,
  rejectedAs,
  type SubmitResult,
  unknownResult,
} from '../../domain/providers/submit-result.ts';
import { FAILURE_PERCENT_PERIOD_MS, openedUntil } from '../../domain/shared/circuit-breaker.ts';
import { isoOf } from '../../domain/shared/instant.ts';
import { MinuteLog } from '../minute-log.ts';
import type {
  ChannelProvider,
  ProviderCheck,
  ProviderHealth,
  Submission,
} from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { LogFields, Logger } from '../ports/logger.ts';
import type { ProviderEventSink } from '../ports/provider-events.ts';

/** How often the circuits of projects that send nothing any more are forgotten, in milliseconds. */
const FORGET_EVERY_MS = FAILURE_PERCENT_PERIOD_MS;

interface GuardedPorts {
  readonly provider: ChannelProvider;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * A provider of live projects with its circuits. A provider fails when it gives no clear result, or takes nothing: it is busy, or
 * has throttled everything for five seconds. A text whose time was over at a limit is no failure. After ten failures in a row, or
 * when 70 % of at least ten attempts within five minutes failed, it is not called for a while: what it would have got goes to the
 * next one at once. Each project has a circuit of its own, and all have one in common, which one project never opens alone. While
 * that is open, each project tries one message.
 */
export class GuardedProvider implements ChannelProvider {
  readonly name: string;
  readonly revoke?: (providerMessageIds: readonly string[]) => Promise<void>;
  readonly #ports: GuardedPorts;
  /** For all projects. */
  #common: CommonCircuit = CLOSED_COMMON_CIRCUIT;
  readonly #projectCircuits = new Map<string, ProjectCircuit>();
  /** Why it failed last for a project that had no success since. Projects do not see each other's. */
  readonly #lastReasons = new Map<string, string>();
  #forgotAt = 0;
  /** Null while it throttles nothing, or has taken something since. */
  #throttledAll: ThrottledAll | null = null;
  readonly #log: MinuteLog;
  /** The circuits that the log says are open: of a project, or null for that of all. */
  readonly #toldOpen = new Set<string | null>();

  constructor(ports: GuardedPorts) {
    this.#ports = ports;
    this.#log = new MinuteLog(ports);
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
    if (Math.abs(now - this.#forgotAt) >= FORGET_EVERY_MS) this.#forgetIdle(now);
    const circuits = this.#circuitsFor(projectId);
    const permit = permitAt(circuits, now);
    if (permit === null) return rejectedAs('busy', this.#whyNotCalled(projectId));
    this.#keep(projectId, afterBegin(circuits, permit, now));
    let result: SubmitResult;
    try {
      result = await provider.submit(submission);
    } catch (error) {
      this.#record(projectId, permit, unknownResult('The provider failed'));
      throw error;
    }
    const told =
      result.kind === 'accepted' ? result : { ...result, reason: withoutContent(result.reason, submission) };
    this.#record(projectId, permit, told);
    return told;
  }

  whenHandedOver(listener: (backlog: Backlog) => void): void {
    this.#ports.provider.whenHandedOver(listener);
  }

  /** While the circuit lets nothing through, every submission is rejected at once. */
  capacity(backlog: Backlog): ProviderCapacity {
    const { provider, clock } = this.#ports;
    const permit = permitAt(this.#circuitsFor(backlog.projectId), clock.now());
    return permit === null ? CLOSED_CAPACITY : provider.capacity(backlog);
  }

  health(): ProviderHealth {
    const health = this.#ports.provider.health();
    const circuit = commonStateAt(this.#common, this.#ports.clock.now());
    if (circuit === 'closed') return health;
    return { ok: false, detail: `circuit ${circuit}; ${health.detail}`, circuit };
  }

  check(): Promise<ProviderCheck> {
    return this.#ports.provider.check();
  }

  close(): Promise<void> {
    return this.#ports.provider.close();
  }

  #whyNotCalled(projectId: string): string {
    const reason = this.#lastReasons.get(projectId);
    const words = `${this.name} failed too often, and is not called for now`;
    return reason === undefined ? words : `${words}: ${reason}`;
  }

  #record(projectId: string, permit: CircuitPermit, result: SubmitResult): void {
    const before = this.#circuitsFor(projectId);
    const hasWorked = didItsWork(result, this.#tookNothing(result, before));
    if (hasWorked === true) this.#lastReasons.delete(projectId);
    if (hasWorked === false) this.#lastReasons.set(projectId, ownWordsOf(result));
    const work = { worked: hasWorked, isThrottled: isThrottled(result) };
    const after = afterResult(projectId, before, permit, work, this.#ports.clock.now());
    this.#keep(projectId, after);
    const { openUntil } = after.common;
    if (openUntil === null) this.#logClosed(null);
    else if (before.common.openUntil === null) this.#logOpened(null, openUntil, result);
    // Its line fell to the budget.
    else if (!this.#toldOpen.has(null)) this.#logOpened(null, openUntil, result, 0);
    const own = after.project.breaker;
    const until = openedUntil(before.project.breaker, own);
    if (own.openUntil === null) this.#logClosed(projectId);
    // What concerns all is told once, not for each project.
    else if (until !== null && openUntil === null) this.#logOpened(projectId, until, result);
  }

  /** Whether it throttled everything lately. */
  #tookNothing(result: SubmitResult, { project, common }: ProviderCircuits): boolean {
    if (result.kind === 'accepted') this.#throttledAll = null;
    if (!isThrottled(result)) return false;
    const { openUntil, projectOpenUntil } = common;
    const isOpen = [project.breaker.openUntil, openUntil, projectOpenUntil].some((each) => each !== null);
    this.#throttledAll = afterThrottled(this.#throttledAll, isOpen, this.#ports.clock.now());
    return takesNothing(this.#throttledAll);
  }

  /** `projectId` is null for the circuit of all, `count` 0 for an opening that was counted. */
  #logOpened(projectId: string | null, until: number, result: SubmitResult, count = 1): void {
    const fields = { ...this.#fieldsOf(projectId), until: isoOf(until), reason: ownWordsOf(result) };
    if (this.#log.warn('provider_circuit_opened', fields, count)) this.#toldOpen.add(projectId);
  }

  /** Only of a circuit that the log says is open: there are as few lines as of those that opened. */
  #logClosed(projectId: string | null): void {
    if (!this.#toldOpen.delete(projectId)) return;
    this.#ports.logger.info('provider_circuit_closed', this.#fieldsOf(projectId));
  }

  #fieldsOf(projectId: string | null): LogFields {
    return { provider: this.name, ...(projectId === null ? {} : { projectId }) };
  }

  #forgetIdle(now: number): void {
    this.#forgotAt = now;
    for (const [projectId, circuit] of this.#projectCircuits) {
      if (!isIdle(circuit, now)) continue;
      this.#projectCircuits.delete(projectId);
      this.#lastReasons.delete(projectId);
    }
  }

  #circuitsFor(projectId: string): ProviderCircuits {
    const project = this.#projectCircuits.get(projectId) ?? CLOSED_PROJECT_CIRCUIT;
    return { project, common: this.#common };
  }

  #keep(projectId: string, { project, common }: ProviderCircuits): void {
    this.#common = common;
    if (project !== CLOSED_PROJECT_CIRCUIT) this.#projectCircuits.set(projectId, project);
  }
}

/** What a failure says in our words. Those of the provider stand behind a colon, and may quote a message in whatever writing. */
function ownWordsOf(result: SubmitResult): string {
  return result.kind === 'accepted' ? '' : (result.reason.split(':', 1)[0] ?? '');
}
