import { afterEach, describe, expect, it } from 'vitest';
import { ATTEMPT_GRACE_MS } from '../../src/domain/chain/attempt-deadline.ts';
import { LEASE_MS, type LeasedJob } from '../../src/domain/jobs/job.ts';
import { Gate } from '../support/job-collector.ts';
import { seedWith, verification } from '../support/seeds.ts';
import { type Member, ServiceGroup } from '../support/service-group.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const HOME_NUMBER = '9647701234567';
const ATTEMPT_TIMEOUT_MS = 30_000;
const HELD_CREDIT = { balance: 15_000_000, held: 80_000, spent: 0 };
const SPENT_CREDIT = { balance: 14_920_000, held: 0, spent: 80_000 };

describe.skipIf(POSTGRES_URL === undefined)(
  `a write that comes too late${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    let group: ServiceGroup;
    afterEach(() => group.dispose());

    /** No member fetches work by itself: the test decides which one works, and when. */
    const start = async (): Promise<readonly [Member, Member]> => {
      group = new ServiceGroup(POSTGRES_URL ?? '', seedWith({}));
      return group.start([{ role: 'api' }, { role: 'api' }]);
    };
    const lease = ({ service }: Member): Promise<readonly LeasedJob[]> =>
      service.roots.unitOfWork.run(({ jobs }) =>
        jobs.lease({ workerId: 'worker', now: group.clock.at, until: group.clock.at + LEASE_MS, limit: 10 }),
      );
    const run = async ({ service }: Member, jobs: readonly LeasedJob[]) => {
      await service.roots.runJobs.execute(jobs);
    };
    const accounts = () => group.rows('SELECT balance, held, spent FROM accounts');
    const submissions = () => group.submitted.map(({ smsId, channel }) => ({ smsId, channel }));

    it('a write under an old lease has no effect, before or after the new holder did the work', async () => {
      const [slow, quick] = await start();
      const reply = await slow.request('/sms', verification(HOME_NUMBER, { provider: 'sms' }));
      const { smsId } = reply.body as { smsId: string };
      const old = await lease(slow);
      expect(old).toEqual([
        { id: `${smsId}/start/0`, fencingToken: 1, work: { kind: 'start-attempt', smsId, attemptNumber: 0 } },
      ]);
      expect(await lease(quick)).toEqual([]);
      group.clock.at += LEASE_MS;
      const current = await lease(quick);
      expect(current).toEqual([{ ...old[0], fencingToken: 2 }]);

      await run(slow, old);
      await slow.service.idle();
      expect(submissions()).toEqual([]);
      expect(await group.rows('SELECT attempts FROM messages')).toEqual([{ attempts: '[]' }]);
      expect(await group.rows('SELECT fencing_token FROM jobs')).toEqual([{ fencing_token: 2 }]);

      await run(quick, current);
      await quick.service.idle();
      expect(submissions()).toEqual([{ smsId, channel: 'sms' }]);
      const [stored] = await group.rows('SELECT * FROM messages');

      await run(slow, old);
      await slow.service.idle();
      expect(submissions()).toEqual([{ smsId, channel: 'sms' }]);
      expect(await group.rows('SELECT * FROM messages')).toEqual([stored]);
      expect(await accounts()).toEqual([HELD_CREDIT]);
    });

    it('a job is done by one worker only when two run the same lease at the same time', async () => {
      const [slow, quick] = await start();
      const bodies = Array.from({ length: 5 }, (_, index) => verification(`964770000000${index}`));
      await Promise.all(bodies.map((body) => slow.request('/sms', body)));
      const jobs = await lease(slow);
      expect(jobs).toHaveLength(5);
      await Promise.all([run(slow, jobs), run(quick, jobs), run(slow, jobs), run(quick, jobs)]);
      await Promise.all([slow.service.idle(), quick.service.idle()]);
      expect(new Set(submissions().map(({ smsId }) => smsId)).size).toBe(5);
      expect(submissions()).toHaveLength(5);
    });

    it('a submit result changes and charges nothing when another worker has finished the message', async () => {
      const [slow, quick] = await start();
      const reply = await slow.request('/sms', verification(HOME_NUMBER, { provider: 'whatsapp-sms' }));
      const { smsId } = reply.body as { smsId: string };
      const frozen = new Gate();
      slow.service.roots.simulator.follow(async () => {
        await frozen.opened;
        return { result: 'accepted', receipts: [{ afterMs: 0, receipt: { kind: 'delivered' } }] };
      });
      await run(slow, await lease(slow));

      group.clock.at += ATTEMPT_TIMEOUT_MS;
      // The deadline of whatsapp leaves the result that nobody has seen its time; then the start of sms.
      await run(quick, await lease(quick));
      group.clock.at += ATTEMPT_GRACE_MS;
      await run(quick, await lease(quick));
      await run(quick, await lease(quick));
      await quick.service.idle();
      expect(submissions()).toEqual([{ smsId, channel: 'sms' }]);
      group.clock.at += 1_000;
      expect(await group.rows('SELECT status FROM messages')).toEqual([{ status: 'sent' }]);
      await takeReceipts(quick);
      expect(await accounts()).toEqual([SPENT_CREDIT]);

      frozen.open();
      await slow.service.idle();
      await takeReceipts(slow);
      expect(submissions()).toEqual([
        { smsId, channel: 'sms' },
        { smsId, channel: 'whatsapp' },
      ]);
      expect(await group.rows('SELECT status, is_final FROM messages')).toEqual([
        { status: 'delivered', is_final: 1 },
      ]);
      expect(await accounts()).toEqual([SPENT_CREDIT]);
      expect(await group.rows("SELECT id FROM ledger_entries WHERE kind = 'settlement'")).toEqual([
        { id: `${smsId}/settlement` },
      ]);
      expect(await group.problems()).toEqual([]);
    });

    async function takeReceipts({ service: { roots } }: Member): Promise<void> {
      await roots.simulator.start((events) => roots.recordProviderEvents.execute(events));
      await roots.simulator.deliverDue();
    }
  },
);
