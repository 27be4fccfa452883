import { hostOf } from '../../domain/webhooks/circuit-breaker.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { LeasedJob } from '../jobs/job.ts';
import type { WebhookWork } from '../jobs/webhook-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import { DELIVERY_LIMITS, type DeliveryLimits } from './delivery-limits.ts';

/** While a destination is not known to have more, so few events are fetched for it that many fit into one query. */
const FIRST_FETCH_EVENTS = 10;

/** One query fetches for so many destinations; so many are polled at a time. */
const FETCH_DESTINATIONS_MAX = 250;

/** The attempts in flight under one limit, and the destinations that wait for one of them to end. */
interface InFlight {
  readonly key: string;
  readonly max: number;
  count: number;
  destinations: number;
  /** The destination that has waited longest comes first. */
  readonly waiting: Set<Destination>;
}

interface Project {
  readonly id: string;
  destinations: number;
  /** Events fetched and not recorded yet. */
  fetched: number;
  readonly toFetch: Set<Destination>;
}

/** The events of one project to one endpoint, while this process has their job. */
export interface Destination {
  job: LeasedJob<WebhookWork>;
  /** The lease lasts at least until this instant: nothing is attempted then or later. */
  leasedUntil: number;
  readonly project: Project;
  readonly inFlight: readonly InFlight[];
  /** The ids of the events that are fetched and not recorded yet. */
  readonly fetched: Set<string>;
  /** Those of them that are not attempted yet, the longest due first. */
  readonly waiting: WebhookEvent[];
  /** How many of them are in flight. */
  attempts: number;
  /** Whether the last fetch may have left due events behind. */
  hasMore: boolean;
  /** Another process has the job, or will have it: nothing more is attempted. */
  isLost: boolean;
}

/** The destination to fetch for. At most `limit` due events are read, and at most `room` new ones taken. */
export interface Fetch {
  readonly destination: Destination;
  readonly limit: number;
  readonly room: number;
  /** What is recorded during the fetch may still be read as due. */
  readonly known: ReadonlySet<string>;
}

interface SchedulerOptions {
  readonly clock: Clock;
  /** Begins an attempt: `responded` follows, and `recorded`. */
  readonly attempt: (destination: Destination, event: WebhookEvent) => void;
  /** Called when `nextFetches` may have become longer, and when a destination was removed. */
  readonly wake: () => void;
  readonly limits?: DeliveryLimits;
}

/**
 * Decides which destinations are fetched for, and when each event is attempted: an event is fetched, in flight,
 * recorded. This is the only place that limits concurrency, so that a receiver that hangs holds up nobody but itself, and
 * no project uses up everything. It is in memory only: after a crash the leases run out, and what was not recorded is
 * fetched again.
 */
export class DeliveryScheduler {
  readonly #options: SchedulerOptions;
  readonly #limits: DeliveryLimits;
  /** By job id. The destination that was polled longest ago comes first. */
  readonly #destinations = new Map<string, Destination>();
  readonly #projects = new Map<string, Project>();
  readonly #inFlight = new Map<string, InFlight>();
  /** The projects with destinations to fetch for. The one that was served longest ago comes first. */
  readonly #toFetch = new Set<Project>();
  #fetched = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#limits = options.limits ?? DELIVERY_LIMITS;
  }

  get isEmpty(): boolean {
    return this.#destinations.size === 0;
  }

  /** The destinations whose jobs this process has, as far as it knows. */
  leased(): readonly Destination[] {
    return [...this.#destinations.values()].filter(({ isLost }) => !isLost);
  }

  /** Adds the destination of a job, or gives a known one the newer lease; false when there are too many. */
  add(job: LeasedJob<WebhookWork>): boolean {
    const known = this.#destinations.get(job.id);
    if (known === undefined) return this.#addNew(job);
    if (job.fencingToken <= known.job.fencingToken) return true;
    known.job = job;
    known.leasedUntil = 0;
    known.isLost = false;
    this.drop(known);
    this.requestFetch(known);
    return true;
  }

  /** The destination is fetched for as soon as there is room. */
  requestFetch(destination: Destination): void {
    if (destination.isLost) return;
    destination.project.toFetch.add(destination);
    this.#toFetch.add(destination.project);
    this.#options.wake();
  }

  /** Requests a fetch for the destinations that were polled longest ago: events may have come due. */
  poll(): void {
    for (const [id, destination] of [...this.#destinations].slice(0, FETCH_DESTINATIONS_MAX)) {
      this.#destinations.delete(id);
      this.#destinations.set(id, destination);
      this.requestFetch(destination);
    }
  }

  /** What is to be fetched now, one project after the other; `fetched` follows for each that could be read. */
  nextFetches(): readonly Fetch[] {
    const fetches: Fetch[] = [];
    let room = this.#limits.fetched - this.#fetched;
    for (const project of [...this.#toFetch]) {
      if (room <= 0 || fetches.length === FETCH_DESTINATIONS_MAX) break;
      let roomOfProject = Math.min(room, this.#limits.fetchedPerProject - project.fetched);
      for (const destination of project.toFetch) {
        if (roomOfProject <= 0 || fetches.length === FETCH_DESTINATIONS_MAX) break;
        project.toFetch.delete(destination);
        const fetch = newFetch(destination, Math.min(roomOfProject, this.#roomOf(destination)));
        if (fetch.room <= 0) continue;
        fetches.push(fetch);
        roomOfProject -= fetch.room;
        room -= fetch.room;
      }
      this.#toFetch.delete(project);
      if (project.toFetch.size > 0) this.#toFetch.add(project);
    }
    return fetches;
  }

  /** Takes the due events that were read, the longest due first, under a lease that lasts until `leasedUntil`. */
  fetched(
    { destination, limit, room, known }: Fetch,
    due: readonly WebhookEvent[],
    leasedUntil: number,
  ): void {
    if (destination.isLost) return;
    destination.leasedUntil = leasedUntil;
    destination.hasMore = due.length === limit;
    const events = due.filter(({ id }) => !known.has(id)).slice(0, room);
    for (const { id } of events) destination.fetched.add(id);
    destination.waiting.push(...events);
    destination.project.fetched += events.length;
    this.#fetched += events.length;
    this.#attemptWaiting(destination);
    this.#fetchAhead(destination);
  }

  /** The lease lasts longer. */
  renewed(destination: Destination, leasedUntil: number): void {
    destination.leasedUntil = leasedUntil;
    this.#attemptWaiting(destination);
  }

  /** An attempt has its result, which is not recorded yet. What waited longest for its place is attempted first. */
  responded(destination: Destination): void {
    destination.attempts -= 1;
    for (const inFlight of destination.inFlight) inFlight.count -= 1;
    for (const inFlight of destination.inFlight) this.#attemptNext(inFlight);
    this.#attemptWaiting(destination);
    this.#fetchAhead(destination);
  }

  /** The result of an attempt is stored, or lost. */
  recorded(destination: Destination, eventId: string): void {
    this.#forget(destination, [eventId]);
    this.#options.wake();
  }

  /** Whether nothing is fetched, and nothing more is to be. */
  isIdle(destination: Destination): boolean {
    const { fetched, isLost, project } = destination;
    return fetched.size === 0 && !isLost && !project.toFetch.has(destination);
  }

  /** Forgets the events that are not attempted yet: they stay due. */
  drop(destination: Destination): void {
    this.#forget(
      destination,
      destination.waiting.splice(0).map(({ id }) => id),
    );
  }

  /** Another process has the job, or will have it. The destination is removed when its last attempt is recorded. */
  lose(destination: Destination): void {
    destination.isLost = true;
    destination.project.toFetch.delete(destination);
    this.drop(destination);
    if (destination.fetched.size === 0) this.remove(destination);
  }

  /** Removes a destination of which nothing is fetched. */
  remove(destination: Destination): void {
    const { job, project } = destination;
    if (this.#destinations.get(job.id) !== destination) return;
    this.#destinations.delete(job.id);
    project.toFetch.delete(destination);
    project.destinations -= 1;
    if (project.destinations === 0) this.#projects.delete(project.id);
    for (const inFlight of destination.inFlight) {
      inFlight.waiting.delete(destination);
      inFlight.destinations -= 1;
      if (inFlight.destinations === 0) this.#inFlight.delete(inFlight.key);
    }
    this.#options.wake();
  }

  #addNew(job: LeasedJob<WebhookWork>): boolean {
    const { projectId, endpoint } = job.work;
    const limits = this.#limits;
    const project = this.#projects.get(projectId) ?? newProject(projectId);
    if (project.destinations >= limits.destinationsPerProject) return false;
    if (this.#destinations.size >= limits.destinations) return false;
    project.destinations += 1;
    this.#projects.set(projectId, project);
    const inFlight = [
      this.#underLimit(`endpoint ${endpoint}`, limits.attemptsPerEndpoint),
      this.#underLimit(`host ${hostOf(endpoint)}`, limits.attemptsPerHost),
      this.#underLimit(`project ${projectId}`, limits.attemptsPerProject),
      this.#underLimit('all', limits.attempts),
    ];
    const destination = newDestination(job, project, inFlight);
    this.#destinations.set(job.id, destination);
    this.requestFetch(destination);
    return true;
  }

  #underLimit(key: string, max: number): InFlight {
    const inFlight = this.#inFlight.get(key) ?? { key, max, count: 0, destinations: 0, waiting: new Set() };
    inFlight.destinations += 1;
    this.#inFlight.set(key, inFlight);
    return inFlight;
  }

  /** Attempts what every limit allows; at one that does not, the destination waits for its turn. */
  #attemptWaiting(destination: Destination): void {
    const { waiting, inFlight, leasedUntil } = destination;
    while (waiting.length > 0 && this.#options.clock.now() < leasedUntil) {
      const full = inFlight.find(({ count, max }) => count >= max);
      if (full !== undefined) {
        full.waiting.add(destination);
        return;
      }
      for (const each of inFlight) each.count += 1;
      destination.attempts += 1;
      this.#options.attempt(destination, waiting.shift() as WebhookEvent);
    }
  }

  #attemptNext(inFlight: InFlight): void {
    for (const destination of inFlight.waiting) {
      if (inFlight.count >= inFlight.max) return;
      inFlight.waiting.delete(destination);
      this.#attemptWaiting(destination);
    }
  }

  /** Fetches the next events while the last ones are attempted. */
  #fetchAhead(destination: Destination): void {
    const { hasMore, waiting, attempts } = destination;
    if (!hasMore || waiting.length + attempts > this.#limits.fetchedPerDestination / 2) return;
    this.requestFetch(destination);
  }

  #roomOf({ hasMore, waiting, attempts }: Destination): number {
    const room = this.#limits.fetchedPerDestination - waiting.length - attempts;
    return hasMore ? room : Math.min(room, FIRST_FETCH_EVENTS);
  }

  /** When nothing is fetched any more, the destination is fetched for once more. */
  #forget(destination: Destination, eventIds: readonly string[]): void {
    if (eventIds.length === 0) return;
    const { fetched, project, isLost } = destination;
    for (const id of eventIds) fetched.delete(id);
    project.fetched -= eventIds.length;
    this.#fetched -= eventIds.length;
    if (fetched.size > 0) return;
    if (isLost) this.remove(destination);
    else this.requestFetch(destination);
  }
}

function newProject(id: string): Project {
  return { id, destinations: 0, fetched: 0, toFetch: new Set() };
}

function newFetch(destination: Destination, room: number): Fetch {
  const known = new Set(destination.fetched);
  return { destination, room, limit: room + known.size, known };
}

function newDestination(
  job: LeasedJob<WebhookWork>,
  project: Project,
  inFlight: readonly InFlight[],
): Destination {
  return {
    job,
    leasedUntil: 0,
    project,
    inFlight,
    fetched: new Set(),
    waiting: [],
    attempts: 0,
    hasMore: false,
    isLost: false,
  };
}
