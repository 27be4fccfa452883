import type { Project } from '../../domain/access/project.ts';
import { type Account, creditOf, type PaymentType } from '../../domain/billing/account.ts';
import type { KeyedRequest } from '../../domain/idempotency/idempotency.ts';
import type { SendRequest } from '../../domain/messages/send-request.ts';
import type { Money } from '../../domain/shared/money.ts';
import type { PlainSecret } from '../../domain/shared/sealed-secret.ts';

/** One request to send a message. */
export interface SendCommand {
  readonly project: Project;
  readonly request: SendRequest<PlainSecret>;
  /** Null for a request without an Idempotency-Key. */
  readonly idempotency: KeyedRequest | null;
}

/** A command in the form that is stored, with the id its message will have. */
export interface PendingSend extends Omit<SendCommand, 'request'> {
  readonly request: SendRequest;
  readonly smsId: string;
  /** Whether its project has to wait. A repeat of an accepted request does not. */
  readonly hasTooManyUntried: boolean;
}

/** What the caller of an accepted send is told. */
export interface SendResult {
  readonly smsId: string;
  /** The credit of the account after the hold. */
  readonly remainingCredit: Money;
  readonly cost: Money;
  readonly canCover: boolean;
  readonly paymentType: PaymentType;
  /** True for the result of an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean;
}

/** The result of an accepted send; `account` is the account after the hold. */
export function sendResult(smsId: string, account: Account, cost: Money): SendResult {
  return {
    smsId,
    remainingCredit: creditOf(account),
    cost,
    canCover: true,
    paymentType: account.paymentType,
    replayed: false,
  };
}
