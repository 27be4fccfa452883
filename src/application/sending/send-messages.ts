import { SMS_ID_PREFIX } from '../../domain/messages/message.ts';
import type { BatchRun } from '../batching/batch-runner.ts';
import { Batcher } from '../batching/batcher.ts';
import type { NoticeLowCredit } from '../billing/notice-low-credit.ts';
import type { CurrentPrices } from '../catalog/current-prices.ts';
import { Rejected } from '../errors/rejected.ts';
import type { ChannelProviders } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { RequestHasher } from '../ports/request-hasher.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import type { SealWebhook } from '../webhooks/seal-webhook.ts';
import { SendBatch, type SendOutcome } from './send-batch.ts';
import type { PendingSend, SendCommand, SendResult } from './send-command.ts';
import type { SendCatalog } from './send-states.ts';
import type { UntriedMessages } from './untried-messages.ts';

interface SendPorts {
  readonly unitOfWork: UnitOfWork;
  readonly currentPrices: Pick<CurrentPrices, 'at'>;
  readonly channelProviders: Pick<ChannelProviders, 'channelsFor'>;
  readonly requestHasher: RequestHasher;
  readonly sealWebhook: Pick<SealWebhook, 'execute'>;
  readonly untriedMessages: Pick<UntriedMessages, 'areTooMany' | 'noteAccepted'>;
  readonly noticeLowCredit: Pick<NoticeLowCredit, 'write' | 'announce'>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly wakeSignal: WakeSignal;
}

/** Specification 4.1: accepts or rejects sends. The result is given after the commit that made it true. */
export class SendMessages {
  readonly #ports: SendPorts;
  readonly #batcher: Batcher<PendingSend, SendOutcome>;

  constructor(ports: SendPorts) {
    this.#ports = ports;
    this.#batcher = new Batcher((sends, run) => this.#accept(sends, run), {
      clock: ports.clock,
      projectsOf: async (sends) => sends.map(({ project }) => project.id),
    });
  }

  /** Throws `Rejected`; a rejected send stores nothing, costs nothing and does not count for the rate limit. */
  async execute({ project, request, idempotency }: SendCommand): Promise<SendResult> {
    const { clock, ids, sealWebhook, untriedMessages, wakeSignal } = this.#ports;
    const deliveryReport = request.deliveryReport && sealWebhook.execute(request.deliveryReport);
    const outcome = await this.#batcher.submit({
      project,
      request: { ...request, deliveryReport },
      idempotency,
      smsId: SMS_ID_PREFIX + ids.hex24(clock.now()),
      hasTooManyUntried: untriedMessages.areTooMany(project.id),
    });
    if (outcome.kind === 'rejected') throw new Rejected(outcome.rejection);
    untriedMessages.noteAccepted(project.id);
    wakeSignal.wake();
    return outcome.result;
  }

  async #accept(
    sends: readonly PendingSend[],
    { repeated, lockWait, letNextBegin }: BatchRun,
  ): Promise<readonly SendOutcome[]> {
    const { unitOfWork, requestHasher, clock, currentPrices, channelProviders, noticeLowCredit } =
      this.#ports;
    const accept = async (stores: Stores) => {
      const now = clock.now();
      const catalog: SendCatalog = {
        prices: await currentPrices.at(stores, now),
        channelsFor: (environment) => channelProviders.channelsFor(environment),
      };
      const batch = await SendBatch.open({ stores, requestHasher }, sends, catalog, now);
      const stored = repeated ? await stores.messages.lock(sends.map(({ smsId }) => smsId)) : [];
      const outcomes = sends.map((send) => {
        const message = stored.find(({ smsId }) => smsId === send.smsId);
        return message === undefined ? batch.decide(send) : batch.confirm(send, message);
      });
      await batch.write();
      await noticeLowCredit.write(stores, batch.lowCredit);
      // Harmless when the unit has to be repeated: the next batch waits for the same locks.
      letNextBegin();
      return { outcomes, notices: batch.lowCredit };
    };
    const { outcomes, notices } = await unitOfWork.run(accept, 'full', lockWait);
    noticeLowCredit.announce(notices);
    return outcomes;
  }
}
