import { beforeEach, describe, expect, it } from 'vitest';
import { IdempotencyRecords } from '../../src/application/idempotency.ts';
import type { IdempotencyStore } from '../../src/application/ports/idempotency-store.ts';
import type { IdempotencyRecord } from '../../src/domain/idempotency/idempotency.ts';
import { NOW, PROJECT_ID } from '../support/builders.ts';

interface Result {
  readonly total: number;
}

const request = (route = 'POST /reports', key = 'k', requestHash = 'h', projectId = PROJECT_ID) => ({
  projectId,
  request: { route, key, requestHash },
});
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
    IdempotencyRecords.find<Result>(store, requests, NOW);

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
