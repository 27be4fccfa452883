import type { AuditLogStore } from './audit-log-store.ts';
import type { AccountStore, LedgerStore } from './billing-stores.ts';
import type {
  CampaignStore,
  ConversationStore,
  RecipientStore,
  SendingSlotStore,
} from './campaign-stores.ts';
import type { PriceStore, SenderIdStore, WhatsappStore } from './catalog-stores.ts';
import type { DeadLetterStore } from './dead-letter-store.ts';
import type { IdempotencyStore } from './idempotency-store.ts';
import type { InstallationStore } from './installation-store.ts';
import type { JobStore } from './job-store.ts';
import type { JobSurveyStore } from './job-survey-store.ts';
import type { MessageSearchStore } from './message-search-store.ts';
import type { MessageStore } from './message-store.ts';
import type { PriceVersionStore } from './price-version-store.ts';
import type { ProjectStore } from './project-store.ts';
import type { ReportStore } from './report-store.ts';
import type { RetentionStore } from './retention-stores.ts';
import type { SubmissionStore } from './submission-store.ts';
import type { WebhookAttemptStore } from './webhook-attempt-store.ts';
import type { WebhookLogStore } from './webhook-log-store.ts';
import type { CircuitBreakerStore, InboundWebhookStore, WebhookEventStore } from './webhook-stores.ts';
import type { WorkerStore } from './worker-store.ts';

/**
 * Everything that one transaction can read and write. What the way of a message calls takes lists: one call per batch. Calls
 * take effect in their order, also without waiting in between. A change that the database rejects fails the unit of work, even
 * when the promise of the change has resolved before.
 */
export interface Stores {
  readonly projects: ProjectStore;
  readonly accounts: AccountStore;
  readonly ledger: LedgerStore;
  readonly senderIds: SenderIdStore;
  readonly prices: PriceStore;
  readonly priceVersions: PriceVersionStore;
  readonly whatsapp: WhatsappStore;
  readonly messages: MessageStore;
  readonly messageSearch: MessageSearchStore;
  readonly submissions: SubmissionStore;
  readonly campaigns: CampaignStore;
  readonly recipients: RecipientStore;
  readonly sendingSlots: SendingSlotStore;
  readonly conversations: ConversationStore;
  readonly reports: ReportStore;
  readonly retention: RetentionStore;
  readonly jobs: JobStore;
  readonly jobSurvey: JobSurveyStore;
  readonly deadLetters: DeadLetterStore;
  readonly idempotency: IdempotencyStore;
  readonly webhookEvents: WebhookEventStore;
  readonly webhookAttempts: WebhookAttemptStore;
  readonly webhookLog: WebhookLogStore;
  readonly circuitBreakers: CircuitBreakerStore;
  readonly inboundWebhooks: InboundWebhookStore;
  readonly auditLog: AuditLogStore;
  readonly workers: WorkerStore;
  readonly installation: InstallationStore;
}
