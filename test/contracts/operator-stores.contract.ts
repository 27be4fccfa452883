import { describe, expect, it } from 'vitest';
import { LATE_ENTRY_MS, ReadStatement } from '../../src/application/operators/read-statement.ts';
import type { StatementPlace } from '../../src/application/ports/stores/billing-stores.ts';
import type { ProjectKey } from '../../src/domain/access/project-key.ts';
import type { AuditRecord } from '../../src/domain/audit/audit-record.ts';
import {
  correctionEntry,
  depositEntry,
  holdEntry,
  settlementEntry,
  thresholdResetEntry,
} from '../../src/domain/billing/ledger.ts';
import { iqd } from '../../src/domain/shared/money.ts';
import { aNewAccount, anId, aProject, NOW } from '../support/builders.ts';
import { type Storage, storageOfSuite } from './storage.ts';

const A = '664abc00000000000000000a';
const B = '664abc00000000000000000b';
const C = '664abc00000000000000000c';
const EXISTS = /unique|duplicate/i;

/** What the stores promise to operators: projects, keys, statements and the audit log. */
export function operatorStoresContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);
  const { run, read } = storage;

  const projects = [A, B, C].map((id) => aProject({ id, slug: `slug-${id.slice(-1)}` }));
  const insertProjects = () =>
    run(async (stores) => {
      await stores.projects.insert(projects);
      await stores.accounts.insert(projects.map(({ id }) => aNewAccount({ projectId: id })));
    });

  const aKey = (digest: string, given: Partial<ProjectKey> = {}): ProjectKey => ({
    digest,
    projectId: A,
    createdAt: NOW,
    lastFour: '4567',
    endsAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...given,
  });
  const insertKeys = (...keys: readonly ProjectKey[]) =>
    run(async (stores) => {
      await stores.projects.insertKeys(keys.map((key) => ({ ...key, hasChecksum: true })));
      await stores.projects.saveKeys(keys);
    });

  describe('managed projects', () => {
    it('the project store finds a project by its id before one by its slug', async () => {
      await insertProjects();
      await run((stores) => stores.projects.insert([aProject({ id: anId(7), slug: A })]));
      const named = (name: string) => read((stores) => stores.projects.named(name));
      expect(await named(A)).toEqual({ ...projects[0], archivedAt: null });
      expect(await named('slug-b')).toEqual({ ...projects[1], archivedAt: null });
      expect(await named('slug-d')).toBeNull();
      expect(await named('SLUG-B')).toBeNull();
    });

    it('the project store saves name, settings and archiving, and nothing else', async () => {
      await insertProjects();
      const [first, second] = await run((stores) => stores.projects.lock([B, A]));
      expect([first?.id, second?.id]).toEqual([A, B]);
      const changed = aProject({ id: A, name: 'ناوی نوێ', settings: { rateLimit: null, language: 'ckb' } });
      await run((stores) => stores.projects.save([{ ...changed, slug: 'other', archivedAt: NOW }]));
      expect(await run((stores) => stores.projects.lock([A, B]))).toEqual([
        { ...changed, slug: 'slug-a', archivedAt: NOW },
        { ...projects[1], archivedAt: null },
      ]);
    });

    it('the project store lists projects in pages by their ids', async () => {
      await insertProjects();
      const idsAfter = async (after: string | null, limit: number) =>
        (await read((stores) => stores.projects.list(after, limit))).map(({ id }) => id);
      expect(await idsAfter(null, 2)).toEqual([A, B]);
      expect(await idsAfter(B, 2)).toEqual([C]);
      expect(await idsAfter(C, 2)).toEqual([]);
    });

    it('the account store sets the threshold of one project', async () => {
      await insertProjects();
      await run((stores) => stores.accounts.setSpendingThreshold(A, iqd(500.5)));
      const thresholds = async () =>
        (await read((stores) => stores.accounts.byProjectIds([A, B]))).map((each) => each.spendingThreshold);
      expect(await thresholds()).toEqual([iqd(500.5), null]);
      await run((stores) => stores.accounts.setSpendingThreshold(A, null));
      expect(await thresholds()).toEqual([null, null]);
    });
  });

  describe('managed keys', () => {
    it('the project store saves the last use of keys, and changes nothing else of them', async () => {
      await insertProjects();
      await insertKeys(aKey('a1', { endsAt: NOW + 5 }), aKey('a2'));
      await run((stores) =>
        stores.projects.noteKeyUses([
          { digest: 'unknown', lastUsedAt: NOW },
          { digest: 'a1', lastUsedAt: NOW + 7 },
        ]),
      );
      await run((stores) => stores.projects.saveKeys([aKey('a1', { endsAt: NOW + 6 })]));
      expect(await read((stores) => stores.projects.keysOf(A, null, 5))).toEqual([
        aKey('a2'),
        aKey('a1', { endsAt: NOW + 6, lastUsedAt: NOW + 7 }),
      ]);
    });

    it('the project store finds no project of a key that is revoked or has ended, nor an archived one', async () => {
      await insertProjects();
      await insertKeys(
        aKey('d1'),
        aKey('d2', { endsAt: NOW + 10 }),
        aKey('d3', { revokedAt: NOW + 1_000 }),
        aKey('d4', { projectId: B }),
      );
      const found = async (digest: string, now: number) =>
        (await read((stores) => stores.projects.byKeyDigest(digest, now)))?.id;
      expect(await found('d1', NOW)).toBe(A);
      expect([await found('d2', NOW + 9), await found('d2', NOW + 10)]).toEqual([A, undefined]);
      expect(await found('d3', NOW)).toBeUndefined();
      const [second] = await run((stores) => stores.projects.lock([B]));
      if (second !== undefined) {
        await run((stores) => stores.projects.save([{ ...second, archivedAt: NOW }]));
      }
      expect(await found('d4', NOW)).toBeUndefined();
      expect(await found('d1', NOW)).toBe(A);
    });

    it('the project store lists the keys of a project in pages, the newest first', async () => {
      await insertProjects();
      const keys = [
        aKey('d4', { createdAt: NOW + 1, revokedAt: NOW + 2 }),
        aKey('d3', { endsAt: NOW }),
        aKey('d2', { lastFour: null }),
        aKey('d1', { createdAt: NOW - 1 }),
      ];
      await insertKeys(...keys, aKey('d5', { projectId: B }));
      expect(await read((stores) => stores.projects.keysOf(A, null, 9))).toEqual(keys);
      expect(await read((stores) => stores.projects.keysOf(A, null, 2))).toEqual(keys.slice(0, 2));
      expect(await read((stores) => stores.projects.keysOf(A, aKey('d3'), 9))).toEqual(keys.slice(2));
    });

    it('the project store tells which keys of a project work', async () => {
      await insertProjects();
      await insertKeys(
        aKey('d1'),
        aKey('d2', { endsAt: NOW + 1 }),
        aKey('d3', { endsAt: NOW }),
        aKey('d4', { revokedAt: NOW }),
        aKey('d5', { projectId: B }),
      );
      const working = async (limit: number) =>
        (await read((stores) => stores.projects.workingKeysOf(A, NOW, limit))).map(({ digest }) => digest);
      expect(await working(9)).toEqual(['d1', 'd2']);
      expect(await working(1)).toEqual(['d1']);
    });

    it('the project store finds a key by the beginning of its digest, in its own project only', async () => {
      await insertProjects();
      const [first, second] = [aKey('0a1f00'), aKey('0a2f00')];
      await insertKeys(first, second);
      const found = (projectId: string, start: string) =>
        read((stores) => stores.projects.keyOf(projectId, start));
      expect(await found(A, '0a1')).toEqual(first);
      expect(await found(A, '0a2f00')).toEqual(second);
      expect(await found(A, '0a3')).toBeNull();
      expect(await found(B, '0a1')).toBeNull();
    });
  });

  describe('statements', () => {
    const at = (reference: string, createdAt: number, projectId = A) => ({
      projectId,
      reference,
      at: createdAt,
    });
    const entries = [
      depositEntry(at('a', NOW), iqd(100)),
      holdEntry(at('m', NOW + 1), iqd(80)),
      settlementEntry(at('m', NOW + 2), iqd(80), iqd(60)),
      correctionEntry(at('c', NOW + 2), iqd(-10.5)),
      thresholdResetEntry(at('r', NOW + 3), iqd(60)),
    ];

    it('the ledger store reads the entries of a project but holds in pages, the newest first', async () => {
      await insertProjects();
      await run((stores) => stores.ledger.post([...entries, depositEntry(at('b', NOW, B), iqd(5))]));
      const [deposit, , settlement, correction, reset] = entries;
      const newest = [reset, settlement, correction, deposit];
      const page = async (before: StatementPlace | null, limit: number) =>
        (await read((stores) => stores.ledger.statement(A, before, limit))).entries;
      expect(await page(null, 9)).toEqual(newest);
      expect(await page(null, 2)).toEqual(newest.slice(0, 2));
      const cursor = { createdAt: NOW + 2, id: settlement?.id ?? '', balance: null };
      expect(await page(cursor, 9)).toEqual(newest.slice(2));
    });

    it('the ledger store has the balance behind a place: what the account has without the entries from it on', async () => {
      await insertProjects();
      await run((stores) => stores.ledger.post([...entries, depositEntry(at('b', NOW, B), iqd(5))]));
      const balanceBehind = async (before: StatementPlace | null) =>
        (await read((stores) => stores.ledger.statement(A, before, 1))).balance;
      const place = { createdAt: NOW + 2, id: 'm/settlement', balance: null };
      expect(await balanceBehind(null)).toBe(iqd(29.5));
      expect(await balanceBehind({ ...place, createdAt: NOW + 9 })).toBe(iqd(29.5));
      expect(await balanceBehind(place)).toBe(iqd(89.5));
      expect(await balanceBehind({ ...place, balance: iqd(7) })).toBe(iqd(7));
      expect(await balanceBehind({ ...place, createdAt: NOW - 1 })).toBe(0);
    });

    it('a statement does not wait for a transaction that has the account locked, and has nothing of it yet', async () => {
      await insertProjects();
      const late = NOW + LATE_ENTRY_MS;
      const readStatement = new ReadStatement({
        unitOfWork: storage.unitOfWork,
        clock: { now: () => late },
      });
      await run((stores) => stores.ledger.post(entries));
      const place = { createdAt: NOW + 2, id: 'm/settlement', balance: null };
      const balances = async (before: StatementPlace | null) =>
        (await readStatement.page(A, before, 9)).rows.map(({ balance }) => balance);
      await run(async (stores) => {
        await stores.accounts.lock([A]);
        await stores.ledger.post([correctionEntry(at('d', NOW + 1), iqd(-1))]);
        // A storage with one connection does one after the other.
        if (storage.concurrency === 1) return;
        expect(await balances(null)).toEqual([iqd(29.5), iqd(29.5), iqd(89.5), iqd(100)]);
        expect(await balances(place)).toEqual([iqd(89.5), iqd(100)]);
      });
      expect(await balances(place)).toEqual([iqd(88.5), iqd(99), iqd(100)]);
    });

    it('every page of a statement agrees with the balance, while entries are posted', async () => {
      await insertProjects();
      const readStatement = new ReadStatement({ unitOfWork: storage.unitOfWork, clock: { now: () => NOW } });
      const deposits = Array.from({ length: 40 }, (_, index) =>
        run((stores) => stores.ledger.post([depositEntry(at(`${index}`, NOW + (index % 7)), iqd(1))])),
      );
      const pages = await Promise.all(deposits.map(() => readStatement.page(A, null, 99)));
      await Promise.all(deposits);
      for (const { rows } of [...pages, await readStatement.page(A, null, 99)]) {
        expect(rows.map(({ balance }) => balance)).toEqual(rows.map((_, index) => iqd(rows.length - index)));
      }
    });
  });

  describe('the audit log', () => {
    const record = (index: number, given: Partial<AuditRecord> = {}): AuditRecord => ({
      id: anId(index),
      at: NOW + index,
      actor: 'cli',
      action: 'project-changed',
      projectId: A,
      before: { name: 'بريد', allowedIps: ['10.0.0.0/8'], rateLimit: null },
      after: { name: 'Barid', allowedIps: [], rateLimit: { maxRequests: 5 } },
      ...given,
    });

    it('the audit log returns records as they were inserted, in pages, the newest first', async () => {
      const records = [
        record(3),
        record(2, { projectId: B, before: null, actor: 'operator', action: 'key-created' }),
        record(1, { projectId: null, after: null }),
      ];
      await run((stores) => stores.auditLog.insert([...records].reverse()));
      const list = (projectId: string | null, before: string | null, limit: number) =>
        read((stores) => stores.auditLog.list({ projectId, before, limit }));
      expect(await list(null, null, 9)).toEqual(records);
      expect(await list(null, null, 1)).toEqual(records.slice(0, 1));
      expect(await list(null, anId(3), 9)).toEqual(records.slice(1));
      expect(await list(B, null, 9)).toEqual(records.slice(1, 2));
      expect(await list(B, anId(2), 9)).toEqual([]);
    });

    it('the audit log rejects an id that exists', async () => {
      await run((stores) => stores.auditLog.insert([record(1)]));
      await expect(run((stores) => stores.auditLog.insert([record(1, { at: 0 })]))).rejects.toThrow(EXISTS);
    });
  });
}
