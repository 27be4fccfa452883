import { beforeEach, describe, expect, it } from 'vitest';
import { IdempotencyRecords } from '../../src/application/idempotency.ts';
import type { RequestHasher } from '../../src/application/ports/request-hasher.ts';
import type { IdempotencyStore } from '../../src/application/ports/stores/idempotency-store.ts';
import type { IdempotencyRecord } from '../../src/domain/idempotency/idempotency.ts';
import { HOUR_MS, NOW, PROJECT_ID } from '../support/builders.ts';

interface Result {
  readonly total: number;
}

const request = (route = 'POST /reports', key = 'k', requestHash = 'h', projectId = PROJECT_ID) => ({
  projectId,
  request: { route, key, requestHash },
});
/** Tells what it was asked to digest. */
const requestHasher: RequestHasher = { digest: (text) => `digest(${text})` };
const WITHOUT_KEY = { projectId: PROJECT_ID, request: null };

/** A table of records, and how often it was asked. */
class MemoryRecords implements IdempotencyStore {
  readonly rows: IdempotencyRecord[] = [];
  readonly sweeps: number[] = [];
  finds = 0;

  async find(keys: readonly Pick<IdempotencyRecord, 'projectId' | 'route' | 'key'>[]) {
    this.finds += 1;
    return this.rows.filter((row) =>
      keys.some(
        ({ projectId, route, key }) => row.projectId === projectId && row.route === route && row.key === key,
      ),
    );
  }

  async save(records: readonly IdempotencyRecord[]) {
    this.rows.push(...records);
  }

  async sweep(_now: number, limit: number) {
    this.sweeps.push(limit);
    return 0;
  }
}

describe('the idempotency records of a unit of work', () => {
  let store: MemoryRecords;

  beforeEach(() => {
    store = new MemoryRecords();
  });

  const find = (...requests: Parameters<IdempotencyRecords<Result>['decide']>[0][]) =>
    IdempotencyRecords.find<Result>({ store, requestHasher }, requests, NOW);

  it('idempotency records replay in a later unit what an earlier unit has stored', async () => {
    const records = await find(request());
    expect(records.decide(request())).toEqual({ kind: 'first' });
    records.add(request(), { total: 3 });
    await records.store(store);
    const later = await find(request());
    expect(later.decide(request())).toEqual({ kind: 'replay', result: { total: 3 } });
    expect(later.decide(request('POST /reports', 'k', 'other'))).toEqual({ kind: 'idempotency-conflict' });
  });

  it('idempotency records replay within one unit, before anything is stored', async () => {
    const records = await find(request());
    records.add(request(), { total: 3 });
    expect(records.decide(request())).toEqual({ kind: 'replay', result: { total: 3 } });
  });

  it('idempotency records keep the keys of other routes and projects apart', async () => {
    const records = await find(request());
    records.add(request(), { total: 3 });
    expect(records.decide(request('POST /sms'))).toEqual({ kind: 'first' });
    expect(records.decide(request('POST /reports', 'k', 'h', 'other'))).toEqual({ kind: 'first' });
    expect(records.decide(request('POST /reports', 'other'))).toEqual({ kind: 'first' });
  });

  it('idempotency records store a keyed digest of the request with its project, route and key', async () => {
    const records = await find(request());
    records.add(request(), { total: 3 });
    await records.store(store);
    expect(store.rows).toEqual([
      {
        projectId: PROJECT_ID,
        route: 'POST /reports',
        key: 'k',
        requestDigest: `v1:digest(${PROJECT_ID} POST /reports k h)`,
        result: '{"total":3}',
        expiresAt: NOW + 24 * HOUR_MS,
      },
    ]);
  });

  it('idempotency records know an equal request by a record of an earlier version', async () => {
    const { projectId } = request();
    await store.save([
      {
        projectId,
        route: 'POST /reports',
        key: 'k',
        requestDigest: 'h',
        result: '{"total":3}',
        expiresAt: NOW + 1,
      },
    ]);
    const records = await find(request());
    expect(records.decide(request())).toEqual({ kind: 'replay', result: { total: 3 } });
    expect(records.decide(request('POST /reports', 'k', 'other'))).toEqual({ kind: 'idempotency-conflict' });
  });

  it('idempotency records remove two expired records for each one they store', async () => {
    const records = await find(request(), request('POST /reports', 'other'));
    records.add(request(), { total: 1 });
    records.add(request('POST /reports', 'other'), { total: 2 });
    await records.store(store);
    expect(store.sweeps).toEqual([4]);
    expect(store.rows).toHaveLength(2);
  });

  it('idempotency records ask the store nothing for requests without a key', async () => {
    const records = await find(WITHOUT_KEY);
    expect(records.decide(WITHOUT_KEY)).toEqual({ kind: 'first' });
    records.add(WITHOUT_KEY, { total: 1 });
    await records.store(store);
    expect([store.finds, store.rows.length, store.sweeps.length]).toEqual([0, 0, 0]);
  });
});
