import type { Money } from '../shared/money.ts';
import type { SealedSecret } from '../shared/sealed-secret.ts';
import { type Account, creditOf } from './account.ts';

/** Below which credit a prepaid project is told, and where. */
export interface LowCredit<Secret = SealedSecret> {
  readonly amount: Money;
  readonly webhookUrl: string;
  readonly webhookSecret: Secret | null;
}

/** The credit of a project fell below the amount of its setting. */
export interface LowCreditNotice {
  readonly projectId: string;
  readonly slug: string;
  /** What was left when the line was crossed. */
  readonly credit: Money;
  readonly lowCredit: LowCredit;
  /** Milliseconds since 1970. */
  readonly at: number;
}

interface NoticedProject {
  readonly id: string;
  readonly slug: string;
  readonly settings: { readonly lowCredit: LowCredit | null };
}

/**
 * The notice that the change of an account calls for: the credit of a prepaid project sank to below the amount, and there was no
 * notice since it was last armed. Null without one, and without a setting.
 */
export function lowCreditNotice(
  { id, slug, settings: { lowCredit } }: NoticedProject,
  before: Account,
  after: Account,
  at: number,
): LowCreditNotice | null {
  if (lowCredit === null || before.lowCreditNoticedAt !== null || after.paymentType !== 'prepaid')
    return null;
  const credit = creditOf(after);
  if (credit >= lowCredit.amount || credit >= creditOf(before)) return null;
  return { projectId: id, slug, credit, lowCredit, at };
}

/**
 * Whether an operator's change arms the notice again: there was one, and the credit is at the amount or above, or the setting is
 * off. Released holds do not ask: one notice for each top-up is enough.
 */
export function armsLowCredit(account: Account, lowCredit: LowCredit | null): boolean {
  if (account.lowCreditNoticedAt === null) return false;
  return lowCredit === null || creditOf(account) >= lowCredit.amount;
}

/** The stored setting after a change: without a new secret the stored one stays for as long as the address stays. */
export function changedLowCredit(before: LowCredit | null, given: LowCredit | null): LowCredit | null {
  if (given === null || given.webhookSecret !== null || before?.webhookUrl !== given.webhookUrl) return given;
  return { ...given, webhookSecret: before.webhookSecret };
}

/** Whether two stored settings are the same; a secret that was given again is another one. */
export function isSameLowCredit(one: LowCredit | null, other: LowCredit | null): boolean {
  return (
    one?.amount === other?.amount &&
    one?.webhookUrl === other?.webhookUrl &&
    one?.webhookSecret === other?.webhookSecret
  );
}
