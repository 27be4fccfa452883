import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../src/adapters/node/system-clock.ts';
import { BODY, CAMPAIGNS } from '../support/campaigns.ts';
import { anotherProject, seedWith, verification } from '../support/seeds.ts';
import { type Member, ServiceGroup } from '../support/service-group.ts';
import { until } from '../support/until.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const OTHER_KEY = 'sk_dev_ffeeddccbbaa99887766554433221100ffeeddcc';
/** Two brief waits, and as much again for a machine that is busy with other things. */
const FIRST_REPLY_MS_MAX = 1_000;
const LATER_REPLY_MS_MAX = 200;
/** Few enough to end before those that wait for a lock are rejected, which is after ten seconds. */
const ROUNDS = 3;
/** A report, a campaign and a send at once. Each try of those that are locked takes a place at a gate for a quarter of a second. */
const ROUND_MS_MAX = 3_000;

const seed = seedWith({ rateLimit: null, credit: 1_000_000 });
const other = anotherProject(seed, OTHER_KEY);

/** More than requests for reports, or campaigns, are worked on at a time, and as many as a process has connections. */
const LOCKED_PROJECTS = 10;
const locked = Array.from({ length: LOCKED_PROJECTS }, (_, index) =>
  anotherProject(seed, `sk_dev_${String(index).padStart(40, '0')}`, `locked-${index}`),
);

const LOCK_WAITS =
  "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
const ALL_MESSAGES = { startDate: '2026-01-01', endDate: '2027-01-01' };

const numberOf = (index: number) => `96477${String(index).padStart(8, '0')}`;
const send = (index: number) => verification(numberOf(index), { provider: 'sms' });

describe.skipIf(POSTGRES_URL === undefined)(
  `a service while somebody locks one account${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    let group: ServiceGroup;
    let member: Member;
    let unlock = async () => {};

    beforeEach(async () => {
      const projects = [...seed.projects, other, ...locked];
      group = new ServiceGroup(POSTGRES_URL ?? '', { ...seed, projects });
      [member] = await group.start([{ role: 'all', clock: new SystemClock() }]);
    });
    afterEach(async () => {
      await unlock();
      await group.dispose();
    });

    /** The smsId of a send that is accepted, and how long the reply took. */
    async function sendOf(apiKey: string | undefined, index: number) {
      const sentAt = performance.now();
      const { status, body } = await member.request('/sms', send(index), apiKey);
      expect(status).toBe(200);
      return { smsId: (body as { smsId: string }).smsId, replyMs: performance.now() - sentAt };
    }

    /** Resolves once the messages are delivered. */
    function delivered(messages: readonly { readonly smsId: string }[]): Promise<unknown> {
      const ids = messages.map(({ smsId }) => `'${smsId}'`).join();
      return until(async () => {
        member.service.roots.wakeSignal.wake();
        const rows = await group.rows(
          `SELECT sms_id FROM messages WHERE status = 'delivered' AND sms_id IN (${ids})`,
        );
        return rows.length === messages.length;
      });
    }

    it('a service replies to the sends of the other projects, and delivers them, while one account is locked', {
      timeout: 60_000,
    }, async () => {
      const before = await Promise.all([0, 1, 2].map((index) => sendOf(undefined, index)));
      const [project] = await group.rows("SELECT id FROM projects WHERE slug = 'demo'");
      unlock = await group.lockAccount(project?.id as string);
      let areAccepted = false;
      const waiting = Promise.all([3, 4].map((index) => sendOf(undefined, index))).then((sends) => {
        areAccepted = true;
        return sends;
      });

      const first = await Promise.all([10, 11].map((index) => sendOf(OTHER_KEY, index)));
      const later = [];
      for (let index = 12; index < 32; index += 1) later.push(await sendOf(OTHER_KEY, index));
      expect(Math.max(...first.map(({ replyMs }) => replyMs))).toBeLessThan(FIRST_REPLY_MS_MAX);
      // Half of them: a machine that is busy makes some replies late.
      expect(later.map(({ replyMs }) => replyMs).sort((a, b) => a - b)[10]).toBeLessThan(LATER_REPLY_MS_MAX);
      await delivered([...first, ...later]);
      expect(areAccepted).toBe(false);

      await unlock();
      await delivered([...before, ...(await waiting)]);
      expect(await group.problems()).toEqual([]);
    });

    it('the reports, campaigns and sends of a project wait for no locks of ten others that ask for the same', {
      timeout: 60_000,
    }, async () => {
      const rows = await group.rows("SELECT id FROM projects WHERE slug LIKE 'locked-%'");
      expect(rows).toHaveLength(LOCKED_PROJECTS);
      const unlocks = await Promise.all(rows.map(({ id }) => group.lockAccount(id as string)));
      unlock = async () => void (await Promise.all(unlocks.map((each) => each())));
      const ask = (apiKey: string | undefined) => [
        member.request('/reports/generate', ALL_MESSAGES, apiKey),
        member.request(CAMPAIGNS, BODY, apiKey),
      ];
      let settled = 0;
      const waiting = locked.flatMap(({ apiKeys }) => ask(apiKeys?.[0]));
      for (const each of waiting) void each.finally(() => (settled += 1)).catch(() => {});
      // All of them have met their locks.
      await until(async () => (await group.rows(LOCK_WAITS)).length > 0);
      await new Promise<void>((resolve) => setImmediate(resolve));

      const times = [];
      for (let index = 0; index < ROUNDS; index += 1) {
        const sentAt = performance.now();
        const replies = await Promise.all([
          ...ask(OTHER_KEY),
          member.request('/sms', send(index), OTHER_KEY),
        ]);
        times.push(performance.now() - sentAt);
        expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
      }
      expect(settled).toBe(0);
      // Half of them: a machine that is busy makes some replies late.
      expect(times.sort((a, b) => a - b)[(ROUNDS - 1) / 2]).toBeLessThan(ROUND_MS_MAX);

      await unlock();
      expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
    });
  },
);
