import { auditedAccount } from '../../domain/audit/audited.ts';
import { type Account, correctionRejection, topUpRejection } from '../../domain/billing/account.ts';
import { correctionEntry, depositEntry, thresholdResetEntry } from '../../domain/billing/ledger.ts';
import { type LowCreditNotice, lowCreditNotice } from '../../domain/billing/low-credit.ts';
import type { KeyedRequest } from '../../domain/idempotency/idempotency.ts';
import type { Actor } from '../../domain/shared/actor.ts';
import { add, type Money, toIqd, ZERO } from '../../domain/shared/money.ts';
import { recordChange } from '../audit/record-change.ts';
import { lockedAccount } from '../billing/account-of.ts';
import type { NoticeLowCredit } from '../billing/notice-low-credit.ts';
import { Rejected } from '../errors/rejected.ts';
import { runKeyed } from '../idempotency.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { RequestHasher } from '../ports/request-hasher.ts';
import type { ManagedProject } from '../ports/stores/project-store.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { lockedProject, projectNamed } from './named-project.ts';

/** An amount that an operator adds to the balance of a project, or takes from it. */
export interface CreditChange {
  readonly actor: Actor;
  /** An id or a slug. */
  readonly project: string;
  readonly amount: Money;
  /** Why, for the audit log; null when nothing was said. */
  readonly reason: string | null;
  readonly idempotency: KeyedRequest | null;
}

/** The account after a change. JSON can carry it. */
export interface CreditResult {
  /** The audit record, and the reference of the ledger entry. */
  readonly id: string;
  readonly account: Account;
  readonly replayed: boolean;
}

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly requestHasher: RequestHasher;
  readonly noticeLowCredit: NoticeLowCredit;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/**
 * The money of projects, for operators. Each change, its ledger entry and its audit record are one transaction, behind the lock
 * of the account that sends take too. It may arm the notice of low credit again, or call for one.
 */
export class ManageCredit {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Adds credit; the first credit ends the trial of the project. Rejects as `project-not-found` or `balance-too-large`. */
  topUp(change: CreditChange): Promise<CreditResult> {
    return this.#post(change, 'credit-added');
  }

  /** Corrects the balance. Rejects as `balance-below-holds` what would leave less than is held, and as `balance-too-large`. */
  correct(change: CreditChange): Promise<CreditResult> {
    return this.#post(change, 'credit-corrected');
  }

  /** Sets the count against the spending threshold to zero; open holds count on. */
  resetThreshold(actor: Actor, project: string): Promise<CreditResult> {
    const { unitOfWork, clock, ids } = this.#ports;
    const at = clock.now();
    const id = ids.hex24(at);
    return unitOfWork.run(async (stores) => {
      const { id: projectId } = await projectNamed(stores, project);
      const before = await lockedAccount(stores, projectId);
      const after: Account = { ...before, spent: ZERO };
      await stores.ledger.post([thresholdResetEntry({ projectId, reference: id, at }, before.spent)]);
      await recordChange(stores, { id, actor, at }, 'threshold-reset', projectId, {
        before: auditedAccount(before),
        after: auditedAccount(after),
      });
      return { id, account: after, replayed: false };
    });
  }

  async #post(
    { actor, project, amount, reason, idempotency }: CreditChange,
    action: 'credit-added' | 'credit-corrected',
  ): Promise<CreditResult> {
    const { unitOfWork, requestHasher, noticeLowCredit, clock, ids } = this.#ports;
    const at = clock.now();
    const id = ids.hex24(at);
    const { result, notices } = await unitOfWork.run(async (stores) => {
      let notices: readonly LowCreditNotice[] = [];
      // Locked: a notice goes by the settings that the project has at the commit.
      const owner = await lockedProject(stores, project);
      const projectId = owner.id;
      const before = await lockedAccount(stores, projectId);
      const request = { projectId, request: idempotency };
      const result = await runKeyed({ store: stores.idempotency, requestHasher }, request, at, async () => {
        const occurrence = { projectId, reference: id, at };
        const rejectionOf = action === 'credit-added' ? topUpRejection : correctionRejection;
        const rejection = rejectionOf(before, amount);
        if (rejection !== null) throw new Rejected(rejection);
        if (action === 'credit-corrected') {
          await stores.ledger.post([correctionEntry(occurrence, amount)]);
        } else {
          await stores.ledger.post([depositEntry(occurrence, amount)]);
          await stores.accounts.endTrial([projectId]);
        }
        const after: Account = {
          ...before,
          balance: add(before.balance, amount),
          trialPhoneNumber: action === 'credit-added' ? null : before.trialPhoneNumber,
        };
        notices = await this.#noticeOf(stores, owner, before, after, at);
        await recordChange(stores, { id, actor, at }, action, projectId, {
          before: auditedAccount(before),
          after: { ...auditedAccount(after), amount: toIqd(amount), reason },
        });
        return { id, account: after, replayed: false };
      });
      return { result, notices };
    });
    noticeLowCredit.announce(notices);
    return result;
  }

  /** Arms the notice of low credit again, or writes one; resolves with what to announce after the commit. */
  async #noticeOf(
    stores: Stores,
    project: ManagedProject,
    before: Account,
    after: Account,
    at: number,
  ): Promise<readonly LowCreditNotice[]> {
    const { noticeLowCredit } = this.#ports;
    await noticeLowCredit.arm(stores, project, after);
    const notice = lowCreditNotice(project, before, after, at);
    if (notice === null) return [];
    await noticeLowCredit.write(stores, [notice]);
    return [notice];
  }
}
