import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import { onNextRound } from '../../application/concurrency/next-round.ts';

/** Debts of one project are repaid in this share of the event loop's time. */
export const RECEIVER_PROJECT_SHARE = 0.02;
/** And those of all projects together in this share. */
export const RECEIVER_ALL_SHARE = 0.15;
/** The free time of the handshakes of one project: the most of it in milliseconds, and the share of the time that fills it. */
export const RECEIVER_FREE_MS_MAX = 200;
export const RECEIVER_FREE_SHARE = 0.05;
/** How long one round of the event loop does this work, in milliseconds, before it serves what else waits. */
export const RECEIVER_ROUND_MS = 10;

/** A shorter piece is not searched for pauses, which takes a microsecond. */
const PAUSE_MS_MIN = 1;

/** What is computed of one receiver's bytes, TLS and HTTP: one piece after the other. */
export interface ReceiverWork {
  /** Whether the next piece waits while its project is in debt. */
  readonly waitsForDebt: boolean;
  /** Whether there is a piece to compute now. Work without one is run again when there is. */
  readonly isReady: boolean;
  /** Computes one piece. */
  compute(): void;
  /** Counts what that took, in milliseconds. Returns how much of it the project owes. */
  spend(ms: number): number;
}

/**
 * Gives the event loop's time to what TLS and the parser of HTTP compute for receivers. A receiver decides what that costs: a
 * chain of sixteen kilobytes may take a tenth of a second to check, and a response may have thousands of header lines. So what
 * costs more than an honest receiver does is a debt of its project, and so are handshakes when it has had many lately. Its
 * handshakes, and responses beyond their free time, wait until the debt is repaid. A round of the loop has `RECEIVER_ROUND_MS` of
 * this work, of all projects in rotation.
 */
export class ReceiverTime {
  readonly #now: () => number;
  readonly #processorMs: () => number;
  readonly #projects = new Map<string, ProjectTime>();
  /** Those with work that waits: the next one first. */
  readonly #waiting = new Set<ProjectTime>();
  readonly #debtors = new Set<ProjectTime>();
  /** How much each debtor has repaid since the start, in milliseconds, at `#at`. */
  #repaid = 0;
  #at: number;
  /** What was used of this round of the loop, in milliseconds; null before its first work. */
  #roundMs: number | null = null;
  /** The processor time of the process when this round began. */
  #roundProcessorMs = 0;
  #isRunning = false;
  #timer: NodeJS.Timeout | null = null;

  /** Both in milliseconds, and they never go back: `now`, and what the process has had of the processor. */
  constructor(now: () => number = () => performance.now(), processorMs: () => number = processorTime) {
    this.#now = now;
    this.#processorMs = processorMs;
    this.#at = now();
  }

  /** Does work of a project: at once if it can. */
  run(projectId: string, work: ReceiverWork): void {
    const project = this.#project(projectId);
    this.#repay();
    while (work.isReady) {
      const isFree = !this.#isRunning && this.#hasRoundTime() && !this.#isWorkReady();
      if (!isFree || (work.waitsForDebt && this.#isInDebt(project))) {
        project.add(work);
        this.#waiting.add(project);
        this.#continue();
        return;
      }
      this.#compute(project, work);
    }
  }

  /** The work waits no longer. Nothing happens when it does not wait. */
  drop(projectId: string, work: ReceiverWork): void {
    const project = this.#project(projectId);
    project.delete(work);
    if (!project.hasWork) this.#waiting.delete(project);
  }

  /** Work that waits is never done. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#waiting.clear();
  }

  #project(projectId: string): ProjectTime {
    let project = this.#projects.get(projectId);
    if (project === undefined) {
      project = new ProjectTime(this.#now());
      this.#projects.set(projectId, project);
    }
    return project;
  }

  #compute(project: ProjectTime, work: ReceiverWork): void {
    if (this.#roundMs === null) this.#beginRound();
    const startedAt = this.#now();
    const mayWait = work.waitsForDebt;
    this.#isRunning = true;
    work.compute();
    this.#isRunning = false;
    const ms = this.#now() - startedAt;
    this.#roundMs = (this.#roundMs ?? 0) + ms;
    const spent = ms < PAUSE_MS_MIN ? ms : this.#withoutPauses(ms);
    const owed = work.spend(spent);
    // A piece that may wait is of a handshake, or of a response beyond its free time, which owes all of it.
    const beyondFree = mayWait ? project.useFree(Math.max(0, spent - owed), this.#now()) : 0;
    if (owed + beyondFree > 0) this.#owe(project, owed + beyondFree);
  }

  /** Without the time in which the processor did something else: on a busy machine an honest receiver would owe that. */
  #withoutPauses(ms: number): number {
    return Math.min(ms, this.#processorMs() - this.#roundProcessorMs);
  }

  #hasRoundTime(): boolean {
    return (this.#roundMs ?? 0) < RECEIVER_ROUND_MS;
  }

  #beginRound(): void {
    this.#roundMs = 0;
    this.#roundProcessorMs = this.#processorMs();
    onNextRound(() => {
      this.#roundMs = null;
      this.#runWaiting();
    });
  }

  #runWaiting(): void {
    this.#repay();
    while (this.#hasRoundTime()) {
      const next = this.#takeNext();
      if (next === null) break;
      const { project, work } = next;
      if (work.isReady) this.#compute(project, work);
      if (!work.isReady) continue;
      project.add(work);
      this.#waiting.add(project);
    }
    this.#continue();
  }

  /** Sees to it that what waits is done later. */
  #continue(): void {
    if (this.#waiting.size === 0 || this.#roundMs !== null) return;
    if (this.#isWorkReady()) {
      this.#beginRound();
      return;
    }
    if (this.#timer !== null) clearTimeout(this.#timer);
    // When the first of the debtors is out of debt the others repay faster.
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#runWaiting();
    }, this.#firstRepaidMs());
  }

  /** Whether some of the work that waits may be done. */
  #isWorkReady(): boolean {
    for (const project of this.#waiting) {
      if (project.canRun(this.#isInDebt(project))) return true;
    }
    return false;
  }

  /** The next piece of work that may be done; its project is the last one of the rotation then. */
  #takeNext(): { readonly project: ProjectTime; readonly work: ReceiverWork } | null {
    for (const project of this.#waiting) {
      const work = project.take(this.#isInDebt(project));
      if (work === null) continue;
      this.#waiting.delete(project);
      if (project.hasWork) this.#waiting.add(project);
      return { project, work };
    }
    return null;
  }

  #owe(project: ProjectTime, ms: number): void {
    this.#repay();
    project.repaidAt = Math.max(project.repaidAt, this.#repaid) + ms;
    this.#debtors.add(project);
  }

  /** As of the last `#repay`. */
  #isInDebt(project: ProjectTime): boolean {
    return this.#debtors.has(project);
  }

  #repay(): void {
    const now = this.#now();
    let ms = now - this.#at;
    this.#at = now;
    while (this.#debtors.size > 0) {
      const firstMs = this.#firstRepaidMs();
      if (firstMs > ms) {
        this.#repaid += ms * this.#repaidPerMs();
        return;
      }
      ms -= firstMs;
      this.#repaid = this.#leastRepaidAt();
      for (const debtor of this.#debtors) {
        if (debtor.repaidAt <= this.#repaid) this.#debtors.delete(debtor);
      }
    }
  }

  /** Milliseconds until the first of the debtors is out of debt. */
  #firstRepaidMs(): number {
    return (this.#leastRepaidAt() - this.#repaid) / this.#repaidPerMs();
  }

  #leastRepaidAt(): number {
    let least = Number.POSITIVE_INFINITY;
    for (const { repaidAt } of this.#debtors) least = Math.min(least, repaidAt);
    return least;
  }

  /** What each debtor repays in a millisecond. */
  #repaidPerMs(): number {
    return Math.min(RECEIVER_PROJECT_SHARE, RECEIVER_ALL_SHARE / this.#debtors.size);
  }
}

function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

class ProjectTime {
  /** The project is in debt until each debtor has repaid this much, in milliseconds. */
  repaidAt = 0;
  readonly #free = new Set<ReceiverWork>();
  /** What waits while the project is in debt. The newest is done first: the oldest may be given up soon. */
  readonly #held = new Set<ReceiverWork>();

  /** What is left of its free time, in milliseconds, as of `#freeAt`. */
  #freeMs = RECEIVER_FREE_MS_MAX;
  #freeAt: number;

  constructor(now: number) {
    this.#freeAt = now;
  }

  /** Uses free time. Returns how much there was not. */
  useFree(ms: number, now: number): number {
    const free = this.#freeMs + (now - this.#freeAt) * RECEIVER_FREE_SHARE;
    this.#freeAt = now;
    this.#freeMs = Math.min(RECEIVER_FREE_MS_MAX, free) - ms;
    const missing = Math.max(0, -this.#freeMs);
    this.#freeMs += missing;
    return missing;
  }

  get hasWork(): boolean {
    return this.#free.size > 0 || this.#held.size > 0;
  }

  canRun(isInDebt: boolean): boolean {
    return this.#free.size > 0 || (!isInDebt && this.#held.size > 0);
  }

  add(work: ReceiverWork): void {
    (work.waitsForDebt ? this.#held : this.#free).add(work);
  }

  delete(work: ReceiverWork): void {
    this.#free.delete(work);
    this.#held.delete(work);
  }

  take(isInDebt: boolean): ReceiverWork | null {
    const [oldest] = this.#free;
    const next = oldest ?? (isInDebt ? null : newestOf(this.#held));
    if (next !== null) this.delete(next);
    return next;
  }
}

function newestOf(works: ReadonlySet<ReceiverWork>): ReceiverWork | null {
  let newest: ReceiverWork | null = null;
  for (const each of works) newest = each;
  return newest;
}
