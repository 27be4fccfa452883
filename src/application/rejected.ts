import type { BalanceBelowHolds } from '../domain/billing/account.ts';
import type { AttachRejection } from '../domain/campaigns/attach-recipients.ts';
import type { CampaignStatus } from '../domain/campaigns/campaign.ts';
import type { PlanRejection } from '../domain/campaigns/plan-campaign.ts';
import type { StartRejection } from '../domain/campaigns/start-campaign.ts';
import type { IdempotencyConflict } from '../domain/idempotency/idempotency.ts';
import type { SendRejection } from '../domain/messages/send-policy.ts';
import type { ReportStatus, TooManyReports } from '../domain/reports/report.ts';
import type { TestNumberRejected } from '../domain/sandbox/sandbox-send.ts';
import type { TooManyUntried } from './messages/untried-messages.ts';

/** Every reason why a well-formed request is not done. */
export type Rejection =
  | SendRejection
  | TestNumberRejected
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'ip-not-allowed' }
  | { readonly kind: 'message-not-found' }
  | IdempotencyConflict
  | { readonly kind: 'webhook-url-refused' }
  | TooManyUntried
  | { readonly kind: 'campaign-not-found' }
  /** The project has as many campaigns that have not started as it may have. */
  | { readonly kind: 'too-many-campaigns' }
  /** A start by hand of a campaign that is not a draft. */
  | { readonly kind: 'campaign-not-draft'; readonly status: CampaignStatus }
  | PlanRejection
  | AttachRejection
  | StartRejection
  | TooManyReports
  | { readonly kind: 'report-not-found' }
  | { readonly kind: 'report-gone'; readonly status: Exclude<ReportStatus, 'available'> }
  | { readonly kind: 'overloaded' }
  | OperatorRejection;

/** Why a change of an operator is not done. */
export type OperatorRejection =
  | { readonly kind: 'project-not-found' }
  | { readonly kind: 'project-archived' }
  | { readonly kind: 'slug-taken' }
  | { readonly kind: 'key-not-found' }
  /** A rotation of a key that is revoked or has ended. */
  | { readonly kind: 'key-not-working' }
  /** The project has as many keys that work as it may have. */
  | { readonly kind: 'too-many-keys' }
  | BalanceBelowHolds;

/**
 * Carries a rejection out of a use case: the one exception that tells a caller what to change. Everything else that is
 * thrown is a fault of the program or of its surroundings.
 */
export class Rejected extends Error {
  readonly rejection: Rejection;

  constructor(rejection: Rejection) {
    super(rejection.kind);
    this.name = 'Rejected';
    this.rejection = rejection;
  }
}
