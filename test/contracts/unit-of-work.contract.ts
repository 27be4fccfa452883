import { beforeEach, expect, it } from 'vitest';
import { startAttemptJob } from '../../src/application/jobs/attempt-jobs.ts';
import type { Stores } from '../../src/application/ports/stores.ts';
import { depositEntry, differencesOf, holdEntry } from '../../src/domain/billing/ledger.ts';
import { iqd, subtract, ZERO } from '../../src/domain/shared/money.ts';
import {
  aLedgerEntry,
  aMessage,
  aNewAccount,
  anSmsId,
  aProject,
  NOW,
  PROJECT_ID,
} from '../support/builders.ts';
import { MeetingPoint, type Storage, storageOfSuite } from './storage.ts';

const OTHER_PROJECT_ID = '664abc000000000000000002';

const SPENDERS = 8;
const PRICE = iqd(100);
const AFFORDABLE = 3;
/** Round trips between reading and writing, so that every spender who may read has read before one writes. */
const DELIBERATIONS = 5;

/** What every unit of work promises, whatever keeps the data. */
export function unitOfWorkContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);
  beforeEach(() => storage.run(openTwoAccounts));

  it('a unit of work commits everything that the work wrote, and resolves with its result', async () => {
    const result = await storage.unitOfWork.run(async (stores) => {
      await writeEverywhere(stores);
      return 'result';
    });
    expect(result).toBe('result');
    expect(await readEverywhere()).toEqual({ messages: 1, balance: iqd(100), entries: iqd(100), dueAt: NOW });
  });

  it('a unit of work rolls back everything when the work throws, and rejects with its error', async () => {
    const thrown = new Error('the work had to stop');
    const unit = storage.unitOfWork.run(async (stores) => {
      await writeEverywhere(stores);
      throw thrown;
    });
    await expect(unit).rejects.toBe(thrown);
    expect(await readEverywhere()).toEqual({ messages: 0, balance: ZERO, entries: ZERO, dueAt: null });
  });

  it('a unit of work runs after one that failed', async () => {
    await expect(
      storage.unitOfWork.run(() => Promise.reject(new Error('the work had to stop'))),
    ).rejects.toThrow('the work had to stop');
    await storage.unitOfWork.run(writeEverywhere);
    expect(await readEverywhere()).toEqual({ messages: 1, balance: iqd(100), entries: iqd(100), dueAt: NOW });
  });

  it('a unit of work rolls back everything when a statement failed, even if the work went on', async () => {
    const unit = storage.unitOfWork.run(async (stores) => {
      await writeEverywhere(stores);
      await stores.messages.insert([aMessage()]).catch(() => {});
      return 'went on';
    });
    await expect(unit).rejects.toThrow(/unique|duplicate/i);
    expect(await readEverywhere()).toEqual({ messages: 0, balance: ZERO, entries: ZERO, dueAt: null });
  });

  it('a unit of work rejects with its first failure, whatever statements came behind it', async () => {
    const unit = storage.unitOfWork.run(async (stores) => {
      await Promise.allSettled([
        stores.messages.insert([aMessage(), aMessage()]),
        stores.jobs.add([startAttemptJob(aMessage(), 0, NOW)], NOW),
        stores.projects.byIds([PROJECT_ID]),
      ]);
    });
    await expect(unit).rejects.toThrow(/unique|duplicate/i);
    expect(await readEverywhere()).toEqual({ messages: 0, balance: ZERO, entries: ZERO, dueAt: null });
  });

  it('units of work are repeated when their writes deadlock', async () => {
    const { unitOfWork } = storage;
    const bothHoldOne = new MeetingPoint(Math.min(2, storage.concurrency));
    const postBoth = (reference: string, first: string, second: string) =>
      unitOfWork.run(async (stores) => {
        const deposit = (projectId: string) =>
          depositEntry({ projectId, reference: `${reference}-${projectId}`, at: NOW }, iqd(1));
        await stores.ledger.post([deposit(first)]);
        // A reply behind it: the first account is locked.
        await stores.projects.byIds([first]);
        await bothHoldOne.meet();
        await stores.ledger.post([deposit(second)]);
      });
    await Promise.all([
      postBoth('one', PROJECT_ID, OTHER_PROJECT_ID),
      postBoth('two', OTHER_PROJECT_ID, PROJECT_ID),
    ]);
    const accounts = await unitOfWork.read((stores) =>
      stores.accounts.byProjectIds([PROJECT_ID, OTHER_PROJECT_ID]),
    );
    expect(accounts.map(({ balance }) => balance)).toEqual([iqd(2), iqd(2)]);
  });

  it('units of work let exactly as many spenders win as the credit pays for', async () => {
    const { unitOfWork } = storage;
    await unitOfWork.run((stores) =>
      stores.ledger.post([
        depositEntry({ projectId: PROJECT_ID, reference: 'opening', at: NOW }, iqd(100 * AFFORDABLE)),
      ]),
    );
    const start = new MeetingPoint(Math.min(SPENDERS, storage.concurrency));
    const spend = (spender: number) =>
      unitOfWork.run(async (stores) => {
        await start.meet();
        const [account] = await stores.accounts.lock([PROJECT_ID]);
        for (let turn = 0; turn < DELIBERATIONS; turn += 1) await stores.projects.byIds([PROJECT_ID]);
        if (account === undefined || subtract(account.balance, account.held) < PRICE) return 'rejected';
        await stores.ledger.post([
          holdEntry({ projectId: PROJECT_ID, reference: `spender-${spender}`, at: NOW }, PRICE),
        ]);
        return 'won';
      });
    const outcomes = await Promise.all(Array.from({ length: SPENDERS }, (_, spender) => spend(spender)));
    expect(outcomes.filter((outcome) => outcome === 'won')).toHaveLength(AFFORDABLE);
    const { accounts, differences } = await unitOfWork.read(async (stores) => ({
      accounts: await stores.accounts.byProjectIds([PROJECT_ID]),
      differences: (await stores.ledger.audit()).flatMap((row) => differencesOf(row.account, row.entries)),
    }));
    expect(accounts[0]?.held).toBe(iqd(300));
    expect(differences).toEqual([]);
  });

  it('units of work are repeated when their locks deadlock', async () => {
    const { unitOfWork } = storage;
    const bothHoldOne = new MeetingPoint(Math.min(2, storage.concurrency));
    const lockBoth = (reference: string, first: string, second: string) =>
      unitOfWork.run(async (stores) => {
        await stores.accounts.lock([first]);
        await bothHoldOne.meet();
        await stores.accounts.lock([second]);
        await stores.ledger.post([depositEntry({ projectId: first, reference, at: NOW }, iqd(1))]);
      });
    await Promise.all([
      lockBoth('one', PROJECT_ID, OTHER_PROJECT_ID),
      lockBoth('two', OTHER_PROJECT_ID, PROJECT_ID),
    ]);
    const accounts = await unitOfWork.read((stores) =>
      stores.accounts.byProjectIds([PROJECT_ID, OTHER_PROJECT_ID]),
    );
    expect(accounts.map(({ balance }) => balance)).toEqual([iqd(1), iqd(1)]);
  });

  it('a reader sees nothing of a unit of work that is not committed', async () => {
    const { unitOfWork } = storage;
    const written = new MeetingPoint(2);
    const mayEnd = new MeetingPoint(2);
    const unit = unitOfWork.run(async (stores) => {
      await stores.messages.insert([aMessage()]);
      await written.meet();
      await mayEnd.meet();
      for (let turn = 0; turn < DELIBERATIONS; turn += 1) await stores.projects.byIds([PROJECT_ID]);
      throw new Error('undone after all');
    });
    // Claimed before the wait, for it rejects while nobody listens otherwise.
    const ended = expect(unit).rejects.toThrow('undone after all');
    await written.meet();
    const reading = unitOfWork.read((stores) => stores.messages.find(PROJECT_ID, anSmsId()));
    await mayEnd.meet();
    await ended;
    expect(await reading).toBeNull();
  });

  it('a read rejects every change', async () => {
    await expect(storage.unitOfWork.read(writeEverywhere)).rejects.toThrow('only a transaction changes');
    expect(await readEverywhere()).toEqual({ messages: 0, balance: ZERO, entries: ZERO, dueAt: null });
  });

  it('a unit of work rejects the use of its stores after it has ended', async () => {
    const kept = await storage.unitOfWork.run(async (stores) => ({ stores }));
    await expect(kept.stores.messages.insert([aMessage()])).rejects.toThrow('while their unit of work runs');
    expect((await readEverywhere()).messages).toBe(0);
  });

  it('the database responds to a ping', async () => {
    await expect(storage.unitOfWork.ping()).resolves.toBeUndefined();
  });

  async function readEverywhere() {
    return storage.unitOfWork.read(async (stores) => {
      const audit = await stores.ledger.audit();
      const own = audit.find(({ account }) => account.projectId === PROJECT_ID);
      return {
        messages: (await stores.messages.lock([anSmsId()])).length,
        balance: own?.account.balance,
        entries: own?.entries.balance,
        dueAt: (await stores.jobs.nextDue())?.dueAt ?? null,
      };
    });
  }
}

async function openTwoAccounts(stores: Stores): Promise<void> {
  await stores.projects.insert([
    aProject({ id: PROJECT_ID, slug: 'one' }),
    aProject({ id: OTHER_PROJECT_ID, slug: 'two' }),
  ]);
  await stores.accounts.insert([
    aNewAccount({ projectId: PROJECT_ID }),
    aNewAccount({ projectId: OTHER_PROJECT_ID }),
  ]);
}

async function writeEverywhere(stores: Stores): Promise<void> {
  await stores.messages.insert([aMessage()]);
  await stores.ledger.post([aLedgerEntry()]);
  await stores.jobs.add([startAttemptJob(aMessage(), 0, NOW)], NOW);
}
