import {
  decideIdempotency,
  type IdempotencyConflict,
  type IdempotencyRecord,
  type KeyedRequest,
  newIdempotencyRecord,
} from '../domain/idempotency/idempotency.ts';
import { Rejected } from './errors/rejected.ts';
import type { RequestHasher } from './ports/request-hasher.ts';
import type { IdempotencyStore } from './ports/stores/idempotency-store.ts';
import { SWEPT_PER_ADDED } from './swept-per-added.ts';

/** A request of a project; null for a request without an Idempotency-Key. */
interface ProjectRequest {
  readonly projectId: string;
  readonly request: KeyedRequest | null;
}

type Decision<Result> =
  | { readonly kind: 'first' }
  | { readonly kind: 'replay'; readonly result: Result }
  | IdempotencyConflict;

interface IdempotencyPorts {
  readonly store: IdempotencyStore;
  readonly requestHasher: RequestHasher;
}

/** Names the form of a digest. A record of an earlier version has the bare hash of its request instead. */
const KEYED = 'v1:';

/**
 * The idempotency records of one unit of work, for use cases with a result that JSON can carry. Requests that share a key
 * within the unit meet here like requests of different units.
 */
export class IdempotencyRecords<Result> {
  readonly #records: Map<string, IdempotencyRecord>;
  readonly #requestHasher: RequestHasher;
  readonly #now: number;
  readonly #added: IdempotencyRecord[] = [];

  /**
   * Finds the records of the requests. Call it behind a lock that equal requests wait for, such as that of the account:
   * a request that comes while an equal one is still running then waits, and is given its result.
   */
  static async find<Result>(
    { store, requestHasher }: IdempotencyPorts,
    requests: readonly ProjectRequest[],
    now: number,
  ): Promise<IdempotencyRecords<Result>> {
    const keys = requests.flatMap(({ projectId, request }) =>
      request === null ? [] : [{ projectId, route: request.route, key: request.key }],
    );
    const records = keys.length === 0 ? [] : await store.find(keys, now);
    return new IdempotencyRecords<Result>(records, requestHasher, now);
  }

  private constructor(records: readonly IdempotencyRecord[], requestHasher: RequestHasher, now: number) {
    this.#requestHasher = requestHasher;
    this.#records = new Map(
      records.map((record) => [nameOf(record.projectId, record), this.#withDigest(record)]),
    );
    this.#now = now;
  }

  /** What to do with a request: `first` for one without a key too. */
  decide({ projectId, request }: ProjectRequest): Decision<Result> {
    if (request === null) return { kind: 'first' };
    const record = this.#records.get(nameOf(projectId, request));
    if (record === undefined) return { kind: 'first' };
    const decision = decideIdempotency(record, this.#digestOf(projectId, request), this.#now);
    return decision.kind === 'replay'
      ? { kind: 'replay', result: JSON.parse(decision.result) as Result }
      : decision;
  }

  /** Notes the result of a first request; does nothing for one without a key. */
  add({ projectId, request }: ProjectRequest, result: Result): void {
    if (request === null) return;
    const { route, key } = request;
    const requestDigest = this.#digestOf(projectId, request);
    const record = newIdempotencyRecord(
      { projectId, route, key, requestDigest },
      JSON.stringify(result),
      this.#now,
    );
    this.#records.set(nameOf(projectId, request), record);
    this.#added.push(record);
  }

  /** Stores what was added, in the unit of work of `store`. */
  async store(store: IdempotencyStore): Promise<void> {
    if (this.#added.length === 0) return;
    await Promise.all([
      store.sweep(this.#now, this.#added.length * SWEPT_PER_ADDED),
      store.save(this.#added),
    ]);
  }

  /** Includes project, route and key: equal requests under different keys have different digests. */
  #digestOf(projectId: string, request: KeyedRequest): string {
    const text = `${nameOf(projectId, request)} ${request.requestHash}`;
    return KEYED + this.#requestHasher.digest(text);
  }

  /** The record as this version would have stored it. */
  #withDigest(record: IdempotencyRecord): IdempotencyRecord {
    const { projectId, route, key, requestDigest } = record;
    if (requestDigest.startsWith(KEYED)) return record;
    return {
      ...record,
      requestDigest: this.#digestOf(projectId, { route, key, requestHash: requestDigest }),
    };
  }
}

/**
 * Does a request once: an equal one is given the first result again, as `replayed`. `first` runs in the same unit of work.
 * Throws `Rejected` when the key was used with another request. Call it behind a lock, as `IdempotencyRecords.find`.
 */
export async function runKeyed<Result extends { readonly replayed: boolean }>(
  ports: IdempotencyPorts,
  request: ProjectRequest,
  now: number,
  first: () => Promise<Result>,
): Promise<Result> {
  const records = await IdempotencyRecords.find<Result>(ports, [request], now);
  const earlier = records.decide(request);
  if (earlier.kind === 'replay') return { ...earlier.result, replayed: true };
  if (earlier.kind !== 'first') throw new Rejected(earlier);
  const result = await first();
  records.add(request, result);
  await records.store(ports.store);
  return result;
}

function nameOf(projectId: string, { route, key }: Pick<KeyedRequest, 'route' | 'key'>): string {
  return `${projectId} ${route} ${key}`;
}
