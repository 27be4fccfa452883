import type { BalanceBelowHolds, BalanceTooLarge } from '../../domain/billing/account.ts';
import type { PriceMistake } from '../../domain/billing/price-row.ts';
import type { PriceScheduleRejection } from '../../domain/billing/price-version.ts';
import type { AttachRejection } from '../../domain/campaigns/attach-recipients.ts';
import type { CampaignStatus } from '../../domain/campaigns/campaign.ts';
import type { PlanRejection } from '../../domain/campaigns/plan-campaign.ts';
import type { StartRejection } from '../../domain/campaigns/start-campaign.ts';
import type { IdempotencyConflict } from '../../domain/idempotency/idempotency.ts';
import type { SendRejection } from '../../domain/messages/send-policy.ts';
import type { ReportStatus, TooManyReports } from '../../domain/reports/report.ts';
import type { TestNumberRejected } from '../../domain/sandbox/sandbox-send.ts';
import type { SenderIdRequestRejection } from '../../domain/senders/managed-sender-id.ts';
import type { ResourceUse } from '../../domain/whatsapp/resource-changes.ts';

/** The project has to wait until workers have tried what it has sent before. */
export interface TooManyUntried {
  readonly kind: 'too-many-untried';
}

/** Every reason why a well-formed request is not done. */
export type Rejection =
  | SendRejection
  | TestNumberRejected
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'ip-not-allowed' }
  | { readonly kind: 'message-not-found' }
  /** No price list is in force: neither a seed file nor an operator has set one. */
  | { readonly kind: 'no-prices' }
  | IdempotencyConflict
  /** `field` has the address; `deliveryReport.webhookUrl` when it is left out. */
  | { readonly kind: 'webhook-url-refused'; readonly field?: string }
  | TooManyUntried
  | { readonly kind: 'campaign-not-found' }
  /** The project has as many campaigns that have not started as it may have. */
  | { readonly kind: 'too-many-campaigns' }
  /** The campaigns of the project that have not started would have more recipients than they may have together. */
  | { readonly kind: 'too-many-unstarted-recipients' }
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
  /** Its webhooks cannot be listened to. */
  | { readonly kind: 'project-not-dev' }
  | { readonly kind: 'slug-taken' }
  | { readonly kind: 'key-not-found' }
  /** A rotation of a key that is revoked or has ended. */
  | { readonly kind: 'key-not-working' }
  /** The project has as many keys that work as it may have. */
  | { readonly kind: 'too-many-keys' }
  | BalanceBelowHolds
  | BalanceTooLarge
  /** Dropping a job of this kind would leave something open for ever. */
  | { readonly kind: 'job-not-droppable'; readonly jobKind: string }
  | { readonly kind: 'unknown-sender-id' }
  | SenderIdRequestRejection
  /** No whatsapp number of the project has this id. */
  | { readonly kind: 'phone-number-not-found' }
  | { readonly kind: 'inbound-webhook-not-found' }
  | { readonly kind: 'inbound-webhook-exists' }
  /** The overlap of an earlier rotation goes on. */
  | { readonly kind: 'secret-in-rotation' }
  | { readonly kind: 'webhook-event-not-found' }
  /** A webhook event that was delivered, is due, or was replaced by a newer one. */
  | { readonly kind: 'webhook-event-not-resendable' }
  /** An inbound event whose number has no inbound webhook of its project now. */
  | { readonly kind: 'webhook-event-without-webhook' }
  | { readonly kind: 'circuit-not-open' }
  | { readonly kind: 'invalid-prices'; readonly mistakes: readonly PriceMistake[] }
  /** The first price list of the installation, without all system prices. */
  | { readonly kind: 'incomplete-prices' }
  | PriceScheduleRejection
  /** An apply that names no preview of the same import, or one from before another change. */
  | { readonly kind: 'preview-outdated' }
  | { readonly kind: 'unknown-price-version' }
  /** A withdrawal of what is in force, or is within moments. */
  | { readonly kind: 'prices-in-force' }
  /** A tree without resources that something uses. */
  | { readonly kind: 'whatsapp-resource-in-use'; readonly inUse: readonly ResourceUse[] };

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
