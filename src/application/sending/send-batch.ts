import type { Project } from '../../domain/access/project.ts';
import type { Account } from '../../domain/billing/account.ts';
import { holdEntry, type LedgerEntry } from '../../domain/billing/ledger.ts';
import { type LowCreditNotice, lowCreditNotice } from '../../domain/billing/low-credit.ts';
import type { IdempotencyConflict } from '../../domain/idempotency/idempotency.ts';
import type { Job } from '../../domain/jobs/job.ts';
import type { Message } from '../../domain/messages/message.ts';
import { newMessage } from '../../domain/messages/new-message.ts';
import type { SendRejection } from '../../domain/messages/send-policy.ts';
import { decideSendWithTestNumbers, type TestNumberRejected } from '../../domain/sandbox/sandbox-send.ts';
import type { TooManyUntried } from '../errors/rejected.ts';
import { IdempotencyRecords } from '../idempotency.ts';
import { startAttemptJob } from '../jobs/attempt-jobs.ts';
import type { RequestHasher } from '../ports/request-hasher.ts';
import type { Stores } from '../ports/stores.ts';
import { type PendingSend, type SendResult, sendResult } from './send-command.ts';
import { type SendCatalog, SendStates } from './send-states.ts';

/** The end of one send of a batch. */
export type SendOutcome =
  | { readonly kind: 'accepted'; readonly result: SendResult }
  | {
      readonly kind: 'rejected';
      readonly rejection: SendRejection | TestNumberRejected | IdempotencyConflict | TooManyUntried;
    };

/** One batch in one unit of work: decides its sends one after the other, and writes them all at once. */
export class SendBatch {
  readonly #stores: Stores;
  readonly #now: number;
  readonly #states: SendStates;
  readonly #records: IdempotencyRecords<SendResult>;
  readonly #messages: Message[] = [];
  readonly #entries: LedgerEntry[] = [];
  readonly #jobs: Job[] = [];
  /** The projects whose credit became low in this batch: each once. */
  readonly lowCredit: LowCreditNotice[] = [];

  static async open(
    { stores, requestHasher }: { readonly stores: Stores; readonly requestHasher: RequestHasher },
    sends: readonly PendingSend[],
    catalog: SendCatalog,
    now: number,
  ): Promise<SendBatch> {
    const [states, records] = await Promise.all([
      // First: the accounts it locks are what equal requests wait for.
      SendStates.read(stores, sends, catalog, now),
      IdempotencyRecords.find<SendResult>(
        { store: stores.idempotency, requestHasher },
        sends.map(keyed),
        now,
      ),
    ]);
    return new SendBatch(stores, now, states, records);
  }

  private constructor(
    stores: Stores,
    now: number,
    states: SendStates,
    records: IdempotencyRecords<SendResult>,
  ) {
    this.#stores = stores;
    this.#now = now;
    this.#states = states;
    this.#records = records;
  }

  decide(send: PendingSend): SendOutcome {
    const earlier = this.#records.decide(keyed(send));
    switch (earlier.kind) {
      case 'first':
        return this.#decideFirst(send);
      case 'replay':
        return { kind: 'accepted', result: { ...earlier.result, replayed: true } };
      case 'idempotency-conflict':
        return { kind: 'rejected', rejection: earlier };
      default:
        return earlier satisfies never;
    }
  }

  /** The outcome of a send that an earlier run of its batch has stored, though the run seemed to fail. */
  confirm({ smsId, project }: PendingSend, { cost }: Message): SendOutcome {
    return { kind: 'accepted', result: sendResult(smsId, this.#states.accountOf(project), cost) };
  }

  async write(): Promise<void> {
    if (this.#messages.length === 0) return;
    const { messages, ledger, jobs, idempotency } = this.#stores;
    await Promise.all([
      messages.insert(this.#messages),
      ledger.post(this.#entries),
      jobs.add(this.#jobs, this.#now),
      this.#records.store(idempotency),
    ]);
  }

  #decideFirst(send: PendingSend): SendOutcome {
    const { smsId, project, request, hasTooManyUntried } = send;
    if (hasTooManyUntried) return { kind: 'rejected', rejection: { kind: 'too-many-untried' } };
    const before = this.#states.before(send);
    const decision = decideSendWithTestNumbers(before, request, this.#now);
    if (decision.kind !== 'accepted') return { kind: 'rejected', rejection: decision };
    const result = sendResult(smsId, decision.account, decision.cost);
    this.#states.accept(send, this.#noticed(project, before.account, decision.account), this.#now);
    this.#records.add(keyed(send), result);
    const message = newMessage(smsId, project, request, decision, this.#now);
    this.#messages.push(message);
    this.#entries.push(holdEntry({ projectId: project.id, reference: smsId, at: this.#now }, decision.cost));
    this.#jobs.push(startAttemptJob(message, 0, this.#now));
    return { kind: 'accepted', result };
  }

  /** The account after a hold, which knows of the notice when the hold calls for one. */
  #noticed(project: Project, before: Account, after: Account): Account {
    const notice = lowCreditNotice(project, before, after, this.#now);
    if (notice === null) return after;
    this.lowCredit.push(notice);
    return { ...after, lowCreditNoticedAt: this.#now };
  }
}

function keyed({ project, idempotency }: PendingSend) {
  return { projectId: project.id, request: idempotency };
}
