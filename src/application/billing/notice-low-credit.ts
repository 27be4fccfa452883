import type { Project } from '../../domain/access/project.ts';
import type { Account } from '../../domain/billing/account.ts';
import { armsLowCredit, type LowCreditNotice } from '../../domain/billing/low-credit.ts';
import { toIqd } from '../../domain/shared/money.ts';
import { lowCreditEvent } from '../../domain/webhooks/credit-event.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Logger } from '../ports/logger.ts';
import type { Stores } from '../ports/stores.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import type { EnqueueWebhooks } from '../webhooks/enqueue-webhooks.ts';

interface NoticePorts {
  readonly enqueueWebhooks: Pick<EnqueueWebhooks, 'add'>;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly wakeSignal: WakeSignal;
}

/** Tells customers by webhook, and operators by a log line, that the credit of projects became low. */
export class NoticeLowCredit {
  readonly #ports: NoticePorts;

  constructor(ports: NoticePorts) {
    this.#ports = ports;
  }

  /**
   * Adds one event for each notice, and no further notice comes of its project until it is armed again. In the transaction of the
   * crossing, behind the locks of the accounts. Nothing is read or written without notices.
   */
  async write(stores: Stores, notices: readonly LowCreditNotice[]): Promise<void> {
    const [first] = notices;
    if (first === undefined) return;
    const projectIds = notices.map(({ projectId }) => projectId);
    await stores.accounts.setLowCreditNoticedAt(projectIds, first.at);
    const events = notices.map((notice) => lowCreditEvent(this.#ports.ids.hex24(notice.at), notice));
    const earlier = await stores.webhookEvents.lockOpen(events.map(({ orderingKey }) => orderingKey));
    await this.#ports.enqueueWebhooks.add(stores, events, earlier);
  }

  /** Arms the notice again when the change of an operator calls for it. The account is locked. */
  async arm(
    { accounts }: Pick<Stores, 'accounts'>,
    { id, settings }: Pick<Project, 'id' | 'settings'>,
    after: Account,
  ): Promise<void> {
    if (armsLowCredit(after, settings.lowCredit)) await accounts.setLowCreditNoticedAt([id], null);
  }

  /** After the commit: one log line for each notice, and the events are attempted at once. */
  announce(notices: readonly LowCreditNotice[]): void {
    if (notices.length === 0) return;
    const { logger, wakeSignal } = this.#ports;
    for (const { projectId, credit, lowCredit } of notices) {
      logger.info('credit_low', { projectId, credit: toIqd(credit), amount: toIqd(lowCredit.amount) });
    }
    wakeSignal.wake();
  }
}
