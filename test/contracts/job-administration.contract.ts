import { describe, expect, it } from 'vitest';
import { startAttemptJob } from '../../src/application/jobs/attempt-jobs.ts';
import { syncWhatsappJob } from '../../src/application/jobs/whatsapp-jobs.ts';
import type { Job } from '../../src/domain/jobs/job.ts';
import { CLOSED_CIRCUIT } from '../../src/domain/shared/circuit-breaker.ts';
import { aMessage, anSmsId, NOW, PROJECT_ID } from '../support/builders.ts';
import { type Storage, storageOfSuite } from './storage.ts';

const ANY = { kind: null, reason: null, after: null };

/** What the stores promise to operators about jobs: counts, and dead-letter jobs. */
export function jobAdministrationContract(open: () => Promise<Storage>): void {
  const { run, read } = storageOfSuite(open);
  const attempt = (number: number, dueAt = NOW) =>
    startAttemptJob(aMessage({ smsId: anSmsId(number) }), 0, dueAt);

  /** Dead-letters jobs one after another, a millisecond apart. */
  async function deadLetter(jobs: readonly Job[]): Promise<void> {
    for (const [index, job] of jobs.entries()) {
      await run(async ({ jobs: store }) => {
        await store.add([job], NOW);
        const leased = await store.lease({ workerId: 'w', now: NOW, until: NOW + 1, limit: 1 });
        await store.fail(leased, {
          reason: `reason ${index}`,
          at: NOW + index,
          retryAt: NOW,
          failuresMax: 1,
        });
      });
    }
  }

  describe('the administration of jobs', () => {
    it('the job survey counts due jobs up to a limit, by priority', async () => {
      await run(({ jobs }) => jobs.add([attempt(1), attempt(2), attempt(3), syncWhatsappJob(NOW)], NOW));
      await run(({ jobs }) => jobs.add([attempt(4, NOW + 5), attempt(5, NOW + 6)], NOW));
      const due = (now: number, limit: number) => read(({ jobSurvey }) => jobSurvey.countDue(now, limit));
      const none = { code: 0, text: 0, campaign: 0, webhook: 0, housekeeping: 0 };
      expect(Object.fromEntries(await due(NOW, 10))).toEqual({ ...none, code: 3, housekeeping: 1 });
      expect((await due(NOW + 5, 10)).get('code')).toBe(4);
      expect((await due(NOW + 6, 1)).get('code')).toBe(2);
    });

    it('the job survey tells jobs by priority, kind and state', async () => {
      await run(({ jobs }) =>
        jobs.add([attempt(1), attempt(2), attempt(3, NOW + 50), syncWhatsappJob(NOW)], NOW),
      );
      await run(({ jobs }) => jobs.lease({ workerId: 'w', now: NOW, until: NOW + 20, limit: 1 }));
      expect(await read(({ jobSurvey }) => jobSurvey.depth(NOW, 10))).toEqual([
        { priority: 'code', kind: 'start-attempt', state: 'due', jobs: 1 },
        { priority: 'code', kind: 'start-attempt', state: 'leased', jobs: 1 },
        { priority: 'code', kind: 'start-attempt', state: 'scheduled', jobs: 1 },
        { priority: 'housekeeping', kind: 'sync-whatsapp', state: 'due', jobs: 1 },
      ]);
    });

    it('dead-letter jobs are listed in pages, the newest first, by kind and by reason', async () => {
      await deadLetter([attempt(1), syncWhatsappJob(NOW), attempt(2)]);
      const first = await read(({ deadLetters }) => deadLetters.list({ ...ANY, limit: 2 }));
      expect(first).toEqual([
        {
          id: attempt(2).id,
          projectId: PROJECT_ID,
          work: attempt(2).work,
          reason: 'reason 2',
          deadLetteredAt: NOW + 2,
        },
        expect.objectContaining({ id: syncWhatsappJob(NOW).id, projectId: 'installation' }),
      ]);
      const after = first[1] ?? null;
      expect(await read(({ deadLetters }) => deadLetters.list({ ...ANY, after, limit: 2 }))).toMatchObject([
        { id: attempt(1).id },
      ]);
      const ofKind = { ...ANY, kind: 'start-attempt', limit: 9 };
      expect(await read(({ deadLetters }) => deadLetters.list(ofKind))).toHaveLength(2);
      const ofReason = { ...ANY, reason: 'reason 1', limit: 9 };
      expect(await read(({ deadLetters }) => deadLetters.list(ofReason))).toMatchObject([
        { id: syncWhatsappJob(NOW).id },
      ]);
      expect(await read(({ deadLetters }) => deadLetters.count(2))).toBe(2);
    });

    it('locked dead-letter jobs are the oldest that the filter lets through, and can be redriven or removed', async () => {
      await deadLetter([attempt(1), attempt(2), syncWhatsappJob(NOW)]);
      await run(async ({ deadLetters }) => {
        const [oldest] = await deadLetters.lock({ kind: 'start-attempt', ids: null }, 1);
        expect(oldest?.id).toBe(attempt(1).id);
        await deadLetters.redrive(oldest === undefined ? [] : [oldest], NOW);
        const chosen = await deadLetters.lock({ kind: null, ids: [attempt(2).id, 'none'] }, 9);
        expect(chosen.map(({ id }) => id)).toEqual([attempt(2).id]);
        await deadLetters.remove(chosen);
      });
      const left = await read(({ deadLetters }) => deadLetters.list({ ...ANY, limit: 9 }));
      expect(left.map(({ id }) => id)).toEqual([syncWhatsappJob(NOW).id]);
      const leased = await run(({ jobs }) =>
        jobs.lease({ workerId: 'w', now: NOW, until: NOW + 9, limit: 9 }),
      );
      expect(leased).toEqual([{ id: attempt(1).id, fencingToken: NOW + 1, work: attempt(1).work }]);
    });

    it('redriving leaves a job of the same id alone while it is leased, and makes one that waits due', async () => {
      await deadLetter([attempt(1), attempt(2), attempt(3)]);
      await run(({ jobs }) => jobs.add([attempt(1), attempt(2), attempt(3, NOW + 5)], NOW));
      const held = await run(({ jobs }) => jobs.lease({ workerId: 'w', now: NOW, until: NOW + 9, limit: 9 }));
      expect(held.map(({ id }) => id)).toEqual([attempt(1).id, attempt(2).id]);
      await run(async ({ deadLetters }) => {
        const found = await deadLetters.lock({ kind: null, ids: [attempt(1).id] }, 1);
        await deadLetters.redrive(found, NOW + 1);
      });
      await run(async ({ deadLetters }) =>
        deadLetters.redrive(await deadLetters.lock({ kind: null, ids: null }, 9), NOW + 1),
      );
      const due = await run(({ jobs }) =>
        jobs.lease({ workerId: 'w', now: NOW + 1, until: NOW + 9, limit: 9 }),
      );
      expect(due.map(({ id }) => id)).toEqual([attempt(3).id]);
      expect(await run(({ jobs }) => jobs.complete([...held, ...due]))).toEqual([...held, ...due]);
      expect(await read(({ deadLetters }) => deadLetters.count(10))).toBe(0);
    });

    it('the circuit breakers that are not closed are counted', async () => {
      await run(async ({ circuitBreakers }) => {
        await circuitBreakers.lock(['a', 'b', 'c'], NOW);
        await circuitBreakers.save(new Map([['b', { ...CLOSED_CIRCUIT, openUntil: NOW + 9 }]]), NOW);
      });
      expect(await read(({ circuitBreakers }) => circuitBreakers.countOpen(9))).toBe(1);
    });
  });
}
