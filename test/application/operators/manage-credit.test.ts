import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CreditChange, ManageCredit } from '../../../src/application/operators/manage-credit.ts';
import { holdEntry, settlementEntry } from '../../../src/domain/billing/ledger.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { lowCreditEvent } from '../../../src/domain/webhooks/credit-event.ts';
import { type ApplicationWorld, aSeedProject, openApplication } from '../../support/application-world.ts';
import { anAccount, anSmsId, aPhoneNumber, aProject, NOW, PROJECT_ID } from '../../support/builders.ts';

const HEX_ID = /^[0-9a-f]{24}$/;
const LOW_CREDIT = { amount: iqd(500), webhookUrl: 'https://shop.example/credit', webhookSecret: null };
const AUDITED = { balance: 1_000, held: 0, spent: 0, isTrial: true };

describe('the credit of a project, for operators', () => {
  let world: ApplicationWorld;
  let manageCredit: ManageCredit;

  /** A trial project with 1,000 IQD that is told of credit below 500 IQD. */
  beforeEach(async () => {
    const project = aProject({ settings: { rateLimit: null, lowCredit: LOW_CREDIT } });
    const account = {
      paymentType: 'prepaid',
      spendingThreshold: null,
      trialPhoneNumber: aPhoneNumber(),
    } as const;
    world = await openApplication({ projects: [aSeedProject({ project, account })] });
    manageCredit = world.container.get(ManageCredit);
  });
  afterEach(() => world.close());

  const change = (given: Partial<CreditChange> = {}): CreditChange => ({
    actor: 'operator',
    project: PROJECT_ID,
    amount: iqd(100),
    reason: null,
    idempotency: null,
    ...given,
  });
  const keyed = (requestHash: string) => ({ route: 'top-up', key: 'one', requestHash });
  const entry = (id: string) => world.unitOfWork.read(({ ledger }) => ledger.byIds([id]));
  const records = () =>
    world.unitOfWork.read(({ auditLog }) => auditLog.list({ projectId: null, before: null, limit: 10 }));
  const notices = () =>
    world.unitOfWork.read(({ webhookEvents }) =>
      webhookEvents.ofProject(PROJECT_ID, { after: '', last: 'g' }, 10),
    );

  /** A hold of 80 IQD, of which 60 are captured when `isSettled`. */
  const hold = (isSettled: boolean) =>
    world.unitOfWork.run(async ({ ledger }) => {
      const occurrence = { projectId: PROJECT_ID, reference: anSmsId(), at: NOW };
      await ledger.post([holdEntry(occurrence, iqd(80))]);
      if (isSettled) await ledger.post([settlementEntry(occurrence, iqd(80), iqd(60))]);
    });

  it('a top-up adds to the balance, ends the trial, and is in the ledger and the audit log under one id', async () => {
    const { id, account, replayed } = await manageCredit.topUp(change({ reason: 'Paid in cash' }));

    expect(id).toMatch(HEX_ID);
    expect(replayed).toBe(false);
    expect(account).toEqual(anAccount({ balance: iqd(1_100) }));
    expect(await world.account()).toEqual(account);
    expect(await entry(`${id}/deposit`)).toEqual([
      {
        id: `${id}/deposit`,
        projectId: PROJECT_ID,
        kind: 'deposit',
        reference: id,
        balanceDelta: iqd(100),
        heldDelta: 0,
        spentDelta: 0,
        createdAt: NOW,
      },
    ]);
    expect(await records()).toEqual([
      {
        id,
        at: NOW,
        actor: 'operator',
        action: 'credit-added',
        projectId: PROJECT_ID,
        before: AUDITED,
        after: { ...AUDITED, balance: 1_100, isTrial: false, amount: 100, reason: 'Paid in cash' },
      },
    ]);
  });

  it('a correction changes the balance only, and a trial goes on', async () => {
    const { id, account } = await manageCredit.correct(
      change({ actor: 'cli', project: 'demo', amount: iqd(-100.5) }),
    );

    expect(account).toEqual(anAccount({ balance: iqd(899.5), trialPhoneNumber: aPhoneNumber() }));
    expect(await world.account()).toEqual(account);
    expect(await entry(`${id}/correction`)).toMatchObject([
      { kind: 'correction', balanceDelta: iqd(-100.5) },
    ]);
    expect(await records()).toEqual([
      {
        id,
        at: NOW,
        actor: 'cli',
        action: 'credit-corrected',
        projectId: PROJECT_ID,
        before: AUDITED,
        after: { ...AUDITED, balance: 899.5, amount: -100.5, reason: null },
      },
    ]);
  });

  it('a correction that leaves less than is held is rejected, and changes nothing', async () => {
    await hold(false);
    await expect(manageCredit.correct(change({ amount: iqd(-920.001) }))).rejects.toMatchObject({
      rejection: { kind: 'balance-below-holds', balance: iqd(1_000), held: iqd(80) },
    });
    expect(await world.account()).toMatchObject({ balance: iqd(1_000), held: iqd(80) });
    expect(await records()).toEqual([]);

    expect((await manageCredit.correct(change({ amount: iqd(-920) }))).account.balance).toBe(iqd(80));
  });

  it('a change with the key of an earlier one is done once, and has the same result', async () => {
    const first = await manageCredit.topUp(change({ idempotency: keyed('a') }));
    const again = await manageCredit.topUp(change({ idempotency: keyed('a') }));
    expect(again).toEqual({ ...first, replayed: true });
    expect((await world.account()).balance).toBe(iqd(1_100));
    expect(await records()).toHaveLength(1);

    await expect(manageCredit.topUp(change({ idempotency: keyed('b') }))).rejects.toMatchObject({
      rejection: { kind: 'idempotency-conflict' },
    });
    expect((await world.account()).balance).toBe(iqd(1_100));
  });

  it('a change of a project that does not exist is rejected', async () => {
    const rejected = { rejection: { kind: 'project-not-found' } };
    await expect(manageCredit.topUp(change({ project: 'none' }))).rejects.toMatchObject(rejected);
    await expect(manageCredit.correct(change({ project: 'none' }))).rejects.toMatchObject(rejected);
    await expect(manageCredit.resetThreshold('cli', 'none')).rejects.toMatchObject(rejected);
  });

  it('a reset sets what counts against the threshold to zero, and leaves balance and holds', async () => {
    await hold(true);
    const { id, account, replayed } = await manageCredit.resetThreshold('cli', 'demo');

    expect(replayed).toBe(false);
    expect(account).toEqual(anAccount({ balance: iqd(940), trialPhoneNumber: aPhoneNumber() }));
    expect(await world.account()).toEqual(account);
    expect(await entry(`${id}/threshold-reset`)).toMatchObject([
      { balanceDelta: 0, heldDelta: 0, spentDelta: iqd(-60), createdAt: NOW },
    ]);
    expect(await records()).toEqual([
      {
        id,
        at: NOW,
        actor: 'cli',
        action: 'threshold-reset',
        projectId: PROJECT_ID,
        before: { ...AUDITED, balance: 940, spent: 60 },
        after: { ...AUDITED, balance: 940 },
      },
    ]);
  });

  it('a correction to below the amount of the setting tells the customer once, and a top-up arms the notice again', async () => {
    await manageCredit.correct(change({ amount: iqd(-500) }));
    expect(await notices()).toEqual([]);
    expect(world.logger.count('credit_low')).toBe(0);

    await manageCredit.correct(change({ amount: iqd(-0.5) }));
    await manageCredit.correct(change({ amount: iqd(-1) }));

    const [event, ...others] = await notices();
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      ...lowCreditEvent(event?.id ?? '', {
        projectId: PROJECT_ID,
        slug: 'demo',
        credit: iqd(499.5),
        lowCredit: LOW_CREDIT,
        at: NOW,
      }),
      nextAttemptAt: NOW,
    });
    expect(world.logger.entries.filter(({ event: name }) => name === 'credit_low')).toEqual([
      { level: 'info', event: 'credit_low', fields: { projectId: PROJECT_ID, credit: 499.5, amount: 500 } },
    ]);
    expect((await world.account()).lowCreditNoticedAt).toBe(NOW);

    await manageCredit.topUp(change({ amount: iqd(1) }));
    expect((await world.account()).lowCreditNoticedAt).toBe(NOW);
    await manageCredit.topUp(change({ amount: iqd(0.5) }));
    expect((await world.account()).lowCreditNoticedAt).toBeNull();
  });
});
