import { describe, expect, it } from 'vitest';
import { startAttemptJob } from '../../src/application/jobs/attempt-jobs.ts';
import type { JobPlace, LastServed } from '../../src/application/ports/stores/job-store.ts';
import type { IdempotencyRecord } from '../../src/domain/idempotency/idempotency.ts';
import type { Job, LeasedJob } from '../../src/domain/jobs/job.ts';
import type { JobPriority } from '../../src/domain/jobs/job-priority.ts';
import { iqd } from '../../src/domain/shared/money.ts';
import {
  aDeliveryReport,
  aMessage,
  anAttempt,
  anSmsId,
  aPhoneNumber,
  aProject,
  aSealedSecret,
  aText,
  NOW,
  PROJECT_ID,
} from '../support/builders.ts';
import { Gate } from '../support/job-collector.ts';
import { MeetingPoint, type Storage, storageOfSuite } from './storage.ts';

const OTHER_PROJECT_ID = '664abc000000000000000002';
const LEASE_MS = 30_000;
/** Before the jobs come due: they are not available yet. */
const ADDED_AT = NOW - 10_000;

/** What the stores of messages, jobs and idempotency records promise. */
export function storesContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);
  const { run, read } = storage;
  const redriveAll = (now: number) =>
    run(async ({ deadLetters }) =>
      deadLetters.redrive(await deadLetters.lock({ kind: null, ids: null }, 9), now),
    );

  describe('messages', () => {
    const rich = aMessage({
      phoneNumberAsSent: '07712345678',
      smsId: anSmsId(2),
      senderId: 'Barid',
      content: aText('مرحبا بالعالم 👩‍👩‍👧 "quoted" \\ and a\nline feed\tand a tab, ? :name $1'),
      whatsappSender: { accountId: 'a', phoneId: 'p', templateName: 't', templateId: 'i' },
      deliveryReport: aDeliveryReport({ webhookSecret: aSealedSecret() }),
      settlement: 'delivered',
      attempts: [
        anAttempt({
          state: 'failed',
          reason: 'غير متاح',
          providerMessageIds: ['wamid.1', 'wamid.2'],
          charge: { billable: true, model: 'PMP', category: 'marketing' },
          endedAt: NOW + 1,
        }),
      ],
    });

    it('the message store returns messages as they were inserted, in the order of their ids', async () => {
      await run(({ messages }) => messages.insert([rich, aMessage()]));
      const found = await run(({ messages }) => messages.lock([anSmsId(2), anSmsId(3), anSmsId(1)]));
      expect(found).toEqual([aMessage(), rich]);
    });

    it('the message store finds a message for its own project only', async () => {
      await run(({ messages }) => messages.insert([rich]));
      expect(await read(({ messages }) => messages.find(PROJECT_ID, anSmsId(2)))).toEqual(rich);
      expect(await read(({ messages }) => messages.find(OTHER_PROJECT_ID, anSmsId(2)))).toBeNull();
      expect(await read(({ messages }) => messages.find(PROJECT_ID, anSmsId(3)))).toBeNull();
    });

    it('the message store tells the project of each message that exists', async () => {
      await run(({ messages }) => messages.insert([rich, aMessage()]));
      const smsIds = [anSmsId(3), anSmsId(2), aMessage().smsId];
      expect(await read(({ messages }) => messages.projectIdsOf(smsIds))).toEqual(
        new Map([
          [anSmsId(2), PROJECT_ID],
          [aMessage().smsId, PROJECT_ID],
        ]),
      );
    });

    it('the message store rejects a list of messages with an smsId that exists, and inserts none of it', async () => {
      await run(({ messages }) => messages.insert([aMessage()]));
      await expect(run((s) => s.messages.insert([rich, aMessage()]))).rejects.toThrow(/unique|duplicate/i);
      expect(await read(({ messages }) => messages.find(PROJECT_ID, anSmsId(2)))).toBeNull();
    });

    it('the message store saves the changing columns of the given messages and nothing else', async () => {
      await run(({ messages }) => messages.insert([aMessage(), rich, aMessage({ smsId: anSmsId(3) })]));
      const changed = {
        content: aText('***'),
        attempts: [
          anAttempt({
            state: 'delivered',
            providerMessageIds: ['r'],
            charge: { billable: false, model: 'PMP', category: 'service' },
            endedAt: NOW + 5,
          }),
        ],
        status: 'delivered',
        isFinal: true,
        sentAt: NOW + 4,
        finalAt: NOW + 5,
        errorReason: 'No delivered report in time',
      } as const;
      await run(({ messages }) =>
        messages.save([
          { ...aMessage({ smsId: anSmsId(3) }), ...changed, cost: iqd(1), createdAt: NOW + 9 },
          // Its content does not change before it is final.
          { ...aMessage(), status: 'sent', content: aText('not saved') },
        ]),
      );
      expect(await run(({ messages }) => messages.lock([1, 2, 3].map(anSmsId)))).toEqual([
        aMessage({ status: 'sent' }),
        rich,
        { ...aMessage({ smsId: anSmsId(3) }), ...changed },
      ]);
    });

    it('the message store returns the instants at which sends to a number were accepted, the newest of each key', async () => {
      const numbers = [aPhoneNumber('9647700000001'), aPhoneNumber('9647700000002')] as const;
      const send = (n: number, phoneNumber = numbers[0], createdAt = NOW + n, projectId = PROJECT_ID) =>
        aMessage({ smsId: anSmsId(n), phoneNumber, createdAt, projectId });
      await run(({ messages }) =>
        messages.insert([
          ...[1, 2, 3, 4].map((n) => send(n)),
          send(5, numbers[1]),
          send(6, numbers[0], NOW + 6, OTHER_PROJECT_ID),
        ]),
      );
      const key = {
        projectId: PROJECT_ID,
        phoneNumber: numbers[0],
        since: NOW + 1,
        until: NOW + 9,
        limit: 5,
      };
      const found = await run(({ messages }) =>
        messages.acceptedAt([
          key,
          { ...key, limit: 2 },
          { ...key, until: NOW + 3, limit: 1 },
          { ...key, phoneNumber: numbers[1] },
          { ...key, phoneNumber: aPhoneNumber('9647700000003') },
          { ...key, projectId: OTHER_PROJECT_ID },
          key,
        ]),
      );
      const all = [NOW + 2, NOW + 3, NOW + 4];
      expect(found.map((instants) => [...instants].sort())).toEqual([
        all,
        [NOW + 3, NOW + 4],
        [NOW + 3],
        [NOW + 5],
        [],
        [NOW + 6],
        all,
      ]);
      expect(await run(({ messages }) => messages.acceptedAt([]))).toEqual([]);
    });
  });

  describe('jobs', () => {
    const job = (id: string, dueAt = NOW): Job => ({ ...startAttemptJob(aMessage(), 0, dueAt), id });
    const leased = (id: string, fencingToken: number): LeasedJob => ({
      id,
      fencingToken,
      work: job(id).work,
    });
    const lease = (now: number, limit = 10) =>
      run(({ jobs }) => jobs.lease({ workerId: 'worker', now, until: now + LEASE_MS, limit }));

    it('the job store leases due jobs, the longest due first, up to the limit', async () => {
      await run(({ jobs }) =>
        jobs.add([job('a', NOW), job('c', NOW - 5), job('future', NOW + 1), job('b', NOW - 5)], ADDED_AT),
      );
      expect(await lease(NOW, 2)).toEqual([leased('b', 1), leased('c', 1)]);
      expect(await lease(NOW, 2)).toEqual([leased('a', 1)]);
      expect(await lease(NOW, 2)).toEqual([]);
    });

    const jobsOf = (projectId: string, priority: JobPriority, ids: readonly string[], dueAt = NOW) =>
      ids.map((id): Job => ({ ...job(id, dueAt), projectId, priority }));
    const idsOf = (jobs: readonly LeasedJob[]) => jobs.map(({ id }) => id);

    it('the job store leases one job of each project after the other, and of a project the longest due first', async () => {
      await run(({ jobs }) =>
        jobs.add(
          [
            ...jobsOf('p1', 'text', ['a1', 'a2', 'a3', 'a4', 'a5'], NOW - 9_000),
            ...jobsOf('p2', 'text', ['b2'], NOW),
            ...jobsOf('p2', 'text', ['b1'], NOW - 1),
            ...jobsOf('p3', 'text', ['c1'], NOW),
            ...jobsOf('p4', 'text', ['later'], NOW + 1),
          ],
          ADDED_AT,
        ),
      );
      expect(idsOf(await lease(NOW, 6))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
      expect(idsOf(await lease(NOW, 6))).toEqual(['a4', 'a5']);
    });

    it('the job store leases to each project by its weight, mixed, and what it does not need to the others', async () => {
      await run(({ projects }) =>
        projects.insert([
          aProject({ id: 'p1', slug: 'light' }),
          aProject({ id: 'p2', slug: 'heavy', settings: { weight: 3 } }),
        ]),
      );
      const ids = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}${n + 1}`);
      await run(({ jobs }) =>
        jobs.add([...jobsOf('p1', 'text', ids('a', 9)), ...jobsOf('p2', 'text', ids('b', 9))], ADDED_AT),
      );
      expect(idsOf(await lease(NOW, 8))).toEqual(['a1', 'b1', 'b2', 'b3', 'a2', 'b4', 'b5', 'b6']);
      const setWeight = (weight: number) =>
        run(async ({ projects }) => {
          const [heavy] = await projects.byIds(['p2']);
          if (heavy !== undefined) {
            await projects.save([{ ...heavy, settings: { ...heavy.settings, weight } }]);
          }
        });
      await setWeight(1);
      expect(idsOf(await lease(NOW, 4))).toEqual(['a3', 'b7', 'a4', 'b8']);
      await setWeight(100);
      expect(idsOf(await lease(NOW, 4)).sort()).toEqual(['a5', 'a6', 'a7', 'b9']);
    });

    it('the job store leases by priority, and keeps a tenth of a lease for each lower one', async () => {
      const ids = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}${n}`);
      await run(({ jobs }) =>
        jobs.add(
          [
            ...jobsOf('p1', 'housekeeping', ids('h', 30), NOW - 3_000),
            ...jobsOf('p1', 'webhook', ids('w', 30), NOW - 2_000),
            ...jobsOf('p1', 'campaign', ids('m', 1), NOW - 2_000),
            ...jobsOf('p1', 'text', ids('t', 30), NOW - 1_000),
            ...jobsOf('p2', 'code', ids('c', 30), NOW),
          ],
          ADDED_AT,
        ),
      );
      const kinds = (leasedJobs: readonly LeasedJob[]) => idsOf(leasedJobs).map((id) => id.charAt(0));
      const many = (name: string, count: number) => Array.from({ length: count }, () => name);
      // What the only campaign job leaves of its part goes to the most urgent.
      expect(kinds(await lease(NOW, 20))).toEqual([
        ...many('c', 13),
        ...many('t', 2),
        'm',
        ...many('w', 2),
        ...many('h', 2),
      ]);
    });

    it('the job store leases jobs that are due when they are added beside those that came due before, however many', async () => {
      const ids = Array.from({ length: 600 }, (_, n) => `late/${String(n).padStart(3, '0')}`);
      const [replaced] = jobsOf('p2', 'text', ['b2'], NOW + 50);
      await run(({ jobs }) =>
        jobs.add([...jobsOf('p1', 'text', ids, NOW - 1), ...(replaced ? [replaced] : [])], ADDED_AT),
      );
      await run(async ({ jobs }) => {
        await jobs.add(jobsOf('p2', 'text', ['b1']), NOW);
        await jobs.scheduleNoLaterThan(jobsOf('p2', 'text', ['b2', 'b3']), NOW);
      });
      await run(({ jobs }) => jobs.add(jobsOf('p3', 'code', ['c1']), ADDED_AT));
      expect(idsOf(await lease(NOW, 7))).toEqual([
        'c1',
        'late/000',
        'b1',
        'late/001',
        'b2',
        'late/002',
        'b3',
      ]);
      expect(await read(({ jobs }) => jobs.nextDue())).toEqual({ id: 'late/003', dueAt: NOW - 1 });
      const rest = [...(await lease(NOW, 900)), ...(await lease(NOW, 900))];
      expect(idsOf(rest)).toEqual(ids.slice(3));
    });

    it('the job store skips available jobs of a project at a priority, the longest due first', async () => {
      await run(({ jobs }) =>
        jobs.add(
          [
            ...jobsOf('p1', 'code', ['a2', 'a3', 'a4']),
            ...jobsOf('p1', 'code', ['a1'], NOW - 1),
            ...jobsOf('p1', 'code', ['later'], NOW + 1),
            ...jobsOf('p1', 'text', ['b1']),
            ...jobsOf('p2', 'code', ['d1', 'd2']),
          ],
          NOW,
        ),
      );
      const skip = (count: number, after: JobPlace | null = null, projectId = 'p1') =>
        read(({ jobs }) => jobs.skipAvailable({ projectId, priority: 'code', after, count }));
      const [first, second] = [await skip(1), await skip(2)];
      expect([first, second]).toEqual([
        { id: 'a1', dueAt: NOW - 1 },
        { id: 'a2', dueAt: NOW },
      ]);
      expect(await skip(2, second)).toEqual({ id: 'a4', dueAt: NOW });
      expect([await skip(3, second), await skip(5), await skip(1, null, 'p3')]).toEqual([null, null, null]);
      await lease(NOW, 1);
      expect(await skip(1)).toEqual({ id: 'a2', dueAt: NOW });
    });

    it('the job store hands back what workers have leased that are gone, and nothing else', async () => {
      const leaseBy = (workerId: string, limit: number) =>
        run(({ jobs }) => jobs.lease({ now: NOW, until: NOW + LEASE_MS, limit, workerId }));
      await run(({ jobs }) =>
        jobs.add(
          [
            ...jobsOf('p1', 'text', ['a1', 'a2', 'a3', 'a4'], NOW - 1),
            ...jobsOf('p1', 'webhook', ['w1'], NOW - 1),
            job('deadline', NOW + 5),
          ],
          ADDED_AT,
        ),
      );
      const gone = [...(await leaseBy('gone', 3)), ...(await leaseBy('other', 1))];
      const alive = await leaseBy('alive', 1);
      expect([...gone, ...alive].map(({ id }) => id).sort()).toEqual(['a1', 'a2', 'a3', 'a4', 'w1']);
      const handBack = (now: number, until: number) =>
        run(({ jobs }) => jobs.handBack({ workerIds: ['gone', 'other'], now, until }));
      expect(await handBack(NOW + 1, NOW + LEASE_MS - 1)).toBe(0);
      expect(await handBack(NOW + 1, NOW + LEASE_MS)).toBe(4);
      expect(await handBack(NOW + 1, NOW + LEASE_MS)).toBe(0);
      expect(await lease(NOW)).toEqual([]);
      // The worker that is not gone after all completes a job as long as nobody else has it.
      expect(await run(({ jobs }) => jobs.complete(gone.slice(0, 1)))).toEqual(gone.slice(0, 1));
      const anew = await lease(NOW + 1);
      expect(idsOf(anew).sort()).toEqual(idsOf(gone.slice(1)).sort());
      expect(await run(({ jobs }) => jobs.complete(gone))).toEqual([]);
      expect(await run(({ jobs }) => jobs.complete(alive))).toEqual(alive);
    });

    it('the job store hands back only the jobs of messages, when they are asked for', async () => {
      const start = startAttemptJob(aMessage(), 0, NOW - 1);
      const others = [
        ...jobsOf('p1', 'text', ['campaigns/a/stop'], NOW - 1),
        ...jobsOf('p1', 'webhook', ['w'], NOW - 1),
      ];
      await run(({ jobs }) => jobs.add([start, ...others], ADDED_AT));
      await run(({ jobs }) => jobs.lease({ now: NOW, until: NOW + LEASE_MS, limit: 3, workerId: 'worker' }));
      const lost = { workerIds: ['worker'], now: NOW, until: NOW + LEASE_MS };
      expect(await run(({ jobs }) => jobs.handBack({ ...lost, ofMessages: true }))).toBe(1);
      expect(idsOf(await lease(NOW))).toEqual([start.id]);
    });

    it('the job store hands back nothing that another worker renewed, and what was renewed stays leased', async () => {
      await run(({ jobs }) => jobs.add([job('a', NOW)], ADDED_AT));
      const held = await run(({ jobs }) =>
        jobs.lease({ now: NOW, until: NOW + LEASE_MS, limit: 1, workerId: 'first' }),
      );
      const handBack = (workerId: string) =>
        run(({ jobs }) => jobs.handBack({ workerIds: [workerId], now: NOW, until: NOW + LEASE_MS }));
      const renew = () => run(({ jobs }) => jobs.renew(held, NOW + LEASE_MS, 'second'));
      expect(await renew()).toEqual(held);
      expect(await handBack('first')).toBe(0);
      expect(await handBack('second')).toBe(1);
      // It was not gone after all.
      expect(await renew()).toEqual(held);
      await run(({ jobs }) => jobs.scheduleNoLaterThan([job('a', NOW + 1)], NOW));
      expect(await lease(NOW + 1)).toEqual([]);
      expect(await handBack('second')).toBe(1);
    });

    it('the job store brings a job forward that was handed back, as one that nobody has', async () => {
      await run(({ jobs }) => jobs.add([job('a', NOW)], ADDED_AT));
      await run(({ jobs }) => jobs.lease({ now: NOW, until: NOW + LEASE_MS, limit: 1, workerId: 'gone' }));
      await run(({ jobs }) => jobs.handBack({ workerIds: ['gone'], now: NOW + 9, until: NOW + LEASE_MS }));
      await run(({ jobs }) => jobs.scheduleNoLaterThan([job('a', NOW + 4)], NOW));
      expect(idsOf(await lease(NOW + 4))).toEqual(['a']);
    });

    it('the job store leases nothing of a clock that is ahead of its own', async () => {
      await run(({ jobs }) => jobs.add([job('a', NOW + 5)], NOW + 5));
      expect(await lease(NOW + 4)).toEqual([]);
      expect(await read(({ jobs }) => jobs.nextDue())).toEqual({ id: 'a', dueAt: NOW + 5 });
      expect(idsOf(await lease(NOW + 5))).toEqual(['a']);
    });

    it('the job store leases everything to a project that is alone', async () => {
      const ids = Array.from({ length: 40 }, (_, n) => `job-${String(n).padStart(2, '0')}`);
      await run(({ jobs }) => jobs.add(jobsOf('p1', 'text', ids), ADDED_AT));
      expect(idsOf(await lease(NOW, 40))).toEqual(ids);
    });

    it('the job store serves every project when there are more projects than a lease has jobs', async () => {
      const projects = ['p1', 'p2', 'p3', 'p4', 'p5'];
      await run(({ jobs }) =>
        jobs.add(
          projects.flatMap((projectId) =>
            [1, 2, 3].flatMap((n) => jobsOf(projectId, 'text', [`${projectId}/${n}`])),
          ),
          ADDED_AT,
        ),
      );
      const lastServed: LastServed = new Map();
      const next = async (limit: number) =>
        idsOf(
          await run(({ jobs }) =>
            jobs.lease({ workerId: 'worker', now: NOW, until: NOW + LEASE_MS, limit, lastServed }),
          ),
        );
      expect(await next(2)).toEqual(['p1/1', 'p2/1']);
      expect(await next(2)).toEqual(['p3/1', 'p4/1']);
      expect(await next(2)).toEqual(['p5/1', 'p1/2']);
      expect(await next(6)).toEqual(['p2/2', 'p3/2', 'p4/2', 'p5/2', 'p1/3', 'p2/3']);
      expect(await next(1)).toEqual(['p3/3']);
      expect(await next(9)).toEqual(['p4/3', 'p5/3']);
    });

    it('the job store leases a job by the project and priority that it was added with last', async () => {
      await run(({ jobs }) => jobs.add(jobsOf('p1', 'housekeeping', ['a'], NOW - 5), ADDED_AT));
      await run(({ jobs }) =>
        jobs.add([...jobsOf('p1', 'code', ['a']), ...jobsOf('p1', 'text', ['b'], NOW - 5)], ADDED_AT),
      );
      expect(idsOf(await lease(NOW))).toEqual(['a', 'b']);
    });

    it('the job store redrives a dead-letter job under its own project and priority', async () => {
      await run(({ jobs }) => jobs.add(jobsOf('p2', 'code', ['z']), ADDED_AT));
      const failure = { reason: 'no luck', at: NOW, retryAt: NOW, failuresMax: 1 };
      await run(async ({ jobs }) =>
        jobs.fail(await jobs.lease({ workerId: 'worker', now: NOW, until: NOW + 1, limit: 1 }), failure),
      );
      await run(({ jobs }) =>
        jobs.add([...jobsOf('p1', 'code', ['a', 'b']), ...jobsOf('p2', 'text', ['y'])], ADDED_AT),
      );
      await redriveAll(NOW);
      expect(idsOf(await lease(NOW))).toEqual(['a', 'z', 'b', 'y']);
    });

    it('the job store leases a job again under a higher fencing token once its lease has ended', async () => {
      await run(({ jobs }) => jobs.add([job('a')], ADDED_AT));
      expect(await lease(NOW)).toEqual([leased('a', 1)]);
      expect(await lease(NOW + LEASE_MS - 1)).toEqual([]);
      expect(await lease(NOW + LEASE_MS)).toEqual([leased('a', 2)]);
    });

    it('the job store does not lease one job to two callers at once', async () => {
      const ids = Array.from({ length: 60 }, (_, n) => `job-${String(n).padStart(2, '0')}`);
      await run(({ jobs }) =>
        jobs.add(
          ids.map((id) => job(id)),
          NOW,
        ),
      );
      const callers = Math.min(3, storage.concurrency);
      const [start, end] = [new MeetingPoint(callers), new MeetingPoint(callers)];
      const batches = await Promise.all(
        Array.from({ length: 3 }, () =>
          run(async ({ jobs }) => {
            await start.meet();
            const batch = await jobs.lease({
              workerId: 'worker',
              now: NOW,
              until: NOW + LEASE_MS,
              limit: 20,
            });
            await end.meet();
            return batch;
          }),
        ),
      );
      expect(batches.map((batch) => batch.length)).toEqual([20, 20, 20]);
      expect(
        batches
          .flat()
          .map(({ id }) => id)
          .sort(),
      ).toEqual(ids);
    });

    it('the job store completes and removes the jobs whose token is the newest, and returns them in the given order', async () => {
      await run(({ jobs }) => jobs.add([job('a'), job('b'), job('c', NOW + 1)], ADDED_AT));
      await lease(NOW);
      const held = [leased('b', 1), leased('a', 1), leased('b', 1)];
      expect(await run(({ jobs }) => jobs.complete(held))).toEqual([leased('b', 1), leased('a', 1)]);
      expect(await run(({ jobs }) => jobs.complete(held))).toEqual([]);
      expect(await lease(NOW + LEASE_MS)).toEqual([leased('c', 1)]);
    });

    it('the job store does not complete a job under an old fencing token', async () => {
      await run(({ jobs }) => jobs.add([job('a')], ADDED_AT));
      const [old] = await lease(NOW);
      const [current] = await lease(NOW + LEASE_MS);
      expect(await run(({ jobs }) => jobs.complete(old === undefined ? [] : [old]))).toEqual([]);
      expect(await run(({ jobs }) => jobs.complete(current === undefined ? [] : [current]))).toEqual([
        leased('a', 2),
      ]);
    });

    it('the job store returns the jobs that are leased under their fencing token and until the given instant', async () => {
      await run(({ jobs }) => jobs.add([job('a'), job('b'), job('c')], ADDED_AT));
      await lease(NOW, 2);
      const asked = [leased('b', 1), leased('a', 1), leased('c', 1), leased('a', 2), leased('unknown', 1)];
      const held = (until: number) => read(({ jobs }) => jobs.stillLeased(asked, until));
      expect(await held(NOW + LEASE_MS)).toEqual([leased('b', 1), leased('a', 1)]);
      expect(await held(NOW + LEASE_MS + 1)).toEqual([]);
    });

    it('the job store voids a lease when the job is added again with a new due time', async () => {
      await run(({ jobs }) => jobs.add([job('a')], ADDED_AT));
      const held = await lease(NOW);
      await run(({ jobs }) => jobs.add([job('a', NOW + 7), job('b', NOW + 9)], NOW));
      expect(await run(({ jobs }) => jobs.complete(held))).toEqual([]);
      expect(await read(({ jobs }) => jobs.nextDue())).toMatchObject({ dueAt: NOW + 7 });
      expect(await lease(NOW + 7)).toEqual([leased('a', 3)]);
    });

    it('the job store schedules a job no later than it was due, and leaves a leased job as it is', async () => {
      const scheduleNoLaterThan = (...jobs: readonly Job[]) =>
        run((stores) => stores.jobs.scheduleNoLaterThan(jobs, NOW));
      await scheduleNoLaterThan(job('a', NOW + 10), job('b', NOW + 10));
      await scheduleNoLaterThan(job('a', NOW + 5), job('b', NOW + 15));
      expect(await lease(NOW + 4)).toEqual([]);
      const [a] = await lease(NOW + 5);
      expect(a).toMatchObject({ id: 'a' });
      expect(await lease(NOW + 10)).toMatchObject([{ id: 'b' }]);
      await scheduleNoLaterThan(job('a', NOW));
      expect(await lease(NOW + 10)).toEqual([]);
      const held = a === undefined ? [] : [a];
      expect(await run((stores) => stores.jobs.complete(held))).toEqual(held);
      await scheduleNoLaterThan(job('a', NOW + 11));
      const [again] = await lease(NOW + 11);
      expect(again).toMatchObject({ id: 'a' });
      // A lease from before the completion is no lease on the job that was added after it.
      expect(again?.fencingToken).not.toBe(a?.fencingToken);
      expect(await read((stores) => stores.jobs.stillLeased(held))).toEqual([]);
    });

    it('the job store schedules a job earlier that was released or has failed', async () => {
      await run(({ jobs }) => jobs.add([job('a'), job('b')], ADDED_AT));
      await lease(NOW);
      const failure = { reason: 'no luck', at: NOW, retryAt: NOW + 50, failuresMax: 2 };
      await run(({ jobs }) => jobs.fail([leased('a', 1)], failure));
      await run(({ jobs }) => jobs.add([job('b', NOW + 50)], NOW));
      expect(await lease(NOW + 20)).toEqual([]);
      await run(({ jobs }) => jobs.scheduleNoLaterThan([job('a', NOW + 20), job('b', NOW + 20)], NOW));
      expect((await lease(NOW + 20)).map(({ id }) => id)).toEqual(['a', 'b']);
    });

    it('the job store renews the leases whose fencing token is still the newest', async () => {
      await run(({ jobs }) => jobs.add([job('a'), job('b'), job('c')], ADDED_AT));
      await lease(NOW, 2);
      const asked = [leased('b', 1), leased('a', 2), leased('c', 1), leased('a', 1)];
      expect(await run(({ jobs }) => jobs.renew(asked, NOW + 2 * LEASE_MS, 'worker'))).toEqual([
        leased('b', 1),
        leased('a', 1),
      ]);
      expect(await lease(NOW + LEASE_MS)).toEqual([leased('c', 1)]);
      expect((await lease(NOW + 2 * LEASE_MS)).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    });

    it('the job store locks leased jobs, so that a transaction that schedules one waits and finds it removed', async () => {
      await run(({ jobs }) => jobs.add([job('a'), job('b')], ADDED_AT));
      await lease(NOW, 1);
      const [isLocked, isAsking] = [new Gate(), new Gate()];
      const completing = run(async ({ jobs }) => {
        expect(await jobs.lockLeased([leased('b', 1), leased('a', 1)])).toEqual([leased('a', 1)]);
        isLocked.open();
        if (storage.concurrency > 1) await isAsking.opened;
        await jobs.complete([leased('a', 1)]);
      });
      await isLocked.opened;
      const adding = run(async ({ jobs }) => {
        const asking = jobs.scheduleNoLaterThan([job('a', NOW + 3)], NOW);
        isAsking.open();
        await asking;
      });
      await Promise.all([completing, adding]);
      expect((await lease(NOW + 3)).map(({ id }) => id)).toEqual(['b', 'a']);
    });

    it('the job store adds the last of the jobs with equal ids in one list', async () => {
      await run(({ jobs }) => jobs.add([job('a', NOW + 1), job('a', NOW + 2)], NOW));
      expect(await read(({ jobs }) => jobs.nextDue())).toMatchObject({ dueAt: NOW + 2 });
    });

    it('the job store removes jobs whether they are leased or not', async () => {
      await run(({ jobs }) => jobs.add([job('a'), job('b'), job('c')], ADDED_AT));
      await lease(NOW, 1);
      await run(({ jobs }) => jobs.remove(['a', 'b', 'unknown']));
      expect(await lease(NOW + LEASE_MS)).toEqual([leased('c', 1)]);
    });

    it('the job store counts failures under the newest token, dead-letters the job that failed too often, and redrives it', async () => {
      const failure = { reason: 'no luck', at: NOW, retryAt: NOW + 7, failuresMax: 2 };
      await run(({ jobs }) => jobs.add([job('a'), job('b')], ADDED_AT));
      const [a, b] = await lease(NOW);
      if (a === undefined || b === undefined) throw new Error('two jobs were due');
      expect(await run(({ jobs }) => jobs.fail([a, { ...b, fencingToken: 0 }], failure))).toEqual([]);
      expect(await read(({ jobs }) => jobs.nextDue())).toMatchObject({ dueAt: NOW + 7 });
      const again = await lease(NOW + 7);
      expect(again).toEqual([leased('a', 2)]);
      expect(await run(({ jobs }) => jobs.fail(again, failure))).toEqual(again);
      const all = { kind: null, reason: null, after: null, limit: 10 };
      expect(await read(({ deadLetters }) => deadLetters.list(all))).toMatchObject([
        { id: 'a', reason: 'no luck', deadLetteredAt: NOW },
      ]);
      expect(await lease(NOW + LEASE_MS)).toEqual([leased('b', 2)]);
      await redriveAll(NOW + LEASE_MS);
      expect(await read(({ deadLetters }) => deadLetters.count(10))).toBe(0);
      expect(await lease(NOW + LEASE_MS)).toEqual([leased('a', NOW + LEASE_MS + 1)]);
    });

    it('the job store forgets the failures of a job that is added again', async () => {
      const failure = { reason: 'no luck', at: NOW, retryAt: NOW, failuresMax: 2 };
      await run(({ jobs }) => jobs.add([job('a')], ADDED_AT));
      await run(async ({ jobs }) =>
        jobs.fail(await jobs.lease({ workerId: 'worker', now: NOW, until: NOW + 1, limit: 1 }), failure),
      );
      await run(({ jobs }) => jobs.add([job('a')], ADDED_AT));
      const held = await lease(NOW);
      expect(await run(({ jobs }) => jobs.fail(held, failure))).toEqual([]);
    });

    it('the job store returns the job that is due next', async () => {
      expect(await read(({ jobs }) => jobs.nextDue())).toBeNull();
      await run(({ jobs }) => jobs.add([job('a', NOW + 20), job('b', NOW + 10)], NOW));
      expect(await read(({ jobs }) => jobs.nextDue())).toMatchObject({ dueAt: NOW + 10 });
    });

    it('the job store returns the job that is due next of the given priorities', async () => {
      await run(({ jobs }) =>
        jobs.add(
          [
            ...jobsOf('p1', 'code', ['a1'], NOW - 1),
            ...jobsOf('p2', 'code', ['b1'], NOW - 2),
            ...jobsOf('p1', 'text', ['a2'], NOW - 3),
            ...jobsOf('p1', 'webhook', ['a3'], NOW + 1),
          ],
          NOW,
        ),
      );
      const nextOf = (...priorities: readonly JobPriority[]) => read(({ jobs }) => jobs.nextDue(priorities));
      expect(await nextOf('code')).toEqual({ id: 'b1', dueAt: NOW - 2 });
      expect(await nextOf('code', 'text', 'webhook')).toEqual({ id: 'a2', dueAt: NOW - 3 });
      expect(await nextOf('webhook')).toEqual({ id: 'a3', dueAt: NOW + 1 });
      expect(await nextOf('campaign')).toBeNull();
    });

    it('the job store accepts empty lists of jobs', async () => {
      await run(async ({ jobs }) => {
        await jobs.add([], NOW);
        await jobs.remove([]);
        expect(await jobs.fail([], { reason: '', at: NOW, retryAt: NOW, failuresMax: 1 })).toEqual([]);
        expect(await jobs.complete([])).toEqual([]);
      });
      expect(await read(({ deadLetters }) => deadLetters.count(10))).toBe(0);
    });
  });

  describe('idempotency records', () => {
    const record = (given: Partial<IdempotencyRecord> = {}): IdempotencyRecord => ({
      projectId: PROJECT_ID,
      route: 'POST /sms',
      key: 'key-1',
      requestDigest: 'hash',
      result: '{"text":"جواب"}',
      expiresAt: NOW + 100,
      ...given,
    });
    const find = (key: string, now: number) =>
      read((s) => s.idempotency.find([{ projectId: PROJECT_ID, route: 'POST /sms', key }], now));

    it('the idempotency store finds records by project, route and key until they expire', async () => {
      await run(({ idempotency }) =>
        idempotency.save([
          record(),
          record({ projectId: OTHER_PROJECT_ID, requestDigest: 'other project' }),
          record({ route: 'POST /reports/generate', requestDigest: 'other route' }),
        ]),
      );
      expect(await find('key-1', NOW + 99)).toEqual([record()]);
      expect(await find('key-1', NOW + 100)).toEqual([]);
      expect(await find('KEY-1', NOW)).toEqual([]);
    });

    it('the idempotency store replaces an expired record', async () => {
      const renewed = record({ requestDigest: 'new', result: '{}', expiresAt: NOW + 300 });
      await run(({ idempotency }) => idempotency.save([record()]));
      await run(({ idempotency }) => idempotency.save([renewed]));
      expect(await find('key-1', NOW + 200)).toEqual([renewed]);
    });

    it('the idempotency store sweeps expired records up to the limit', async () => {
      await run(({ idempotency }) =>
        idempotency.save([
          record({ key: 'key-1', expiresAt: NOW }),
          record({ key: 'key-2', expiresAt: NOW - 1 }),
          record({ key: 'key-3', expiresAt: NOW + 1 }),
        ]),
      );
      expect(await run(({ idempotency }) => idempotency.sweep(NOW, 1))).toBe(1);
      expect(await run(({ idempotency }) => idempotency.sweep(NOW, 5))).toBe(1);
      expect(await run(({ idempotency }) => idempotency.sweep(NOW, 5))).toBe(0);
      expect(await find('key-3', NOW)).toEqual([record({ key: 'key-3', expiresAt: NOW + 1 })]);
    });
  });
}
