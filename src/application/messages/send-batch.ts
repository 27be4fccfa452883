import { millisecondsInDay } from 'date-fns/constants';
import type { Project } from '../../domain/access/project.ts';
import { type Account, creditOf, type PaymentType } from '../../domain/billing/account.ts';
import { holdEntry, type LedgerEntry } from '../../domain/billing/ledger.ts';
import type { PriceList } from '../../domain/billing/pricing.ts';
import type { Message } from '../../domain/messages/message.ts';
import type { SendAccepted, SendRejection } from '../../domain/messages/send-policy.ts';
import type { SendRequest } from '../../domain/messages/send-request.ts';
import { windowMs } from '../../domain/rate-limiting/rate-limiter.ts';
import {
  decideSandboxSend,
  rateLimitFor,
  type TestNumberRefused,
} from '../../domain/sandbox/sandbox-send.ts';
import type { SenderId } from '../../domain/senders/sender-id.ts';
import type { Money } from '../../domain/shared/money.ts';
import type { WhatsappBusiness } from '../../domain/whatsapp/whatsapp-resources.ts';
import { startAttemptJob } from '../jobs/attempt-jobs.ts';
import type { Job } from '../jobs/job.ts';
import type { IdempotencyRecord } from '../ports/idempotency-store.ts';
import type { Stores } from '../ports/stores.ts';

export interface SendCommand {
  readonly project: Project;
  readonly request: SendRequest;
  readonly idempotency: { readonly key: string; readonly requestHash: string } | null;
}

export interface SendResult {
  readonly smsId: string;
  readonly remainingCredit: Money;
  readonly cost: Money;
  readonly canCover: boolean;
  readonly paymentType: PaymentType;
  /** True when the answer is that of an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean;
}

/** A request with the id its message will have. */
export interface PendingSend extends SendCommand {
  readonly smsId: string;
}

/** What became of one request of a batch. */
export type Outcome =
  | { readonly kind: 'accepted'; readonly receipt: SendResult }
  | {
      readonly kind: 'rejected';
      readonly rejection: SendRejection | TestNumberRefused | { readonly kind: 'idempotency-conflict' };
    };

export const IDEMPOTENCY_RECORD_LIFETIME_MS = millisecondsInDay;
const SEND_ROUTE = 'POST /sms';
/** Expired answers removed for each one that is kept, so that the table cannot grow for ever. */
const SWEPT_PER_ANSWER = 2;

/** One batch: everything it read, folded request by request, and everything it has to write. */
export class SendBatch {
  readonly #stores: Stores;
  readonly #now: number;
  readonly #prices: PriceList;
  readonly #accounts: Map<string, Account>;
  readonly #senderIds: readonly SenderId[];
  readonly #whatsapp: ReadonlyMap<string, readonly WhatsappBusiness[]>;
  readonly #acceptedAt: Map<string, number[]>;
  readonly #answers: Map<string, IdempotencyRecord>;
  readonly #messages: Message[] = [];
  readonly #entries: LedgerEntry[] = [];
  readonly #jobs: Job[] = [];
  readonly #newAnswers: IdempotencyRecord[] = [];

  /**
   * Bulk reads, asked together and answered in this order: the locked accounts put the batches of one project in
   * a row, so that whatever is read behind them is what the batch before has left.
   */
  static async open(stores: Stores, candidates: readonly PendingSend[], prices: PriceList, now: number) {
    const named = candidates.filter(({ request }) => request.senderId !== null);
    const onWhatsapp = candidates.filter(({ request }) => namesWhatsappResources(request));
    const keyed = candidates.flatMap(({ project, idempotency }) =>
      idempotency === null ? [] : [{ projectId: project.id, route: SEND_ROUTE, key: idempotency.key }],
    );
    const [accounts, acceptedAt, senderIds, whatsapp, answers] = await Promise.all([
      // First: every statement sees what was committed when the server comes to it.
      stores.accounts.lock(projectIdsOf(candidates)),
      readAcceptedAt(stores, candidates, now),
      named.length === 0 ? [] : stores.senderIds.byProjectIds(projectIdsOf(named)),
      onWhatsapp.length === 0 ? new Map() : stores.whatsapp.byProjectIds(projectIdsOf(onWhatsapp)),
      keyed.length === 0 ? [] : stores.idempotency.find(keyed, now),
    ]);
    return new SendBatch(stores, now, prices, { accounts, acceptedAt, senderIds, whatsapp, answers });
  }

  private constructor(
    stores: Stores,
    now: number,
    prices: PriceList,
    read: {
      readonly accounts: readonly Account[];
      readonly senderIds: readonly SenderId[];
      readonly whatsapp: ReadonlyMap<string, readonly WhatsappBusiness[]>;
      readonly acceptedAt: Map<string, number[]>;
      readonly answers: readonly IdempotencyRecord[];
    },
  ) {
    this.#stores = stores;
    this.#now = now;
    this.#prices = prices;
    this.#accounts = new Map(read.accounts.map((account) => [account.projectId, account]));
    this.#senderIds = read.senderIds;
    this.#whatsapp = read.whatsapp;
    this.#acceptedAt = read.acceptedAt;
    this.#answers = new Map(read.answers.map((answer) => [`${answer.projectId} ${answer.key}`, answer]));
  }

  decide(candidate: PendingSend): Outcome {
    const { project, request, idempotency } = candidate;
    const kept = idempotency === null ? undefined : this.#answers.get(`${project.id} ${idempotency.key}`);
    if (kept !== undefined) {
      return kept.requestHash === idempotency?.requestHash
        ? { kind: 'accepted', receipt: { ...(JSON.parse(kept.result) as SendResult), replayed: true } }
        : { kind: 'rejected', rejection: { kind: 'idempotency-conflict' } };
    }
    const acceptedAt = this.#acceptedAtOf(candidate);
    const decision = decideSandboxSend(
      {
        project,
        account: this.#accountOf(project),
        prices: this.#prices,
        senderId: this.#senderIds.find(
          (each) => each.projectId === project.id && each.senderId === request.senderId,
        ),
        whatsappBusinesses: this.#whatsapp.get(project.id) ?? [],
        acceptedAt,
      },
      request,
      this.#now,
    );
    if (decision.kind !== 'accepted') return { kind: 'rejected', rejection: decision };
    acceptedAt.push(this.#now);
    this.#accounts.set(project.id, decision.account);
    this.#messages.push(newMessage(candidate, decision, this.#now));
    this.#entries.push(
      holdEntry({ projectId: project.id, reference: candidate.smsId, at: this.#now }, decision.cost),
    );
    this.#jobs.push(startAttemptJob(candidate.smsId, 0, this.#now));
    const receipt = resultOf(candidate, decision.account, decision.cost);
    this.#keepAnswer(candidate, receipt);
    return { kind: 'accepted', receipt };
  }

  /** The batch this request was in failed without saying how, and had been committed all the same. */
  confirm(candidate: PendingSend, { cost }: Message): Outcome {
    return { kind: 'accepted', receipt: resultOf(candidate, this.#accountOf(candidate.project), cost) };
  }

  async write(): Promise<void> {
    if (this.#messages.length === 0) return;
    const { messages, ledger, jobs, idempotency } = this.#stores;
    const answers = this.#newAnswers;
    await Promise.all([
      messages.insert(this.#messages),
      ledger.post(this.#entries),
      jobs.add(this.#jobs),
      answers.length > 0 ? idempotency.sweep(this.#now, answers.length * SWEPT_PER_ANSWER) : null,
      answers.length > 0 ? idempotency.save(answers) : null,
    ]);
  }

  #accountOf(project: Project): Account {
    const account = this.#accounts.get(project.id);
    if (account === undefined) throw new Error(`Project ${project.id} has no account`);
    return account;
  }

  #acceptedAtOf({ project, request }: PendingSend): number[] {
    const key = `${project.id} ${request.phoneNumber}`;
    const known = this.#acceptedAt.get(key) ?? [];
    this.#acceptedAt.set(key, known);
    return known;
  }

  #keepAnswer({ project, idempotency }: PendingSend, receipt: SendResult): void {
    if (idempotency === null) return;
    const answer: IdempotencyRecord = {
      projectId: project.id,
      route: SEND_ROUTE,
      key: idempotency.key,
      requestHash: idempotency.requestHash,
      result: JSON.stringify(receipt),
      expiresAt: this.#now + IDEMPOTENCY_RECORD_LIFETIME_MS,
    };
    this.#answers.set(`${project.id} ${idempotency.key}`, answer);
    this.#newAnswers.push(answer);
  }
}

async function readAcceptedAt(
  stores: Stores,
  candidates: readonly PendingSend[],
  now: number,
): Promise<Map<string, number[]>> {
  const questions = new Map(
    candidates.flatMap(({ project, request: { phoneNumber } }) => {
      const limit = rateLimitFor(project, phoneNumber);
      if (limit === null) return [];
      const question = {
        projectId: project.id,
        phoneNumber,
        since: now - windowMs(limit),
        limit: limit.maxRequests,
      };
      return [[`${project.id} ${phoneNumber}`, question] as const];
    }),
  );
  if (questions.size === 0) return new Map();
  const answers = await stores.messages.acceptedAt([...questions.values()]);
  return new Map([...questions.keys()].map((key, index) => [key, [...(answers[index] ?? [])]]));
}

function newMessage({ smsId, project, request }: PendingSend, accepted: SendAccepted, now: number): Message {
  return {
    smsId,
    projectId: project.id,
    phoneNumber: request.phoneNumber,
    senderId: request.senderId,
    whatsappSender: request.whatsappSender,
    content: request.content,
    channels: accepted.channels,
    attempts: [],
    status: 'pending',
    isFinal: false,
    cost: accepted.cost,
    prices: accepted.prices,
    settlement: project.settings.settlement,
    attemptTimeoutMs: accepted.attemptTimeoutMs,
    deliveryReport: request.deliveryReport,
    createdAt: now,
    sentAt: null,
    finalAt: null,
    errorReason: null,
  };
}

function resultOf(candidate: PendingSend, account: Account, cost: Money): SendResult {
  return {
    smsId: candidate.smsId,
    remainingCredit: creditOf(account),
    cost,
    canCover: true,
    paymentType: account.paymentType,
    replayed: false,
  };
}

function projectIdsOf(candidates: readonly PendingSend[]): readonly string[] {
  return [...new Set(candidates.map(({ project }) => project.id))];
}

function namesWhatsappResources({ whatsappSender, content }: SendRequest): boolean {
  return (
    content.smsType === 'whatsapp-template' ||
    whatsappSender.accountId !== null ||
    whatsappSender.phoneId !== null
  );
}
