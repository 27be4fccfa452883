import type { Project } from '../../domain/access/project.ts';
import type { Account, PaymentType } from '../../domain/billing/account.ts';
import type { AccountDelta, LedgerEntry } from '../../domain/billing/ledger.ts';
import type { InternationalPrice, OperatorPrices, TemplateCategory } from '../../domain/billing/pricing.ts';
import type { Message } from '../../domain/messages/message.ts';
import type { SenderId } from '../../domain/senders/sender-id.ts';
import type { Money } from '../../domain/shared/money.ts';
import type { Page } from '../../domain/shared/page.ts';
import type { PhoneNumber } from '../../domain/shared/phone-number.ts';
import type { CircuitBreaker } from '../../domain/webhooks/circuit-breaker.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { WhatsappBusiness } from '../../domain/whatsapp/whatsapp-resources.ts';
import type { Job, LeasedJob, WebhookDestination, Work } from '../jobs.ts';

/**
 * Everything that can be read and written in one transaction. Every method is plural: one call per batch. Calls take
 * effect in the order they were made, also without waiting in between. A change that the database refuses fails the
 * unit of work; its own promise may have resolved before.
 */
export interface Stores {
  readonly projects: ProjectStore;
  readonly accounts: AccountStore;
  readonly ledger: LedgerStore;
  readonly senderIds: SenderIdStore;
  readonly prices: PriceStore;
  readonly whatsapp: WhatsappStore;
  readonly messages: MessageStore;
  readonly jobs: JobStore;
  readonly idempotency: IdempotencyStore;
  readonly webhookEvents: WebhookEventStore;
  readonly circuitBreakers: CircuitBreakerStore;
  readonly inboundWebhooks: InboundWebhookStore;
  readonly installation: InstallationStore;
}

export interface ProjectStore {
  /** Fails the unit on an id or slug that exists. */
  insert(projects: readonly Project[]): Promise<void>;
  /** Those of the projects that exist, in the order of their ids. */
  byIds(ids: readonly string[]): Promise<readonly Project[]>;
  /** The project a key's digest belongs to, or null. */
  byKeyDigest(digest: string): Promise<Project | null>;
  /** Fails the unit on a digest that exists. */
  insertKeys(
    keys: readonly { readonly digest: string; readonly projectId: string; readonly createdAt: number }[],
  ): Promise<void>;
  /** Whether any project exists. */
  isEmpty(): Promise<boolean>;
}

export interface NewAccount {
  readonly projectId: string;
  readonly paymentType: PaymentType;
  readonly spendingThreshold: Money | null;
  readonly trialPhoneNumber: PhoneNumber | null;
}

export interface AccountStore {
  /** Opens accounts with every amount zero; money comes in by the ledger. */
  insert(accounts: readonly NewAccount[]): Promise<void>;
  /** The accounts of the projects, in the order of project ids, locked until the transaction ends. */
  lock(projectIds: readonly string[]): Promise<readonly Account[]>;
  /** Without a lock. */
  byProjectIds(projectIds: readonly string[]): Promise<readonly Account[]>;
  /** Ends the trial of the projects. */
  endTrial(projectIds: readonly string[]): Promise<void>;
}

export interface LedgerStore {
  /**
   * Writes the entries and adds their sums to the accounts, in the order of project ids. Fails the unit when an entry
   * of the same id exists: nothing is booked twice.
   */
  post(entries: readonly LedgerEntry[]): Promise<void>;
  /** For every project: the columns of its account, and the sums of its entries. */
  audit(): Promise<readonly { readonly account: AccountDelta; readonly entries: AccountDelta }[]>;
}

export interface SenderIdStore {
  /** Fails the unit on an id that exists, and on a name the project has already. */
  insert(senderIds: readonly SenderId[]): Promise<void>;
  /** All sender IDs of the projects, in the order of their ids. */
  byProjectIds(projectIds: readonly string[]): Promise<readonly SenderId[]>;
}

/** The prices as they are kept: one system list and the international rows. */
export interface StoredPrices {
  readonly sms: OperatorPrices;
  readonly whatsapp: Readonly<Record<TemplateCategory, Money>>;
  readonly telegram: Money;
  readonly international: readonly InternationalPrice[];
}

export interface PriceStore {
  /** The whole list takes the place of the one before; whoever does the same at the same time waits. */
  replace(list: StoredPrices): Promise<void>;
  /** Rejects when no list was ever written. */
  load(): Promise<StoredPrices>;
  /** One page of the international rows by countryIso, mccMnc, network; `countryIso` in upper case or null for all. */
  international(
    filter: { readonly countryIso: string | null },
    page: Page,
  ): Promise<{ readonly total: number; readonly rows: readonly InternationalPrice[] }>;
}

export interface WhatsappStore {
  /** Replaces the resource tree of a project. */
  replace(projectId: string, businesses: readonly WhatsappBusiness[]): Promise<void>;
  /** The whole trees by project; a project without one is missing. */
  byProjectIds(projectIds: readonly string[]): Promise<ReadonlyMap<string, readonly WhatsappBusiness[]>>;
}

export interface MessageStore {
  /** Fails the unit on an smsId that exists. */
  insert(messages: readonly Message[]): Promise<void>;
  /** The messages that exist, in the order of their ids, locked until the transaction ends. */
  lock(smsIds: readonly string[]): Promise<readonly Message[]>;
  /** Writes what an attempt, an answer or a report can change: content, steps, status, finality, times, reason. */
  save(messages: readonly Message[]): Promise<void>;
  /** A project's message, or null when it is unknown or another's. */
  find(projectId: string, smsId: string): Promise<Message | null>;
  /**
   * For each question, the instants after `since` at which the project's sends to the number were accepted,
   * in any order. At most the newest `limit` of each.
   */
  acceptedAt(questions: readonly AcceptedAtQuery[]): Promise<readonly (readonly number[])[]>;
}

export interface AcceptedAtQuery {
  readonly projectId: string;
  readonly phoneNumber: PhoneNumber;
  /** Milliseconds since 1970, exclusive. */
  readonly since: number;
  readonly limit: number;
}

export interface JobStore {
  /** Adds jobs. One whose id exists gets the new due time, and a lease on it is void. */
  add(jobs: readonly Job[]): Promise<void>;
  /**
   * Adds jobs. One whose id exists is due at the earlier of both instants; while somebody holds it, it stays as it is.
   */
  scheduleNoLaterThan(jobs: readonly Job[]): Promise<void>;
  /**
   * Leases up to `limit` jobs that are due at `now`, the longest due first: nobody else is given them before
   * `until`, when they are due again. Concurrent callers get different jobs.
   */
  lease(request: {
    readonly now: number;
    readonly until: number;
    readonly limit: number;
  }): Promise<readonly LeasedJob[]>;
  /** Removes the jobs that are still held under their fencing token, and returns those, in the given order. */
  complete(jobs: readonly LeasedJob[]): Promise<readonly LeasedJob[]>;
  /**
   * Those of the jobs that are held under their fencing token, until `until` at least when it is given, in the given order;
   * without a lock.
   */
  stillLeased<Held extends LeasedJob>(jobs: readonly Held[], until?: number): Promise<readonly Held[]>;
  /** Those of the jobs that are held under their fencing token, in the given order; locked until the transaction ends. */
  lockLeased<Held extends LeasedJob>(jobs: readonly Held[]): Promise<readonly Held[]>;
  /** Holds on to the jobs that are still held under their fencing token until `until`, and returns those. */
  renew<Held extends LeasedJob>(jobs: readonly Held[], until: number): Promise<readonly Held[]>;
  /** Removes jobs whatever their lease; ids that do not exist are fine. */
  remove(ids: readonly string[]): Promise<void>;
  /**
   * Notes that jobs still held under their fencing token failed: they are due again at `retryAt`, or set aside for an
   * operator when they failed `failuresMax` times. Returns those that were set aside.
   */
  fail(
    jobs: readonly LeasedJob[],
    failure: {
      readonly reason: string;
      readonly at: number;
      readonly retryAt: number;
      readonly failuresMax: number;
    },
  ): Promise<readonly LeasedJob[]>;
  /** Makes every job that was set aside due at `now`, and says how many. */
  redrive(now: number): Promise<number>;
  /** The jobs that were set aside, the latest first, at most `limit`. */
  deadLettered(limit: number): Promise<readonly DeadLetterJob[]>;
  /** The job that is due next, or null when there is none. */
  nextDue(): Promise<Pick<Job, 'id' | 'dueAt'> | null>;
  /** How many jobs were set aside. */
  countDeadLettered(): Promise<number>;
}

/** A job that was set aside, and why. */
export interface DeadLetterJob {
  readonly id: string;
  readonly work: Work;
  readonly reason: string;
  readonly deadLetteredAt: number;
}

/** What an Idempotency-Key was first answered with; unique per project, route and key. */
export interface IdempotencyRecord {
  readonly projectId: string;
  readonly route: string;
  readonly key: string;
  readonly requestHash: string;
  /** The result as the use case gave it, as JSON. */
  readonly result: string;
  readonly expiresAt: number;
}

export interface IdempotencyStore {
  /** The records that are not expired at `now`. */
  find(
    keys: readonly { readonly projectId: string; readonly route: string; readonly key: string }[],
    now: number,
  ): Promise<readonly IdempotencyRecord[]>;
  /** Saves records; an expired one of the same key is replaced. */
  save(records: readonly IdempotencyRecord[]): Promise<void>;
  /** Removes up to `limit` expired records, and says how many. */
  sweep(now: number, limit: number): Promise<number>;
}

export interface DueEventsQuery extends WebhookDestination {
  /** Milliseconds since 1970, inclusive. */
  readonly now: number;
  /** Only events behind this one, in the order of due times and ids; null for all. */
  readonly after: { readonly nextAttemptAt: number; readonly id: string } | null;
  readonly limit: number;
}

export interface WebhookEventStore {
  /** Fails the unit on an id that exists. Of a message that came in only the first event is kept: carriers repeat themselves. */
  insert(events: readonly WebhookEvent[]): Promise<void>;
  /** For each question, the events of the lane that are due, the longest due first, without a lock. */
  due(questions: readonly DueEventsQuery[]): Promise<readonly (readonly WebhookEvent[])[]>;
  /** For each lane, the instant its next event is due, or null when none is. */
  nextDueAt(lanes: readonly WebhookDestination[]): Promise<readonly (number | null)[]>;
  /** The open events of the subjects, in the order of their ids, locked until the transaction ends. */
  lockOpen(subjects: readonly string[]): Promise<readonly WebhookEvent[]>;
  /** The events that exist, in the order of their ids, locked until the transaction ends. */
  lock(ids: readonly string[]): Promise<readonly WebhookEvent[]>;
  /**
   * Writes what an attempt can change: state, attempts, times, last error. Of events that are as they were read only;
   * returns those, in the given order, with their new version.
   */
  save(events: readonly WebhookEvent[]): Promise<readonly WebhookEvent[]>;
  /** The events of a whatsapp number made after `since`, the newest first, at most `limit`. */
  ofPhoneNumber(phoneNumberId: string, since: number, limit: number): Promise<readonly WebhookEvent[]>;
  /** Removes up to `limit` events made before `before` that are not open, and says how many. */
  sweep(before: number, limit: number): Promise<number>;
}

/** The health of endpoints, of each project for itself: by `destinationKey`. */
export interface CircuitBreakerStore {
  /** What is known of the lanes, without a lock; one that nothing is known of is missing. */
  read(destinationKeys: readonly string[]): Promise<ReadonlyMap<string, CircuitBreaker>>;
  /**
   * The same, locked in their order until the transaction ends. One that nothing is known of is made healthy first, and
   * others that nobody posted to for long before `at` are forgotten for it.
   */
  lock(destinationKeys: readonly string[], at: number): Promise<ReadonlyMap<string, CircuitBreaker>>;
  /** Writes the health of locked lanes, posted to at `at`. */
  save(health: ReadonlyMap<string, CircuitBreaker>, at: number): Promise<void>;
}

/** Where the inbound messages of a whatsapp number go (specification 6.2). */
export interface InboundWebhook {
  /** Our 24-hex id of the number. */
  readonly phoneNumberId: string;
  readonly projectId: string;
  readonly url: string;
  /** As the secret box sealed it. */
  readonly secret: string;
}

export interface InboundWebhookStore {
  /** Adds or replaces the configuration of the numbers. */
  save(webhooks: readonly InboundWebhook[]): Promise<void>;
  /** The configuration of those of the numbers that have one, in the order of our 24-hex ids. */
  byPhoneNumberIds(ids: readonly string[]): Promise<readonly InboundWebhook[]>;
}

/** What all processes of one installation have to agree on. */
export interface InstallationStore {
  /** Keeps the value under the name unless another is kept already, and resolves with the one that is. */
  getOrCreate(name: string, value: string): Promise<string>;
}
