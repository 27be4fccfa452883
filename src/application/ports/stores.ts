import type { AuditLogStore } from './audit-log-store.ts';
import type { AccountStore, LedgerStore } from './billing-stores.ts';
import type {
  CampaignStore,
  ConversationStore,
  RecipientStore,
  SendingSlotStore,
} from './campaign-stores.ts';
import type { PriceStore, SenderIdStore, WhatsappStore } from './catalog-stores.ts';
import type { IdempotencyStore } from './idempotency-store.ts';
import type { InstallationStore } from './installation-store.ts';
import type { JobStore } from './job-store.ts';
import type { MessageStore } from './message-store.ts';
import type { ProjectStore } from './project-store.ts';
import type { ReportStore } from './report-store.ts';
import type { SubmissionStore } from './submission-store.ts';
import type { CircuitBreakerStore, InboundWebhookStore, WebhookEventStore } from './webhook-stores.ts';
import type { WorkerStore } from './worker-store.ts';

/**
 * Everything that one transaction can read and write. Every method is plural: one call per batch. Calls take effect in
 * their order, also without waiting in between. A change that the database rejects fails the unit of work, even when the
 * promise of the change has resolved before.
 */
export interface Stores {
  readonly projects: ProjectStore;
  readonly accounts: AccountStore;
  readonly ledger: LedgerStore;
  readonly senderIds: SenderIdStore;
  readonly prices: PriceStore;
  readonly whatsapp: WhatsappStore;
  readonly messages: MessageStore;
  readonly submissions: SubmissionStore;
  readonly campaigns: CampaignStore;
  readonly recipients: RecipientStore;
  readonly sendingSlots: SendingSlotStore;
  readonly conversations: ConversationStore;
  readonly reports: ReportStore;
  readonly jobs: JobStore;
  readonly idempotency: IdempotencyStore;
  readonly webhookEvents: WebhookEventStore;
  readonly circuitBreakers: CircuitBreakerStore;
  readonly inboundWebhooks: InboundWebhookStore;
  readonly auditLog: AuditLogStore;
  readonly workers: WorkerStore;
  readonly installation: InstallationStore;
}
