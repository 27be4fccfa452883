import type { AuditLogStore } from './stores/audit-log-store.ts';
import type { AccountStore, LedgerStore } from './stores/billing-stores.ts';
import type {
  CampaignStore,
  ConversationStore,
  RecipientStore,
  SendingSlotStore,
} from './stores/campaign-stores.ts';
import type { SenderIdStore, WhatsappStore } from './stores/catalog-stores.ts';
import type { DeadLetterStore } from './stores/dead-letter-store.ts';
import type { IdempotencyStore } from './stores/idempotency-store.ts';
import type { InstallationStore } from './stores/installation-store.ts';
import type { JobStore } from './stores/job-store.ts';
import type { JobSurveyStore } from './stores/job-survey-store.ts';
import type { MessageSearchStore } from './stores/message-search-store.ts';
import type { MessageStore } from './stores/message-store.ts';
import type { PriceVersionStore } from './stores/price-version-store.ts';
import type { ProjectStore } from './stores/project-store.ts';
import type { ReportStore } from './stores/report-store.ts';
import type { RetentionStore } from './stores/retention-stores.ts';
import type { SubmissionStore } from './stores/submission-store.ts';
import type { WebhookAttemptStore } from './stores/webhook-attempt-store.ts';
import type { WebhookLogStore } from './stores/webhook-log-store.ts';
import type { CircuitBreakerStore, InboundWebhookStore, WebhookEventStore } from './stores/webhook-stores.ts';
import type { WorkerStore } from './stores/worker-store.ts';

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
