import type { DeliveryReport } from '../../domain/messages/send-request.ts';
import { Batcher, type BatchRun } from '../batcher.ts';
import type { CurrentPrices } from '../catalog/current-prices.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { SecretBox } from '../ports/secret-box.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import type { WebhookTransport } from '../ports/webhook-transport.ts';
import { Rejected } from '../rejected.ts';
import {
  type Outcome,
  type PendingSend,
  SendBatch,
  type SendCommand,
  type SendResult,
} from './send-batch.ts';

interface SendPorts {
  readonly unitOfWork: UnitOfWork;
  readonly currentPrices: CurrentPrices;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly wakeSignal: WakeSignal;
  readonly webhookTransport: WebhookTransport;
  readonly secretBox: SecretBox;
}

/** Specification 4.1: accepts or refuses sends; the answer is given after the commit that made it true. */
export class SendMessages {
  readonly #ports: SendPorts;
  readonly #batcher: Batcher<PendingSend, Outcome>;

  constructor(ports: SendPorts) {
    this.#ports = ports;
    this.#batcher = new Batcher((candidates, run) => this.#accept(candidates, run), { clock: ports.clock });
  }

  /** Throws `Rejected`; a refused send stores nothing, costs nothing and does not count for the rate limit. */
  async execute(command: SendCommand): Promise<SendResult> {
    const { clock, ids, wakeSignal } = this.#ports;
    const smsId = `sms-${ids.hex24(clock.now())}`;
    const { project, request, idempotency } = command;
    const kept =
      request.deliveryReport === null
        ? request
        : { ...request, deliveryReport: this.#keptReport(request.deliveryReport) };
    const outcome = await this.#batcher.submit({ project, request: kept, idempotency, smsId });
    if (outcome.kind === 'rejected') throw new Rejected(outcome.rejection);
    wakeSignal.wake();
    return outcome.receipt;
  }

  /** As it is stored: the address in its parsed form, the secret sealed. */
  #keptReport(report: DeliveryReport): DeliveryReport {
    const webhookUrl = this.#ports.webhookTransport.acceptUrl(report.webhookUrl);
    if (webhookUrl === null) throw new Rejected({ kind: 'webhook-url-refused' });
    const { webhookSecret } = report;
    return {
      ...report,
      webhookUrl,
      webhookSecret: webhookSecret === null ? null : this.#ports.secretBox.seal(webhookSecret),
    };
  }

  async #accept(
    candidates: readonly PendingSend[],
    { repeated, letNextBegin }: BatchRun,
  ): Promise<readonly Outcome[]> {
    const { unitOfWork, clock, currentPrices } = this.#ports;
    const prices = await currentPrices.read();
    return unitOfWork.run(async (stores) => {
      const now = clock.now();
      const book = await SendBatch.open(stores, candidates, prices, now);
      const stored = repeated ? await stores.messages.lock(candidates.map(({ smsId }) => smsId)) : [];
      const outcomes = candidates.map((candidate) => {
        const existing = stored.find(({ smsId }) => smsId === candidate.smsId);
        return existing === undefined ? book.decide(candidate) : book.confirm(candidate, existing);
      });
      await book.write();
      // Harmless when the unit has to be repeated: the next one waits for the same locks.
      letNextBegin();
      return outcomes;
    });
  }
}
