import { serve } from '../child.mjs';
import { benchSeed } from '../seed.mjs';

/** The real service with a clock that can be put ahead, and a way to give it webhook events to post. */
const build = process.env.BENCH_BUILD ?? new URL('../../dist', import.meta.url).pathname;
const load = (path) => import(`${build}/${path}.js`);
const { AesSecretBox } = await load('adapters/node/aes-secret-box');
const { PinoLogger } = await load('adapters/pino/pino-logger');
const { postWebhooksJob } = await load('application/jobs');
const { readConfig } = await load('bootstrap/config');
const { readSeed } = await load('bootstrap/seed-file');
const { Service } = await load('bootstrap/service');
const { adapters, ports } = await load('bootstrap/tokens');
const { scheduled, statusEvent } = await load('domain/webhooks/webhook-event');

const EVENTS_PER_TRANSACTION = 1_000;
const LATER_MS = 3_600_000;

let aheadMs = 0;
let made = 0;
const clock = { now: () => Date.now() + aheadMs };
const secretKey = Buffer.alloc(32, 7);
const secretBox = new AesSecretBox({ secretKey });
const config = readConfig(process.env);
const service = new Service({
  role: 'all',
  database: config.database,
  queue: config.queue,
  secretKey,
  egress: config.egress,
  clock,
  logger: new PinoLogger({ level: process.env.LOG_LEVEL ?? 'error' }),
  watchesClock: true,
  seed: readSeed(benchSeed()),
});
await service.start();
const unitOfWork = service.container.get(ports.unitOfWork);
const { knex } = service.container.get(adapters.database);

const questions = {
  memoryMb: () => Math.round(process.memoryUsage.rss() / 2 ** 20),
  /** Stores that many final events for the url, due in an hour. */
  fill: async ({ count, url, secret }) => {
    const [{ project }] = readSeed(benchSeed()).projects;
    const now = clock.now();
    const report = { webhookUrl: url, deliveryReportType: 'all', webhookSecret: secretBox.seal(secret) };
    const change = { status: 'delivered', channel: 'sms', isFinal: true, reason: null };
    for (let from = 0; from < count; from += EVENTS_PER_TRANSACTION) {
      const events = Array.from({ length: Math.min(EVENTS_PER_TRANSACTION, count - from) }, () => {
        made += 1;
        const id = made.toString(16).padStart(24, '0');
        const message = { smsId: `sms-${id}`, senderId: null, projectId: project.id };
        return scheduled(statusEvent(id, message, report, change, now), now + LATER_MS);
      });
      await unitOfWork.run(async (stores) => {
        await stores.webhookEvents.insert(events);
        await stores.jobs.bringForward(events.map((event) => postWebhooksJob(event, now + LATER_MS)));
      });
    }
    // What filling leaves to be written back is not the cost of posting.
    await knex.raw('PRAGMA wal_checkpoint(PASSIVE)');
    return count;
  },
  /** Lets what was stored come due. */
  comeDue: () => {
    aheadMs += LATER_MS;
    service.container.get(adapters.doorbell).wake();
    return aheadMs;
  },
  /** Events by state. */
  states: async () => {
    const rows = await knex('webhook_events').select('state').count({ n: '*' }).groupBy('state');
    return Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)]));
  },
  openEvents: async () => Number((await knex('webhook_events').where('is_open', 1).count({ n: '*' }))[0].n),
};
serve(0, questions);
process.on('SIGTERM', () => service.stop().then(() => process.disconnect()));
