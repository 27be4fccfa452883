import { afterEach, describe, expect, it } from 'vitest';
import { RUN_RETENTION_JOB_ID } from '../../src/application/jobs/retention-jobs.ts';
import { SYNC_WHATSAPP_JOB_ID } from '../../src/application/jobs/whatsapp-jobs.ts';
import type { ProjectStore } from '../../src/application/ports/stores/project-store.ts';
import type { UnitOfWork } from '../../src/application/ports/unit-of-work.ts';
import { ApplySeed } from '../../src/application/seed/apply-seed.ts';
import { SealWebhook } from '../../src/application/webhooks/seal-webhook.ts';
import { readSeed } from '../../src/bootstrap/config/seed-file.ts';
import { MeetingPoint } from '../contracts/storage.ts';
import { channelsOf, MetaAccount, seedWithAccount } from '../support/meta-account.ts';
import { seedWith, verification } from '../support/seeds.ts';
import { ServiceGroup } from '../support/service-group.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const COST = 80;
const HOUR_MS = 3_600_000;
const MESSAGES = 60;
const ATTEMPTS = 400;
/** One operator, one price. */
const numberOf = (index: number) => `96477${String(index).padStart(8, '0')}`;
const send = (index: number) => verification(numberOf(index), { provider: 'sms' });
const isEven = (index: number) => index % 2 === 0;

describe.skipIf(POSTGRES_URL === undefined)(
  `several services on one PostgreSQL${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    let group: ServiceGroup;
    const groupWith = (credit: number) => {
      group = new ServiceGroup(POSTGRES_URL ?? '', seedWith({ credit, rateLimit: null }));
      return group;
    };
    afterEach(() => group.dispose());

    it('services that start at the same moment seed an empty database once', async () => {
      const members = await groupWith(15_000).start([{ role: 'api' }, { role: 'api' }]);
      await group.rows('TRUNCATE projects, price_versions, ledger_entries, api_keys CASCADE');
      const everyone = new MeetingPoint(members.length);
      const seed = readSeed(seedWith({ credit: 15_000 }));
      const applied = await Promise.all(
        members.map(({ service: { roots } }) =>
          new ApplySeed({
            unitOfWork: meetingAtIsEmpty(roots.unitOfWork, everyone),
            keyHasher: roots.keyHasher,
            sealWebhook: new SealWebhook(roots),
            clock: group.clock,
            ids: roots.idSource,
          }).execute(seed),
        ),
      );
      expect(applied.sort()).toEqual([false, true]);
      expect(await group.rows('SELECT slug FROM projects')).toEqual([{ slug: 'demo' }]);
      expect(await group.rows('SELECT actor FROM price_versions')).toEqual([{ actor: 'seed' }]);
      expect(await group.rows('SELECT kind, balance_delta FROM ledger_entries')).toEqual([
        { kind: 'deposit', balance_delta: 15_000_000 },
      ]);
    });

    it.each([1, 2])(
      'two api processes accept exactly the sends that the credit covers, round %i',
      async () => {
        const left = COST - 1;
        const [first, second] = await groupWith(MESSAGES * COST + left).start([
          { role: 'api' },
          { role: 'api' },
          { role: 'worker' },
          { role: 'worker' },
        ]);
        const replies = await Promise.all(
          Array.from({ length: ATTEMPTS }, (_, index) =>
            (isEven(index) ? first : second).request('/sms', send(index)),
          ),
        );
        const accepted = replies.filter((reply) => reply.status === 200);
        const remaining = accepted.map(
          (reply) => (reply.body as { remainingCredit: number }).remainingCredit,
        );
        expect(remaining.sort((a, b) => a - b)).toEqual(
          Array.from({ length: MESSAGES }, (_, index) => left + index * COST),
        );
        const rejections = new Set(
          replies
            .filter((reply) => reply.status !== 200)
            .map((reply) => JSON.stringify([reply.status, reply.body])),
        );
        expect([...rejections].map((text) => JSON.parse(text))).toEqual([
          [
            400,
            {
              error: 'Insufficient credit, please add more credit',
              yourCredit: left,
              requiredCredit: COST,
              canCover: false,
            },
          ],
        ]);
        await group.advance(1_000);
        expect(await group.problems()).toEqual([]);
        expect(await group.rows('SELECT balance, held, spent FROM accounts')).toEqual([
          { balance: left * 1000, held: 0, spent: MESSAGES * COST * 1000 },
        ]);
      },
    );

    it('/readyz shows that no worker runs, and how long the oldest due job has waited', async () => {
      const [api] = await groupWith(1_000_000).start([{ role: 'api' }]);
      const work = async () => {
        const { status, body } = await api.request('/readyz');
        const { dependencies } = body as { dependencies: readonly { name: string }[] };
        return [status, ...dependencies.filter(({ name }) => name === 'jobs' || name === 'workers')];
      };
      const jobs = { name: 'jobs', critical: false };
      const workers = { name: 'workers', critical: false };
      expect((await api.request('/sms', send(0))).status).toBe(200);
      group.clock.at += 61_000;
      expect(await work()).toEqual([
        200,
        { ...jobs, ok: false, detail: 'the oldest due job has waited 61 s' },
        { ...workers, ok: false, detail: 'none seen' },
      ]);

      const [worker] = await group.start([{ role: 'worker' }]);
      await group.settle();
      group.clock.at += 15_000;
      expect(await work()).toEqual([
        200,
        { ...jobs, ok: true, detail: 'none due' },
        { ...workers, ok: true, detail: '1 seen, the last one 15 s ago' },
      ]);
      group.clock.at += 1_000;
      expect(await work()).toMatchObject([200, {}, { ok: false, detail: 'none seen for 16 s' }]);

      await worker.service.roots.workerHeartbeat.beat();
      group.clock.at += 1_000;
      expect(await work()).toMatchObject([200, {}, { ok: true }]);
      await worker.service.stop();
      group.clock.at += 1_000;
      expect(await work()).toMatchObject([200, {}, { ok: false, detail: 'none seen' }]);
    });

    it('a worker serves /healthz and /readyz, and no other endpoint of the interface', async () => {
      const [worker] = await groupWith(1_000_000).start([{ role: 'worker' }]);
      expect(await worker.request('/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
      expect(await worker.request('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } });
      for (const [path, body] of [['/sms', send(0)], ['/info'], ['/sender-ids']] as const) {
        expect(await worker.request(path, body)).toMatchObject({ status: 404 });
      }
      const { body } = await worker.request('/openapi.json');
      expect(Object.keys((body as { paths: object }).paths)).toEqual([
        '/healthz',
        '/readyz',
        '/version',
        '/openapi.json',
        '/docs',
        '/docs/swagger-ui.css',
        '/docs/swagger-ui-bundle.js',
      ]);
    });

    it('every attempt is submitted by one worker only', async () => {
      const [api] = await groupWith(1_000_000).start([
        { role: 'api' },
        { role: 'worker' },
        { role: 'worker' },
        { role: 'worker' },
      ]);
      // Test numbers that whatsapp rejects: every message takes two attempts.
      const replies = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          api.request(
            '/sms',
            verification(`999${String(index).padStart(6, '0')}0007`, { provider: 'whatsapp-sms' }),
          ),
        ),
      );
      const ids = replies.map((reply) => (reply.body as { smsId: string }).smsId);
      await group.advance(1_000);
      expect(await group.problems()).toEqual([]);
      expect(group.submitted.map(({ smsId, attemptNumber }) => `${smsId} ${attemptNumber}`).sort()).toEqual(
        ids.flatMap((smsId) => [`${smsId} 0`, `${smsId} 1`]).sort(),
      );
    });

    it('several workers read the whatsapp accounts once an hour', async () => {
      const meta = await MetaAccount.open();
      group = new ServiceGroup(POSTGRES_URL ?? '', seedWithAccount(), channelsOf({ meta }));
      const jobs = () => group.rows(`SELECT id, due_at FROM jobs WHERE id <> '${RUN_RETENTION_JOB_ID}'`);
      await group.start([{ role: 'worker' }, { role: 'worker' }, { role: 'api' }]);
      await group.settle();
      expect(await jobs()).toEqual([{ id: SYNC_WHATSAPP_JOB_ID, due_at: group.clock.at + HOUR_MS }]);
      // At its start a worker asks for a synchronisation of its own, unless it joins one.
      const atStart = meta.readings;
      expect([1, 2]).toContain(atStart);
      await group.advance(3 * HOUR_MS);
      expect(meta.readings).toBe(atStart + 3);
      expect(await jobs()).toHaveLength(1);
    });
  },
);

/** Every service finds the database empty before one of them fills it. */
function meetingAtIsEmpty(real: UnitOfWork, everyone: MeetingPoint): UnitOfWork {
  return {
    run: (work, durability) =>
      real.run(({ projects, ...stores }) => {
        const meeting = async () => {
          const isEmpty = await projects.isEmpty();
          await everyone.meet();
          return isEmpty;
        };
        const asked: ProjectStore = new Proxy(projects, {
          get(target, name) {
            if (name === 'isEmpty') return meeting;
            const method = target[name as keyof ProjectStore];
            return method.bind(target);
          },
        });
        return work({ ...stores, projects: asked });
      }, durability),
    read: (work) => real.read(work),
    ping: () => real.ping(),
  };
}
