import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ReadStatement } from '../../../src/application/operators/read-statement.ts';
import type { StatementPlace } from '../../../src/application/ports/stores/billing-stores.ts';
import {
  correctionEntry,
  depositEntry,
  holdEntry,
  settlementEntry,
} from '../../../src/domain/billing/ledger.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { type ApplicationWorld, aSeedProject, openApplication } from '../../support/application-world.ts';
import { NOW, PROJECT_ID } from '../../support/builders.ts';

const DEPOSIT = `seed/${PROJECT_ID}/deposit`;

const at = (reference: string, seconds: number) => ({
  projectId: PROJECT_ID,
  reference,
  at: NOW + 1_000 * seconds,
});

describe('the statement of a project', () => {
  let world: ApplicationWorld;
  let readStatement: ReadStatement;

  /** A deposit of 100 IQD by the seed, a hold of 30, 20 of it captured, and 5 taken: 75 IQD are left. */
  beforeEach(async () => {
    world = await openApplication({ projects: [aSeedProject({ credit: iqd(100) })] });
    readStatement = world.container.get(ReadStatement);
    await world.unitOfWork.run(async ({ ledger }) => {
      await ledger.post([holdEntry(at('b', 2), iqd(30))]);
      await ledger.post([settlementEntry(at('b', 3), iqd(30), iqd(20))]);
      await ledger.post([correctionEntry(at('c', 4), iqd(-5))]);
    });
  });
  afterEach(() => world.close());

  const page = async (before: StatementPlace | null, limit: number, project = PROJECT_ID) => {
    const { projectId, rows, next } = await readStatement.page(project, before, limit);
    return { projectId, lines: rows.map(({ entry, balance }) => [entry.id, balance]), next };
  };
  const ALL = [
    ['c/correction', iqd(75)],
    ['b/settlement', iqd(80)],
    [DEPOSIT, iqd(100)],
  ];

  it('a statement has the entries that change the balance, the newest first, each with the balance after it', async () => {
    expect(await page(null, 3, 'demo')).toEqual({ projectId: PROJECT_ID, lines: ALL, next: null });
    expect(await page(null, 10)).toEqual({ projectId: PROJECT_ID, lines: ALL, next: null });
  });

  it('a page goes on behind the last entry, with the balance before it once no late entry can come', async () => {
    const place = { createdAt: NOW + 3_000, id: 'b/settlement' };
    world.clock.at = NOW + 62_999;
    expect((await page(null, 2)).next).toEqual({ ...place, balance: null });
    world.clock.at = NOW + 63_000;
    const first = await page(null, 2);
    expect(first).toEqual({
      projectId: PROJECT_ID,
      lines: ALL.slice(0, 2),
      next: { ...place, balance: iqd(100) },
    });
    expect((await page(null, 1)).next).toEqual({ createdAt: NOW + 4_000, id: 'c/correction', balance: null });
    expect(await page(first.next, 2)).toEqual({ projectId: PROJECT_ID, lines: ALL.slice(2), next: null });
    expect((await page({ ...place, balance: iqd(7) }, 2)).lines).toEqual([[DEPOSIT, iqd(7)]]);
  });

  it('a page without a balance in its place has the balance that the entries say, also of a late one', async () => {
    const place = { createdAt: NOW + 3_000, id: 'b/settlement', balance: null };
    expect((await page(place, 2)).lines).toEqual([[DEPOSIT, iqd(100)]]);
    await world.unitOfWork.run(({ ledger }) => ledger.post([depositEntry(at('late', 2.5), iqd(1))]));
    expect((await page(place, 2)).lines).toEqual([
      ['late/deposit', iqd(101)],
      [DEPOSIT, iqd(100)],
    ]);
  });

  it('the statement of a project that does not exist is rejected, and one without entries is empty', async () => {
    await expect(page(null, 2, 'none')).rejects.toMatchObject({ rejection: { kind: 'project-not-found' } });
    const place = { createdAt: NOW, id: '', balance: iqd(0) };
    expect(await page(place, 2)).toEqual({ projectId: PROJECT_ID, lines: [], next: null });
  });
});
