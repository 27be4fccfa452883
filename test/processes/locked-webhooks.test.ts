import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../src/adapters/node/system-clock.ts';
import { HttpsReceiver } from '../support/https-receiver.ts';
import { hasOpenssl } from '../support/openssl.ts';
import { anotherProject, seedWith, verification } from '../support/seeds.ts';
import { type Member, ServiceGroup } from '../support/service-group.ts';
import { until } from '../support/until.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const OTHER_KEY = 'sk_dev_ffeeddccbbaa99887766554433221100ffeeddcc';
/** Half of what a transaction waits for a lock. Of it the simulator takes a second. */
const WEBHOOKS_MS_MAX = 5_000;

const seed = seedWith({ rateLimit: null, credit: 1_000_000 });
const other = anotherProject(seed, OTHER_KEY);

const LOCK_WAITS =
  "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";

const LOCKED = '/locked';
const OTHER = '/other';

describe.skipIf(POSTGRES_URL === undefined || !hasOpenssl)(
  `webhooks while somebody locks rows of one project${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    let group: ServiceGroup | null = null;
    let unlock = async () => {};

    afterEach(async () => {
      await unlock();
      await group?.dispose();
    });

    it.each([
      ['an event', (id: string) => `SELECT 1 FROM webhook_events WHERE project_id = '${id}' FOR UPDATE`],
      [
        'the job of its webhooks',
        (id: string) => `SELECT 1 FROM jobs WHERE project_id = '${id}' AND id LIKE 'webhooks/%' FOR UPDATE`,
      ],
      [
        'a circuit',
        (id: string) => `SELECT 1 FROM webhook_circuit_breakers WHERE destination LIKE '${id}/%' FOR UPDATE`,
      ],
    ])(
      'a lock on %s of one project holds up the webhooks of no other, and its own come when it ends',
      {
        timeout: 60_000,
      },
      async (_, lockOf) => {
        /** The responses to the second message of the project, until the lock is there. */
        const held: ServerResponse[] = [];
        let isHolding = false;
        const receiver = await HttpsReceiver.open(({ path }, response) => {
          if (isHolding && path === LOCKED) held.push(response);
          else response.writeHead(200).end();
        });
        const projects = [...seed.projects, other];
        group = new ServiceGroup(POSTGRES_URL ?? '', { ...seed, projects }, {}, receiver.egress);
        const [member]: readonly Member[] = await group.start([{ role: 'all', clock: new SystemClock() }]);
        const send = async (apiKey: string | undefined, path: string, number: string) => {
          const deliveryReport = {
            webhookUrl: receiver.url(path),
            deliveryReportType: 'all',
            webhookSecret: 'a-secret-of-mine',
          };
          const body = verification(number, { provider: 'sms', deliveryReport });
          expect((await member?.request('/sms', body, apiKey))?.status).toBe(200);
        };
        /** The statuses that arrived there, each once. */
        const arrived = (path: string, count: number) =>
          until(() => {
            member?.service.roots.wakeSignal.wake();
            const bodies = receiver.requests.flatMap((each) => (each.path === path ? [each.rawBody] : []));
            return new Set(bodies).size >= count;
          });

        await Promise.all([
          send(undefined, LOCKED, '9647700000001'),
          send(OTHER_KEY, OTHER, '9647800000001'),
        ]);
        await Promise.all([arrived(LOCKED, 2), arrived(OTHER, 2)]);
        isHolding = true;
        await send(undefined, LOCKED, '9647700000002');
        await until(() => held.length > 0);
        const [project] = await group.rows("SELECT id FROM projects WHERE slug = 'demo'");
        unlock = await group.lock(lockOf(project?.id as string));
        isHolding = false;
        for (const response of held) response.writeHead(200).end();
        await until(async () => ((await group?.rows(LOCK_WAITS)) ?? []).length > 0);

        const sentAt = performance.now();
        await send(OTHER_KEY, OTHER, '9647800000002');
        await arrived(OTHER, 4);
        expect(performance.now() - sentAt).toBeLessThan(WEBHOOKS_MS_MAX);

        await unlock();
        await arrived(LOCKED, 4);
        await until(async () => (await group?.problems())?.length === 0);
      },
    );
  },
);
