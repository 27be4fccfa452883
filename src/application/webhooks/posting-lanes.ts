/** What bounds a post: its endpoint and its project. */
export interface Laned {
  readonly endpoint: string;
  readonly projectId: string;
}

/**
 * How many may be posted and not answered yet, how many answered and not recorded yet, and how many may wait in
 * memory for all those.
 */
export interface LaneLimits {
  readonly perEndpoint: number;
  readonly perProject: number;
  readonly total: number;
  readonly unrecordedPerProject: number;
  readonly unrecordedTotal: number;
  readonly waitingPerProject: number;
  readonly waitingTotal: number;
}

/**
 * An endpoint gets more than the transport posts at once, so that the connections are not idle while the next
 * are looked for. One project, whatever endpoints it names, cannot use up what the transport has for one host,
 * nor what there is for all. What is not recorded would be posted again after a crash, and does not count for its
 * endpoint's health yet: more than a batch of it waits for nothing but a slow database.
 */
export const LANE_LIMITS: LaneLimits = {
  perEndpoint: 100,
  perProject: 175,
  total: 3_000,
  unrecordedPerProject: 300,
  unrecordedTotal: 1_500,
  waitingPerProject: 20_000,
  waitingTotal: 30_000,
};

/** A lane that has to wait goes on when so many fit at once, so that they share one look into the store. */
const REFILL = 50;

/** What did not fit comes back after this time, and spread out, so that it is not put off again and again. */
const COME_BACK_MS = 1_000;
/**
 * How fast it comes back while nothing is known of the project's receivers, and at least. Too fast costs being
 * put off once more, too slow leaves a fast receiver without work.
 */
const COME_BACK_PER_MS = 10;
const COME_BACK_PER_MS_MIN = 0.5;
/** Somewhat faster than posts ended lately, so that a receiver that can do more is not kept waiting. */
const COME_BACK_GROWTH = 1.5;
const RATE_PERIOD_MS = 1_000;

interface Project<Item> {
  underWay: number;
  unrecorded: number;
  waiting: number;
  /** By endpoint, those that wait; the endpoint served last is the last. */
  readonly lanes: Map<string, Item[]>;
  comesBackAt: number;
  /** What comes back in a millisecond, by what ended in the last period. */
  comesBackPerMs: number;
  ended: number;
  endedSince: number;
}

/**
 * Posts that wait for earlier ones of the same endpoint, project or process, so that a receiver that hangs
 * holds up nobody but itself. In memory only: leases bring back what a crash loses. Whatever waits does so
 * because something is on its way, whose end lets it begin.
 */
export class PostingLanes<Item extends Laned> {
  readonly #limits: LaneLimits;
  readonly #projects = new Map<string, Project<Item>>();
  readonly #underWayByEndpoint = new Map<string, number>();
  #underWay = 0;
  #unrecorded = 0;
  #waiting = 0;

  constructor(limits: LaneLimits = LANE_LIMITS) {
    this.#limits = limits;
  }

  /** Lines the item up behind the others of its endpoint; false when too many wait already. */
  offer(item: Item): boolean {
    const { waitingPerProject, waitingTotal } = this.#limits;
    const project = this.#project(item.projectId);
    if (project.waiting >= waitingPerProject || this.#waiting >= waitingTotal) return false;
    const lane = project.lanes.get(item.endpoint);
    if (lane === undefined) project.lanes.set(item.endpoint, [item]);
    else lane.push(item);
    project.waiting += 1;
    this.#waiting += 1;
    return true;
  }

  /** When an item that was not let in may be offered again, in milliseconds since 1970. */
  comesBackAt(projectId: string, now: number): number {
    const project = this.#project(projectId);
    project.comesBackAt = Math.max(project.comesBackAt, now + COME_BACK_MS) + 1 / project.comesBackPerMs;
    return Math.floor(project.comesBackAt);
  }

  /** The items that may begin now, in the order they came in per endpoint; each counts until `end` or `answered`. */
  take(): readonly Item[] {
    const taken: Item[] = [];
    for (const [projectId, project] of [...this.#projects]) {
      if (project.waiting === 0) continue;
      const before = taken.length;
      for (const [endpoint, lane] of [...project.lanes]) this.#takeFrom(project, endpoint, lane, taken);
      if (taken.length === before) continue;
      // Whoever was served is asked last the next time.
      this.#projects.delete(projectId);
      this.#projects.set(projectId, project);
    }
    return taken;
  }

  /** An item that was taken was answered: it counts as unrecorded until `recorded`. */
  answered(item: Item, now: number): void {
    this.#project(item.projectId).unrecorded += 1;
    this.#unrecorded += 1;
    this.end(item, now);
  }

  /** What became of an answered item is stored, or failed to be. */
  recorded({ projectId }: Item, now: number): void {
    const project = this.#project(projectId);
    project.unrecorded -= 1;
    this.#unrecorded -= 1;
    this.#forgetIdle(projectId, project, now);
  }

  /** An item that was taken is not posted now after all. */
  end({ endpoint, projectId }: Item, now: number): void {
    const ofEndpoint = (this.#underWayByEndpoint.get(endpoint) ?? 0) - 1;
    if (ofEndpoint > 0) this.#underWayByEndpoint.set(endpoint, ofEndpoint);
    else this.#underWayByEndpoint.delete(endpoint);
    const project = this.#project(projectId);
    project.underWay -= 1;
    this.#underWay -= 1;
    measure(project, now);
    this.#forgetIdle(projectId, project, now);
  }

  #forgetIdle(projectId: string, project: Project<Item>, now: number): void {
    const { underWay, unrecorded, waiting, comesBackAt } = project;
    if (underWay + unrecorded + waiting === 0 && comesBackAt <= now) this.#projects.delete(projectId);
  }

  #takeFrom(project: Project<Item>, endpoint: string, lane: Item[], taken: Item[]): void {
    const { perEndpoint, perProject, total, unrecordedPerProject, unrecordedTotal } = this.#limits;
    if (project.unrecorded >= unrecordedPerProject || this.#unrecorded >= unrecordedTotal) return;
    const ofEndpoint = this.#underWayByEndpoint.get(endpoint) ?? 0;
    const room = Math.min(perEndpoint - ofEndpoint, perProject - project.underWay, total - this.#underWay);
    if (room < Math.min(REFILL, lane.length)) return;
    const items = lane.splice(0, room);
    this.#underWayByEndpoint.set(endpoint, ofEndpoint + items.length);
    project.underWay += items.length;
    this.#underWay += items.length;
    project.waiting -= items.length;
    this.#waiting -= items.length;
    taken.push(...items);
    project.lanes.delete(endpoint);
    if (lane.length > 0) project.lanes.set(endpoint, lane);
  }

  #project(projectId: string): Project<Item> {
    let project = this.#projects.get(projectId);
    if (project === undefined) {
      project = {
        underWay: 0,
        unrecorded: 0,
        waiting: 0,
        lanes: new Map(),
        comesBackAt: 0,
        comesBackPerMs: COME_BACK_PER_MS,
        ended: 0,
        endedSince: 0,
      };
      this.#projects.set(projectId, project);
    }
    return project;
  }
}

function measure(project: Project<unknown>, now: number): void {
  project.ended += 1;
  const periodMs = now - project.endedSince;
  if (periodMs < RATE_PERIOD_MS) return;
  // After a pause the period says nothing about how fast the receivers are.
  if (periodMs < 2 * RATE_PERIOD_MS) {
    const perMs = project.ended / periodMs;
    project.comesBackPerMs = Math.max(COME_BACK_PER_MS_MIN, perMs * COME_BACK_GROWTH);
  }
  project.ended = 0;
  project.endedSince = now;
}
