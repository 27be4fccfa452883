import { describe, expect, it } from 'vitest';
import { depositEntry, holdEntry, settlementEntry } from '../../src/domain/billing/ledger.ts';
import { iqd, money, ZERO } from '../../src/domain/shared/money.ts';
import {
  aLedgerEntry,
  aNewAccount,
  anAccount,
  anInternationalPrice,
  aPhoneNumber,
  aProject,
  aSenderId,
  aWhatsappBusiness,
  NOW,
  someStoredPrices,
} from '../support/builders.ts';
import { Gate } from '../support/job-collector.ts';
import { type Storage, storageOfSuite } from './storage.ts';

const A = '664abc00000000000000000a';
const B = '664abc00000000000000000b';
const C = '664abc00000000000000000c';

/** Reads that take long enough for another transaction to meet a lock. */
const READS_MEANWHILE = 30;

/** What the stores of projects, money, sender IDs, prices and whatsapp resources promise. */
export function catalogStoresContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);
  const { run, read } = storage;

  const openAccounts = () =>
    run(async ({ projects, accounts }) => {
      await projects.insert([B, A].map((id) => aProject({ id, slug: id })));
      await accounts.insert([B, A].map((projectId) => aNewAccount({ projectId })));
    });

  describe('projects', () => {
    const first = aProject({ id: A, slug: 'a', name: 'بريد 📮\nsecond line', environment: 'dev' });
    const second = aProject({
      id: B,
      slug: 'b',
      settings: { rateLimit: null, allowedIps: ['10.0.0.0/8'], language: 'ar' },
    });

    it('the project store returns projects as they were inserted, by their ids', async () => {
      await run(({ projects }) => projects.insert([second, first]));
      expect(await read(({ projects }) => projects.byIds([B, C, A]))).toEqual([first, second]);
      expect(await read(({ projects }) => projects.byIds([]))).toEqual([]);
    });

    it('the project store finds the project of a key by its digest only', async () => {
      await run(async ({ projects }) => {
        await projects.insert([first, second]);
        await projects.insertKeys([
          { digest: 'd1', hasChecksum: false, projectId: A, lastFour: null, createdAt: NOW },
          { digest: 'd2', hasChecksum: true, projectId: B, lastFour: null, createdAt: NOW },
        ]);
      });
      expect(await read(({ projects }) => projects.byKeyDigest('d2', NOW))).toEqual(second);
      expect(await read(({ projects }) => projects.byKeyDigest('D2', NOW))).toBeNull();
    });

    it('the project store tells whether any key ends without a checksum', async () => {
      const hasAny = () => read(({ projects }) => projects.hasKeyWithoutChecksum());
      expect(await hasAny()).toBe(false);
      await run(async ({ projects }) => {
        await projects.insert([first]);
        await projects.insertKeys([
          { digest: 'd1', hasChecksum: true, projectId: A, lastFour: null, createdAt: NOW },
        ]);
      });
      expect(await hasAny()).toBe(false);
      await run(({ projects }) =>
        projects.insertKeys([
          { digest: 'd2', hasChecksum: false, projectId: A, lastFour: null, createdAt: NOW },
        ]),
      );
      expect(await hasAny()).toBe(true);
    });

    it('the project store tells whether there is any project', async () => {
      expect(await read(({ projects }) => projects.isEmpty())).toBe(true);
      await run(({ projects }) => projects.insert([first]));
      expect(await read(({ projects }) => projects.isEmpty())).toBe(false);
    });

    it('the project store rejects a project id, a slug or a key digest that exists, and a key of no project', async () => {
      const key = { digest: 'd1', hasChecksum: false, projectId: A, lastFour: null, createdAt: NOW };
      await run(async ({ projects }) => {
        await projects.insert([first]);
        await projects.insertKeys([key]);
      });
      await expect(run((s) => s.projects.insert([{ ...first, slug: 'new' }]))).rejects.toThrow();
      await expect(run((s) => s.projects.insert([{ ...second, slug: 'a' }]))).rejects.toThrow();
      await expect(run((s) => s.projects.insertKeys([key]))).rejects.toThrow();
      await expect(
        run((s) => s.projects.insertKeys([{ ...key, digest: 'd3', projectId: C }])),
      ).rejects.toThrow();
      expect(await read(({ projects }) => projects.byIds([A, B]))).toEqual([first]);
    });
  });

  describe('accounts', () => {
    it('the account store inserts accounts with every amount zero', async () => {
      await run(async ({ projects, accounts }) => {
        await projects.insert([aProject({ id: A, slug: 'a' }), aProject({ id: B, slug: 'b' })]);
        await accounts.insert([
          aNewAccount({
            projectId: B,
            paymentType: 'postpaid',
            spendingThreshold: iqd(500),
            trialPhoneNumber: aPhoneNumber('9647701112223'),
          }),
          aNewAccount({ projectId: A }),
        ]);
      });
      const expected = [
        anAccount({ projectId: A, balance: ZERO }),
        anAccount({
          projectId: B,
          balance: ZERO,
          paymentType: 'postpaid',
          spendingThreshold: iqd(500),
          trialPhoneNumber: aPhoneNumber('9647701112223'),
        }),
      ];
      expect(await run(({ accounts }) => accounts.lock([B, A, C]))).toEqual(expected);
      expect(await read(({ accounts }) => accounts.byProjectIds([B, A, C]))).toEqual(expected);
    });

    it('the account store ends the trial of the given projects only', async () => {
      await openAccounts();
      await run(async ({ projects, accounts }) => {
        await projects.insert([aProject({ id: C, slug: 'c' })]);
        await accounts.insert([aNewAccount({ projectId: C, trialPhoneNumber: aPhoneNumber() })]);
        await accounts.endTrial([A]);
      });
      const trialOf = () => read((s) => s.accounts.byProjectIds([C]));
      expect((await trialOf())[0]?.trialPhoneNumber).toBe('9647712345678');
      await run(({ accounts }) => accounts.endTrial([C]));
      expect((await trialOf())[0]?.trialPhoneNumber).toBeNull();
    });
  });

  describe('ledger', () => {
    it('the ledger adds the sums of entries to their accounts', async () => {
      await openAccounts();
      const at = (projectId: string, reference: string) => ({ projectId, reference, at: NOW });
      await run(({ ledger }) =>
        ledger.post([
          depositEntry(at(B, 'd1'), iqd(1000)),
          holdEntry(at(A, 'm1'), iqd(80)),
          holdEntry(at(B, 'm2'), iqd(60)),
          holdEntry(at(B, 'm3'), iqd(40)),
        ]),
      );
      await run(({ ledger }) => ledger.post([settlementEntry(at(B, 'm2'), iqd(60), iqd(25.5))]));
      expect(await read(({ accounts }) => accounts.byProjectIds([A, B]))).toEqual([
        anAccount({ projectId: A, balance: ZERO, held: iqd(80), spent: ZERO }),
        anAccount({ projectId: B, balance: iqd(974.5), held: iqd(40), spent: iqd(25.5) }),
      ]);
    });

    it('the ledger keeps amounts far beyond 32 bits exactly', async () => {
      await openAccounts();
      const amount = money(9_007_199_254_740_991);
      await run(({ ledger }) => ledger.post([aLedgerEntry({ projectId: A, balanceDelta: amount })]));
      expect((await read(({ accounts }) => accounts.byProjectIds([A])))[0]?.balance).toBe(amount);
    });

    it('the ledger writes no ledger entry of a list that holds one twice', async () => {
      await openAccounts();
      await run(({ ledger }) => ledger.post([aLedgerEntry({ id: 'x', projectId: A })]));
      await expect(
        run((s) =>
          s.ledger.post([aLedgerEntry({ id: 'y', projectId: B }), aLedgerEntry({ id: 'x', projectId: A })]),
        ),
      ).rejects.toThrow(/unique|duplicate/i);
      expect((await read((s) => s.ledger.audit())).map(({ account }) => account.balance)).toEqual([
        iqd(100),
        ZERO,
      ]);
    });

    it('the ledger audits every account against its ledger entries, also an account without entries', async () => {
      await openAccounts();
      await run(({ ledger }) =>
        ledger.post([
          aLedgerEntry({
            id: '1',
            projectId: B,
            balanceDelta: iqd(5),
            heldDelta: iqd(2),
            spentDelta: iqd(1),
          }),
          aLedgerEntry({
            id: '2',
            projectId: B,
            balanceDelta: iqd(-3),
            heldDelta: iqd(1),
            spentDelta: iqd(4),
          }),
        ]),
      );
      const nothing = { projectId: A, balance: ZERO, held: ZERO, spent: ZERO };
      const sums = { projectId: B, balance: iqd(2), held: iqd(3), spent: iqd(5) };
      expect(await read(({ ledger }) => ledger.audit())).toEqual([
        { account: nothing, entries: nothing },
        { account: sums, entries: sums },
      ]);
    });
  });

  describe('sender IDs', () => {
    it('the sender ID store returns the sender IDs of the projects in the order of their ids', async () => {
      const own = aSenderId({ id: '2', projectId: A, senderId: 'شركة 😀' });
      const other = aSenderId({ id: '1', projectId: B, status: 'rejected' });
      await openAccounts();
      await run(({ senderIds }) => senderIds.insert([own, other]));
      expect(await read(({ senderIds }) => senderIds.byProjectIds([A, B]))).toEqual([other, own]);
      expect(await read(({ senderIds }) => senderIds.byProjectIds([A]))).toEqual([own]);
    });

    it('the sender ID store rejects a sender ID that the project already has', async () => {
      await openAccounts();
      await run(({ senderIds }) => senderIds.insert([aSenderId({ id: '1', projectId: A })]));
      await run(({ senderIds }) => senderIds.insert([aSenderId({ id: '2', projectId: B })]));
      await expect(
        run(({ senderIds }) => senderIds.insert([aSenderId({ id: '3', projectId: A })])),
      ).rejects.toThrow(/unique|duplicate/i);
    });
  });

  describe('prices', () => {
    const row = (countryIso: string, mccMnc: string, network: string) =>
      anInternationalPrice({ countryIso, mccMnc, network });
    const turkcell = row('TR', '28601', 'Turkcell');
    const turkcellToo = row('TR', '28601', 'avea');
    const vodafone = row('TR', '28602', 'Vodafone');
    const etisalat = row('AE', '42402', 'Etisalat');

    it('the price store rejects to load prices that were never written', async () => {
      await expect(read(({ prices }) => prices.load())).rejects.toThrow('No price list');
    });

    it('the price store loads the prices that were written last', async () => {
      const list = someStoredPrices({ telegram: iqd(41), international: [vodafone, etisalat] });
      await run(({ prices }) => prices.replace(someStoredPrices({ international: [turkcell, turkcellToo] })));
      await run(({ prices }) => prices.replace(list));
      expect(await read(({ prices }) => prices.load())).toEqual(list);
    });

    it('the price store pages international prices by country, code and network, upper case before lower case', async () => {
      const international = [vodafone, turkcellToo, etisalat, turkcell];
      await run(({ prices }) => prices.replace(someStoredPrices({ international })));
      const page = (countryIso: string | null, number: number, limit: number) =>
        read(({ prices }) => prices.international({ countryIso }, { page: number, limit }));
      expect(await page(null, 1, 3)).toEqual({ total: 4, rows: [etisalat, turkcell, turkcellToo] });
      expect(await page(null, 2, 3)).toEqual({ total: 4, rows: [vodafone] });
      expect(await page(null, 3, 3)).toEqual({ total: 4, rows: [] });
      expect(await page('TR', 2, 1)).toEqual({ total: 3, rows: [turkcellToo] });
      expect(await page('tr', 1, 5)).toEqual({ total: 0, rows: [] });
    });
  });

  describe('whatsapp resources', () => {
    it('the whatsapp store replaces the whatsapp tree of one project and leaves the others alone', async () => {
      await openAccounts();
      await run(({ whatsapp }) => whatsapp.replace(A, [aWhatsappBusiness()]));
      await run(({ whatsapp }) => whatsapp.replace(B, [aWhatsappBusiness({ name: 'Other' })]));
      await run(({ whatsapp }) => whatsapp.replace(A, [aWhatsappBusiness({ name: 'متجر\n🛒' })]));
      const trees = await read(({ whatsapp }) => whatsapp.byProjectIds([A, B, C]));
      expect([...trees]).toEqual([
        [A, [aWhatsappBusiness({ name: 'متجر\n🛒' })]],
        [B, [aWhatsappBusiness({ name: 'Other' })]],
      ]);
    });

    it('the whatsapp store reads the trees in pages, in the order of the projects, until none is left', async () => {
      await openAccounts();
      await run(({ whatsapp }) => whatsapp.replace(B, [aWhatsappBusiness({ name: 'Other' })]));
      await run(({ whatsapp }) => whatsapp.replace(A, [aWhatsappBusiness()]));
      const page = (after: string | null, limit: number) =>
        read(async ({ whatsapp }) => [...(await whatsapp.page(after, limit))]);
      expect(await page(null, 1)).toEqual([[A, [aWhatsappBusiness()]]]);
      expect(await page(A, 1)).toEqual([[B, [aWhatsappBusiness({ name: 'Other' })]]]);
      expect(await page(B, 1)).toEqual([]);
      expect((await page(null, 5)).map(([projectId]) => projectId)).toEqual([A, B]);
    });

    it('the whatsapp store keeps the tree of a locked project from being replaced until the transaction ends', async () => {
      await openAccounts();
      await run(({ whatsapp }) => whatsapp.replace(A, [aWhatsappBusiness({ name: 'a' })]));
      const [hasLocked, mayGoOn] = [new Gate(), new Gate()];
      const append = (suffix: string, meanwhile = async () => {}) =>
        run(async ({ whatsapp }) => {
          const [business] = (await whatsapp.lock([A])).get(A) ?? [];
          await meanwhile();
          await whatsapp.replace(A, [aWhatsappBusiness({ name: `${business?.name}${suffix}` })]);
        });
      const first = append('b', () => {
        hasLocked.open();
        return mayGoOn.opened;
      });
      await hasLocked.opened;
      const second = append('c');
      // Where units run at once, the second has met the lock by then; elsewhere it has not begun.
      for (let reads = 0; storage.concurrency > 1 && reads < READS_MEANWHILE; reads += 1) {
        await read(({ projects }) => projects.isEmpty());
      }
      mayGoOn.open();
      await Promise.all([first, second]);
      const trees = await read(({ whatsapp }) => whatsapp.byProjectIds([A]));
      expect(trees.get(A)).toEqual([aWhatsappBusiness({ name: 'abc' })]);
      expect([...(await run(({ whatsapp }) => whatsapp.lock([C])))]).toEqual([]);
    });
  });

  describe('installation', () => {
    it('the installation store keeps the first value of a name, also of two that come at once', async () => {
      const [one, other] = await Promise.all([
        run(({ installation }) => installation.getOrCreate('name', 'one')),
        run(({ installation }) => installation.getOrCreate('name', 'other')),
      ]);
      expect(one).toBe(other);
      expect(await run(({ installation }) => installation.getOrCreate('name', 'third'))).toBe(one);
      expect(await run(({ installation }) => installation.getOrCreate('another name', 'third'))).toBe(
        'third',
      );
    });
  });
}
