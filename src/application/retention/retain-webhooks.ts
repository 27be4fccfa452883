import { keptSince, type Retention } from '../../domain/access/retention.ts';
import { WEBHOOK_LOG_LIFETIME_MS } from '../../domain/webhooks/retry-schedule.ts';
import type { Clock } from '../ports/clock.ts';
import type { AgedRow } from '../ports/retention-stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
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

  /** `retentions` are the settings by project. */
  async execute(retentions: ReadonlyMap<string, Retention>, slices: Slices): Promise<void> {
    const { unitOfWork, clock } = this.#ports;
    const now = clock.now();
    const left = now - WEBHOOK_LOG_LIFETIME_MS;
    const sinceOf = (projectId: string) => {
      const retention = retentions.get(projectId);
      return retention === undefined ? left : Math.max(left, keptSince(retention, now));
    };
    const before = Math.max(left, ...[...retentions.keys()].map(sinceOf));
    let after: AgedRow | null = null;
    await slices.each(async (rows) => {
      const from = after;
      const ended = await unitOfWork.run(async ({ retention }) => {
        const found = await retention.endedWebhooks({ before, after: from, limit: rows });
        const old = found.filter(({ projectId, createdAt }) => createdAt < sinceOf(projectId));
        await retention.removeWebhooks(old.map(({ id }) => id));
        return found;
      }, 'eventual');
      after = ended.at(-1) ?? null;
      return ended.length === rows;
    });
  }
}
