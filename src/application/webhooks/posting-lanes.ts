import type { LeasedJob } from '../jobs/job.ts';
import type { WebhookWork } from '../jobs/webhook-jobs.ts';
import { POSTS_PER_ENDPOINT_MAX } from '../ports/webhook-transport.ts';
import {
  type Lane,
  newEndpoint,
  newLane,
  newProject,
  notePost,
  type PostedEndpoint,
  type PostingProject,
} from './lane.ts';

/**
 * How many posts may be begun and not over yet, how many over and not recorded yet, and how many lanes may be
 * open.
 */
export interface LaneLimits {
  /** What the transport posts to an endpoint at once: more than that waits there. */
  readonly atOnce: number;
  readonly perEndpoint: number;
  /** Of each lane no more than `atOnce` counts for these two. */
  readonly perProject: number;
  readonly total: number;
  readonly unrecordedPerProject: number;
  readonly unrecordedTotal: number;
  readonly lanesPerProject: number;
  readonly lanesTotal: number;
}

/**
 * An endpoint gets more than is posted at once, so that no connection is idle while the next events are looked for.
 * One project, whatever endpoints it names, cannot use up what the transport has for one host, nor what there is for
 * all. What is not recorded would be posted again after a crash, and does not count for its endpoint's health yet: more
 * than a batch of it waits for nothing but a slow database.
 */
export const LANE_LIMITS: LaneLimits = {
  atOnce: POSTS_PER_ENDPOINT_MAX,
  perEndpoint: 300,
  perProject: 175,
  total: 3_000,
  unrecordedPerProject: 300,
  unrecordedTotal: 1_500,
  lanesPerProject: 1_000,
  lanesTotal: 10_000,
};

/** A lane that may have nothing is given no more room than this, so that many of them can look together. */
const FIRST_LOOK = 10;

/** What was committed so long after the instant it was due at is found by the next look. */
const COMMITTED_LATE_MS = 5_000;

/** A lane that looks for at most so many events, and may begin so many of them. */
export interface Look {
  readonly lane: Lane;
  readonly limit: number;
  readonly room: number;
}

interface Found {
  readonly id: string;
  readonly nextAttemptAt: number | null;
}

/**
 * Says which endpoints are posted to next, and how much, so that a receiver that hangs holds up nobody but itself. In
 * memory only: leases bring back what a crash loses.
 *
 * A lane wants to look (it is in `project.looking`) when it is opened, while it has more, when the last of its posts is
 * recorded, and when it is told to. `take` lets it look as soon as there is room, until `begin` or `skip`. With nothing
 * under way and nothing to look for it is idle, and whoever gives its job back closes it. A lane that is lost looks no
 * more, and closes with its last post.
 *
 * | An event is | from       | and counts as                                              |
 * | ----------- | ---------- | ---------------------------------------------------------- |
 * | looked for  | `take`     | posting: the look keeps all the room it was given          |
 * | begun       | `begin`    | posting, and under way; the rest of the room is given back |
 * | over        | `over`     | under way, and not recorded                                |
 * | recorded    | `recorded` | nothing                                                    |
 */
export class PostingLanes {
  readonly #limits: LaneLimits;
  readonly #lanes = new Map<string, Lane>();
  readonly #projects = new Map<string, PostingProject>();
  readonly #endpoints = new Map<string, PostedEndpoint>();
  #postingAtOnce = 0;
  #unrecorded = 0;

  constructor(limits: LaneLimits = LANE_LIMITS) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#lanes.size === 0;
  }

  /** Opens the lane of a job, or gives an open one the newer lease; false when too many are open. */
  open(job: LeasedJob<WebhookWork>): boolean {
    const known = this.#lanes.get(job.id);
    if (known !== undefined) {
      if (job.fencingToken <= known.job.fencingToken) return true;
      known.job = job;
      known.isLost = false;
      known.seen = null;
      known.project.looking.add(known);
      return true;
    }
    const { projectId, endpoint: name } = job.work;
    const project = this.#projects.get(projectId) ?? newProject();
    const { lanesPerProject, lanesTotal } = this.#limits;
    if (project.lanes >= lanesPerProject || this.#lanes.size >= lanesTotal) return false;
    const endpoint = this.#endpoints.get(name) ?? newEndpoint();
    const lane = newLane(job, project, endpoint);
    project.lanes += 1;
    endpoint.lanes += 1;
    project.looking.add(lane);
    this.#projects.set(projectId, project);
    this.#endpoints.set(name, endpoint);
    this.#lanes.set(job.id, lane);
    return true;
  }

  /** The lanes that may look now: each look ends with `begin` or `skip`. */
  take(): readonly Look[] {
    const looks: Look[] = [];
    const served: [string, PostingProject][] = [];
    for (const entry of this.#projects) {
      const [, project] = entry;
      const before = looks.length;
      for (const lane of project.looking) {
        const roomOfProject = this.#roomOf(project);
        if (roomOfProject <= 0) break;
        const room = this.#roomFor(lane, roomOfProject);
        if (room <= 0) continue;
        project.looking.delete(lane);
        lane.isLooking = true;
        this.#count(lane, room);
        // What is found once more must not be in the way of what is new.
        looks.push({
          lane,
          room,
          limit: lane.hasMore && lane.seen !== null ? room : room + lane.underWay.size,
        });
      }
      if (looks.length > before) served.push(entry);
    }
    // Whoever was served is asked last the next time.
    for (const [projectId, project] of served) {
      this.#projects.delete(projectId);
      this.#projects.set(projectId, project);
    }
    return looks;
  }

  /**
   * The events to begin, of those a look found at `now`, in their order: they count as posting until `over`, and
   * as under way until `recorded`.
   */
  begin<Event extends Found>(look: Look, found: readonly Event[], now: number): readonly Event[] {
    const { lane, room, limit } = look;
    const fresh = found.filter(({ id }) => !lane.underWay.has(id));
    const begun = fresh.slice(0, room);
    const last = fresh.length > room ? begun.at(-1) : found.at(-1);
    lane.hasMore = fresh.length > room || found.length === limit;
    lane.seen =
      lane.hasMore && last !== undefined
        ? { nextAttemptAt: last.nextAttemptAt ?? now, id: last.id }
        : { nextAttemptAt: now - COMMITTED_LATE_MS, id: '' };
    if (lane.hasMore) lane.project.looking.add(lane);
    for (const { id } of begun) lane.underWay.add(id);
    this.#endLook(lane, begun.length - room);
    return begun;
  }

  /** Nothing is begun this time. The lane looks again when told to, or when its last post is recorded. */
  skip({ lane, room }: Look): void {
    lane.hasMore = false;
    this.#endLook(lane, -room);
  }

  /** Whether nothing is under way and nothing more is to be looked for. */
  isIdle(lane: Lane): boolean {
    return lane.underWay.size === 0 && !lane.isLooking && !lane.isLost && !lane.project.looking.has(lane);
  }

  /** The lane looks as soon as it may. */
  want(lane: Lane): void {
    lane.project.looking.add(lane);
  }

  /** The lanes whose jobs this process holds, as far as it knows. */
  held(): readonly Lane[] {
    return [...this.#lanes.values()].filter(({ isLost }) => !isLost);
  }

  /** Every lane looks whether there is more by now. */
  lookEverywhere(): void {
    for (const lane of this.held()) if (!lane.isLooking) this.want(lane);
  }

  /** Every lane forgets what it has seen, for what was added late or came back, and looks. */
  lookAtEverything(): void {
    for (const lane of this.held()) lane.seen = null;
    this.lookEverywhere();
  }

  /** A post has come to its end at `now`, with an answer or without one; what became of it is not stored yet. */
  over(lane: Lane, now: number, isAnswered: boolean): void {
    this.#count(lane, -1);
    notePost(lane.endpoint, now, isAnswered);
    lane.project.unrecorded += 1;
    this.#unrecorded += 1;
  }

  /** What became of an event is stored. */
  recorded(lane: Lane, eventId: string): void {
    lane.project.unrecorded -= 1;
    this.#unrecorded -= 1;
    if (lane.isLooking) lane.recorded.push(eventId);
    else this.#forget(lane, [eventId]);
  }

  /** Nothing more is begun; the lane is closed when its last post is over. */
  lose(lane: Lane): void {
    lane.isLost = true;
    lane.project.looking.delete(lane);
    this.#forget(lane, []);
  }

  /** Nothing is under way, and nothing will be before the job is leased again. */
  close(lane: Lane): void {
    const { job, project, endpoint } = lane;
    // What was lost may be lost again.
    if (this.#lanes.get(job.id) !== lane) return;
    const { projectId, endpoint: name } = job.work;
    this.#lanes.delete(job.id);
    project.looking.delete(lane);
    project.lanes -= 1;
    if (project.lanes === 0) this.#projects.delete(projectId);
    endpoint.lanes -= 1;
    if (endpoint.lanes === 0) this.#endpoints.delete(name);
  }

  #roomOf({ postingAtOnce, unrecorded }: PostingProject): number {
    const { perProject, total, unrecordedPerProject, unrecordedTotal } = this.#limits;
    if (unrecorded >= unrecordedPerProject || this.#unrecorded >= unrecordedTotal) return 0;
    return Math.min(perProject - postingAtOnce, total - this.#postingAtOnce);
  }

  #roomFor(lane: Lane, roomOfProject: number): number {
    const { atOnce, perEndpoint } = this.#limits;
    const most = Math.min(perEndpoint, atOnce + lane.endpoint.ahead);
    const roomOfEndpoint = most - lane.endpoint.posting;
    // What waits in the transport takes nothing from other endpoints of the project.
    const room =
      roomOfProject < atOnce - lane.posting ? Math.min(roomOfProject, roomOfEndpoint) : roomOfEndpoint;
    if (!lane.hasMore) return Math.min(room, FIRST_LOOK);
    return lane.posting === 0 || roomOfEndpoint >= most / 2 ? room : 0;
  }

  #endLook(lane: Lane, change: number): void {
    lane.isLooking = false;
    this.#count(lane, change);
    this.#forget(lane, lane.recorded.splice(0));
  }

  /** Once nothing is under way any more, everything is looked at again. */
  #forget(lane: Lane, eventIds: readonly string[]): void {
    for (const id of eventIds) lane.underWay.delete(id);
    if (lane.underWay.size > 0 || lane.isLooking) return;
    if (lane.isLost) {
      this.close(lane);
    } else if (eventIds.length > 0) {
      lane.seen = null;
      lane.project.looking.add(lane);
    }
  }

  #count(lane: Lane, change: number): void {
    const { atOnce } = this.#limits;
    const before = Math.min(lane.posting, atOnce);
    lane.posting += change;
    lane.endpoint.posting += change;
    const changeAtOnce = Math.min(lane.posting, atOnce) - before;
    lane.project.postingAtOnce += changeAtOnce;
    this.#postingAtOnce += changeAtOnce;
  }
}
