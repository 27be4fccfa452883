import { describe, expect, it } from 'vitest';
import { TREE_CHARACTERS_MAX } from '../../src/application/ports/stores/catalog-stores.ts';
import { depositEntry, holdEntry, settlementEntry } from '../../src/domain/billing/ledger.ts';
import type { PriceVersion } from '../../src/domain/billing/price-version.ts';
import { iqd, money, ZERO } from '../../src/domain/shared/money.ts';
import type { WhatsappAccount } from '../../src/domain/whatsapp/whatsapp-resources.ts';
import {
  aLedgerEntry,
  aNewAccount,
  anAccount,
  anInternationalPrice,
  aPhoneNumber,
  aProject,
  aSealedSecret,
  aSenderId,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  NOW,
  somePrices,
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
      expect(await read(({ projects }) => projects.byIds([B, C, A]))).toEqual([
        { ...first, archivedAt: null },
        { ...second, archivedAt: null },
      ]);
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
      expect(await read(({ projects }) => projects.byIds([A, B]))).toEqual([{ ...first, archivedAt: null }]);
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

    it('the account store notes when projects were told of low credit, and arms the notice again', async () => {
      await openAccounts();
      const noticed = async () =>
        (await read(({ accounts }) => accounts.byProjectIds([A, B]))).map((each) => each.lowCreditNoticedAt);
      expect(await noticed()).toEqual([null, null]);
      await run(({ accounts }) => accounts.setLowCreditNoticedAt([A, B], NOW));
      await run(({ accounts }) => accounts.setLowCreditNoticedAt([B], null));
      expect(await noticed()).toEqual([NOW, null]);
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

  describe('sender IDs that operators decide', () => {
    const reason = 'The name belongs to a bank';

    it('the sender ID store lists sender IDs by project and status, page by page', async () => {
      const pending = aSenderId({ id: '1', projectId: A, senderId: 'One', status: 'pending' });
      const accepted = aSenderId({ id: '2', projectId: A, senderId: 'Two' });
      const other = aSenderId({ id: '3', projectId: B, senderId: 'One', status: 'pending' });
      await openAccounts();
      await run(({ senderIds }) => senderIds.insert([other, accepted, pending]));
      const list = (projectId: string | null, status: 'pending' | null, after: string | null, limit = 9) =>
        read(async ({ senderIds }) =>
          (await senderIds.list({ projectId, status, after, limit })).map(({ id }) => id),
        );
      expect(await list(null, null, null)).toEqual(['1', '2', '3']);
      expect(await list(null, null, null, 2)).toEqual(['1', '2']);
      expect(await list(null, 'pending', null)).toEqual(['1', '3']);
      expect(await list(null, 'pending', '1')).toEqual(['3']);
      expect(await list(A, null, null)).toEqual(['1', '2']);
      expect(await list(A, 'pending', '1')).toEqual([]);
    });

    it('the sender ID store finds a sender ID of its project by id or name, and an id before a name', async () => {
      await openAccounts();
      const named = aSenderId({ id: '1', projectId: A, senderId: '2' });
      const other = aSenderId({ id: '2', projectId: A, senderId: 'Souq' });
      await run(({ senderIds }) => senderIds.insert([named, other]));
      const find = (projectId: string, text: string) => read((s) => s.senderIds.find(projectId, text));
      expect(await find(A, '2')).toEqual({ ...other, reason: null });
      expect(await find(A, 'Souq')).toEqual({ ...other, reason: null });
      expect(await find(A, 'souq')).toBeNull();
      expect(await find(B, '2')).toBeNull();
    });

    it('the sender ID store saves status, reason and prices of the given sender IDs only', async () => {
      await openAccounts();
      const first = { ...aSenderId({ id: '1', projectId: A, status: 'pending' }), reason: null };
      const second = { ...aSenderId({ id: '2', projectId: B, status: 'pending' }), reason: null };
      await run(({ senderIds }) => senderIds.insert([first, second]));
      const prices = { korekTelecom: iqd(1), asiaCell: iqd(2), zainIraq: iqd(3), others: iqd(4.005) };
      const rejected = { ...first, status: 'rejected', reason, pricePerSms: prices } as const;
      await run(({ senderIds }) => senderIds.save([rejected]));
      const all = { projectId: null, status: null, after: null, limit: 9 };
      expect(await read(({ senderIds }) => senderIds.list(all))).toEqual([rejected, second]);
    });
  });

  describe('price versions', () => {
    const first = '664abc000000000000000001';
    const second = '664abc000000000000000002';
    const third = '664abc000000000000000003';
    const aVersion = (id: string, effectiveFrom: number): PriceVersion => ({
      id,
      effectiveFrom,
      createdAt: NOW,
      actor: 'cli',
      rowCount: 3,
      withdrawnAt: null,
    });
    const row = (countryIso: string, mccMnc: string) =>
      anInternationalPrice({ countryIso, mccMnc, price: iqd(0.125) });
    const etisalat = row('AE', '42402');
    const turkcell = row('TR', '28601');
    const vodafone = row('TR', '28602');
    const list = somePrices({
      telegram: iqd(7.5),
      internationalByCountryCode: new Map([
        ['90', iqd(1)],
        ['971', iqd(0.125)],
      ]),
    });

    it('the price version store has the version in force at an instant, and those that come into force later', async () => {
      await run(async ({ priceVersions }) => {
        await priceVersions.insert(aVersion(first, NOW), list);
        await priceVersions.insert(aVersion(second, NOW + 10), list);
        await priceVersions.insert(aVersion(third, NOW), list);
      });
      const inForce = (at: number) => read(async (s) => (await s.priceVersions.inForceAt(at))?.id ?? null);
      expect(await inForce(NOW - 1)).toBeNull();
      expect(await inForce(NOW)).toBe(third);
      expect(await inForce(NOW + 9)).toBe(third);
      expect(await inForce(NOW + 10)).toBe(second);
      const scheduled = (instant: number) =>
        read(async (s) => (await s.priceVersions.scheduledAfter(instant)).map(({ id }) => id));
      expect(await scheduled(NOW - 1)).toEqual([first, third, second]);
      expect(await scheduled(NOW)).toEqual([second]);
      expect(await scheduled(NOW + 10)).toEqual([]);
      await run(({ priceVersions }) => priceVersions.withdraw(second, NOW + 5));
      expect(await inForce(NOW + 10)).toBe(third);
      expect(await scheduled(NOW)).toEqual([]);
      const withdrawn = { ...aVersion(second, NOW + 10), withdrawnAt: NOW + 5 };
      expect(await read((s) => s.priceVersions.list(null, 2))).toEqual([aVersion(third, NOW), withdrawn]);
      expect(await read((s) => s.priceVersions.list(second, 2))).toEqual([aVersion(first, NOW)]);
      expect(await read((s) => s.priceVersions.find(second))).toEqual(withdrawn);
      expect(await read((s) => s.priceVersions.find('x'))).toBeNull();
    });

    it('the price version store reads the prices of a version by country and page by page', async () => {
      await run(async ({ priceVersions }) => {
        await priceVersions.insert(aVersion(first, NOW), list);
        await priceVersions.insertCountries(first, [
          { countryIso: 'AE', rows: [etisalat], rowsBefore: 0 },
          { countryIso: 'TR', rows: [turkcell, vodafone], rowsBefore: 1 },
        ]);
        await priceVersions.insert(aVersion(second, NOW), list);
        await priceVersions.insertCountries(second, [{ countryIso: 'TR', rows: [vodafone], rowsBefore: 0 }]);
      });
      expect(await read((s) => s.priceVersions.listOf(first))).toEqual(list);
      const { sms, whatsapp, telegram } = list;
      expect(await read((s) => s.priceVersions.systemPricesOf(first))).toEqual({ sms, whatsapp, telegram });
      expect(await read((s) => s.priceVersions.countriesOf(first))).toEqual(['AE', 'TR']);
      expect(await read((s) => s.priceVersions.rowsOf(first, 'TR'))).toEqual([turkcell, vodafone]);
      expect(await read((s) => s.priceVersions.rowsOf(first, 'JO'))).toEqual([]);
      const page = (countryIso: string | null, number: number, limit: number) =>
        read((s) => s.priceVersions.international(first, { countryIso }, { page: number, limit }));
      expect(await page(null, 1, 2)).toEqual({ total: 3, rows: [etisalat, turkcell] });
      expect(await page(null, 2, 2)).toEqual({ total: 3, rows: [vodafone] });
      expect(await page(null, 3, 1)).toEqual({ total: 3, rows: [vodafone] });
      expect(await page(null, 3, 2)).toEqual({ total: 3, rows: [] });
      expect(await page('TR', 2, 1)).toEqual({ total: 2, rows: [vodafone] });
      expect(await page('JO', 1, 5)).toEqual({ total: 0, rows: [] });
    });

    it('the price version store counts changes of the schedule one after another', async () => {
      const before = await read(({ priceVersions }) => priceVersions.revision());
      const revisions = await Promise.all([1, 2, 3].map(() => run((s) => s.priceVersions.nextRevision())));
      expect(revisions.sort()).toEqual([before + 1, before + 2, before + 3]);
      expect(await read(({ priceVersions }) => priceVersions.revision())).toBe(before + 3);
    });

    it('an import that is cut off leaves no version and no rows', async () => {
      const lost = run(async ({ priceVersions }) => {
        await priceVersions.insert(aVersion(first, NOW), list);
        await priceVersions.insertCountries(first, [{ countryIso: 'AE', rows: [etisalat], rowsBefore: 0 }]);
        throw new Error('cut off');
      });
      await expect(lost).rejects.toThrow('cut off');
      expect(await read(({ priceVersions }) => priceVersions.inForceAt(NOW))).toBeNull();
      expect(await read(({ priceVersions }) => priceVersions.countriesOf(first))).toEqual([]);
    });
  });

  describe('whatsapp resources', () => {
    /** A dev project stands between two live ones. */
    const openWithDev = () =>
      run(({ projects }) =>
        projects.insert(
          [A, B, C].map((id) => aProject({ id, slug: id, environment: id === B ? 'dev' : 'live' })),
        ),
      );
    /** A business with an account for each number. */
    const treeOfNumbers = (...numbers: readonly (readonly [platformId: string, id: string])[]) => [
      aWhatsappBusiness({
        whatsappAccounts: numbers.map(([phoneNumberId, id]) =>
          aWhatsappAccount({ phoneNumbers: [aWhatsappPhoneNumber({ id, phoneNumberId })] }),
        ),
      }),
    ];

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

    it('the whatsapp store rejects a tree that is too long to be read and written as a whole', async () => {
      await run(({ projects }) => projects.insert([aProject({ id: A })]));
      const long = aWhatsappBusiness({ name: 'x'.repeat(TREE_CHARACTERS_MAX) });
      await run(({ whatsapp }) => whatsapp.replace(A, [aWhatsappBusiness()]));
      await expect(run(({ whatsapp }) => whatsapp.replace(A, [long]))).rejects.toThrow(
        'more than 16777216 characters',
      );
      const trees = await read(({ whatsapp }) => whatsapp.byProjectIds([A]));
      expect(trees.get(A)).toEqual([aWhatsappBusiness()]);
    });

    it('the whatsapp store reads the trees of live projects one after another, in the order of the projects', async () => {
      await openWithDev();
      await run(({ whatsapp }) => whatsapp.replace(C, [aWhatsappBusiness({ name: 'Other' })]));
      await run(({ whatsapp }) => whatsapp.replace(B, [aWhatsappBusiness()]));
      await run(({ whatsapp }) => whatsapp.replace(A, [aWhatsappBusiness()]));
      const nextLive = (after: string | null) => read(({ whatsapp }) => whatsapp.nextLive(after));
      expect(await nextLive(null)).toEqual([A, [aWhatsappBusiness()]]);
      expect(await nextLive(A)).toEqual([C, [aWhatsappBusiness({ name: 'Other' })]]);
      expect(await nextLive(C)).toBeNull();
    });

    it('the whatsapp store finds the numbers in the trees of live projects as they were written last', async () => {
      await openWithDev();
      const found = async () => [...(await read(({ whatsapp }) => whatsapp.phoneIdsOf(['1', '2', '3'])))];
      await run(({ whatsapp }) => whatsapp.replace(C, treeOfNumbers(['1', 'c1'], ['2', 'c2'])));
      await run(({ whatsapp }) => whatsapp.replace(B, treeOfNumbers(['3', 'of-dev'])));
      expect(await found()).toEqual([
        ['1', 'c1'],
        ['2', 'c2'],
      ]);
      await run(({ whatsapp }) => whatsapp.replace(A, treeOfNumbers(['1', 'a1'], ['1', 'again'])));
      expect(await found()).toEqual([
        ['1', 'a1'],
        ['2', 'c2'],
      ]);
      await run(({ whatsapp }) => whatsapp.replace(A, treeOfNumbers(['3', 'a3'])));
      await run(({ whatsapp }) => whatsapp.replace(C, []));
      expect(await found()).toEqual([['3', 'a3']]);
    });

    it('the whatsapp store finds a number that has moved where it is not deleted, whichever comes first', async () => {
      await openWithDev();
      const account = (platformId: string, id: string, status: string) =>
        aWhatsappAccount({
          phoneNumbers: [aWhatsappPhoneNumber({ id, phoneNumberId: platformId, status })],
        });
      const treeOf = (...whatsappAccounts: readonly WhatsappAccount[]) => [
        aWhatsappBusiness({ whatsappAccounts }),
      ];
      await run(({ whatsapp }) =>
        whatsapp.replace(A, treeOf(account('1', 'a-old', 'DELETED'), account('2', 'a-gone', 'DELETED'))),
      );
      await run(({ whatsapp }) =>
        whatsapp.replace(
          C,
          treeOf(
            account('1', 'c-new', 'CONNECTED'),
            account('3', 'c-old', 'DELETED'),
            account('3', 'c-now', 'CONNECTED'),
          ),
        ),
      );
      expect([...(await read(({ whatsapp }) => whatsapp.phoneIdsOf(['1', '2', '3'])))]).toEqual([
        ['1', 'c-new'],
        ['2', 'a-gone'],
        ['3', 'c-now'],
      ]);
    });

    it('the whatsapp store finds the number of an archived project only where no other project has it', async () => {
      await openWithDev();
      await run(({ whatsapp }) => whatsapp.replace(A, treeOfNumbers(['1', 'a1'], ['2', 'a2'])));
      await run(({ whatsapp }) => whatsapp.replace(C, treeOfNumbers(['1', 'c1'])));
      await run(({ projects }) => projects.save([{ ...aProject({ id: A }), archivedAt: NOW }]));
      expect([...(await read(({ whatsapp }) => whatsapp.phoneIdsOf(['1', '2'])))]).toEqual([
        ['1', 'c1'],
        ['2', 'a2'],
      ]);
    });

    it('the whatsapp store finds the number of the project that has an inbound webhook for it', async () => {
      await openWithDev();
      await run(({ whatsapp }) => whatsapp.replace(A, treeOfNumbers(['1', 'a1'], ['2', 'a2'])));
      await run(({ whatsapp }) => whatsapp.replace(C, treeOfNumbers(['1', 'c1'], ['2', 'c2'])));
      const webhook = (projectId: string, whatsappPhoneId: string) => ({
        whatsappPhoneId,
        projectId,
        url: 'https://customer.example',
        secret: aSealedSecret('sealed'),
        nextSecret: null,
        nextSecretFrom: null,
      });
      const found = async () => [...(await read(({ whatsapp }) => whatsapp.phoneIdsOf(['1', '2'])))];
      await run(({ inboundWebhooks }) => inboundWebhooks.insert([webhook(C, 'c1')]));
      expect(await found()).toEqual([
        ['1', 'c1'],
        ['2', 'a2'],
      ]);
      await run(({ inboundWebhooks }) => inboundWebhooks.insert([webhook(A, 'a1')]));
      expect(await found()).toEqual([
        ['1', 'a1'],
        ['2', 'a2'],
      ]);
    });

    it.each(['\u0000', '\\u0000', '\\\u0000', '\ud800', 'a\\'])(
      'the whatsapp store finds the numbers of a tree with the characters %j',
      async (name) => {
        await openWithDev();
        const tree = treeOfNumbers(['1', 'a1']).map((business) => ({ ...business, name }));
        await run(({ whatsapp }) => whatsapp.replace(A, tree));
        expect([...(await read(({ whatsapp }) => whatsapp.phoneIdsOf(['1'])))]).toEqual([['1', 'a1']]);
        expect((await read(({ whatsapp }) => whatsapp.byProjectIds([A]))).get(A)).toEqual(tree);
      },
    );

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

    it('the installation store finds the last value that was set, and null for an unknown name', async () => {
      expect(await read(({ installation }) => installation.find('name'))).toBeNull();
      await run(({ installation }) => installation.set('name', 'one'));
      await run(({ installation }) => installation.set('name', 'two'));
      expect(await read(({ installation }) => installation.find('name'))).toBe('two');
    });
  });
}
