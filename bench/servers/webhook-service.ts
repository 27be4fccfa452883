import { AesSecretBox } from '../../src/adapters/node/aes-secret-box.ts';
import { deliverWebhooksJob } from '../../src/application/jobs/webhook-jobs.ts';
import { readSeed } from '../../src/bootstrap/config/seed-file.ts';
import { deliveryEvent } from '../../src/domain/webhooks/delivery-event.ts';
import { scheduled } from '../../src/domain/webhooks/webhook-event.ts';
import { serve } from '../../test/support/child-process.ts';
import { loadSeed } from '../../test/support/load-seed.ts';
import { LOAD_SECRET_KEY, startLoadService } from '../../test/support/load-service.ts';

/** The service with a way to give it webhook events that come due all at once. */

const EVENTS_PER_TRANSACTION = 1_000;
const LATER_MS = 3_600_000;

interface Fill {
  readonly count: number;
  readonly url: string;
  readonly secret: string;
}

const seed = loadSeed();
const secretBox = new AesSecretBox({ secretKey: LOAD_SECRET_KEY });
const { service, port, now, putClockAhead } = await startLoadService({ seed });
const unitOfWork = service.roots.unitOfWork;
const { knex } = service.roots.database;
let aheadMs = 0;
let events = 0;

const handlers = {
  memoryMb: (): number => Math.round(process.memoryUsage.rss() / 2 ** 20),
  /** Stores that many final events for the url, due in an hour. */
  fill: async ({ count, url, secret }: Fill): Promise<number> => {
    const projectId = readSeed(seed).projects[0]?.project.id ?? '';
    const at = now();
    const report = {
      webhookUrl: url,
      deliveryReportType: 'all',
      webhookSecret: secretBox.seal(secret),
    } as const;
    const change = {
      kind: 'status-changed',
      status: 'delivered',
      channel: 'sms',
      isFinal: true,
      reason: null,
    } as const;
    for (let from = 0; from < count; from += EVENTS_PER_TRANSACTION) {
      const batch = Array.from({ length: Math.min(EVENTS_PER_TRANSACTION, count - from) }, () => {
        events += 1;
        const id = events.toString(16).padStart(24, '0');
        const message = { smsId: `sms-${id}`, senderId: null, projectId };
        return scheduled(deliveryEvent(id, message, report, change, at), at + LATER_MS);
      });
      await unitOfWork.run(async (stores) => {
        await stores.webhookEvents.insert(batch);
        await stores.jobs.scheduleNoLaterThan(
          batch.map((event) => deliverWebhooksJob(event, at + LATER_MS)),
          at,
        );
      });
    }
    // Writing back what was filled in is no cost of delivery.
    await knex.raw('PRAGMA wal_checkpoint(PASSIVE)');
    return count;
  },
  /** Lets the stored events come due. */
  comeDue: (): number => {
    aheadMs += LATER_MS;
    putClockAhead(aheadMs);
    return aheadMs;
  },
  /** Events by state. */
  states: async (): Promise<Readonly<Record<string, number>>> => {
    const rows: { state: string; n: number }[] = await knex('webhook_events')
      .select('state')
      .count({ n: '*' })
      .groupBy('state');
    return Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)]));
  },
  openEvents: async (): Promise<number> =>
    Number((await knex('webhook_events').where('is_open', 1).count({ n: '*' }))[0]?.n),
};
export type WebhookServiceHandlers = typeof handlers;

serve(port, handlers);
process.on('SIGTERM', () => service.stop().then(() => process.disconnect()));
