import { keptSince, type Retention } from '../../domain/access/retention.ts';
import { WEBHOOK_LOG_LIFETIME_MS } from '../../domain/webhooks/retry-schedule.ts';
import type { Clock } from '../ports/clock.ts';
import type { AgedRow, EndedWebhook } from '../ports/stores/retention-stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { currentRetentions } from './current-retention.ts';
import type { Slices } from './slices.ts';

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
}

/**
 * Removes the webhook events that are not open: of a project with retention those that are as old as its messages, and of all
 * projects those that have left the log. Their bodies may hold numbers and texts.
 */
export class RetainWebhooks {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** `retentions` are the settings at the start of the run, by project. Each slice goes by those of its time. */
  async execute(retentions: ReadonlyMap<string, Retention>, slices: Slices): Promise<void> {
    const { unitOfWork, clock } = this.#ports;
    const now = clock.now();
    const left = now - WEBHOOK_LOG_LIFETIME_MS;
    const sinceOf = (retention: Retention) => Math.max(left, keptSince(retention, now));
    const before = Math.max(left, ...[...retentions.values()].map(sinceOf));
    let after: AgedRow | null = null;
    await slices.each(async (rows) => {
      const from = after;
      const ended = await unitOfWork.run(async (stores) => {
        const found = await stores.retention.endedWebhooks({ before, after: from, limit: rows });
        const current = await currentRetentions(stores, [...new Set(found.map((event) => event.projectId))]);
        const isOld = ({ projectId, createdAt }: EndedWebhook) => {
          const retention = current.get(projectId);
          return createdAt < (retention === undefined ? left : sinceOf(retention));
        };
        await stores.retention.removeWebhooks(found.filter(isOld).map(({ id }) => id));
        return found;
      }, 'eventual');
      after = ended.at(-1) ?? null;
      return ended.length === rows;
    });
  }
}
