import { beforeEach, describe, expect, it } from 'vitest';
import { StorageUnavailable } from '../../../src/application/errors/storage-unavailable.ts';
import { RecordJobFailure } from '../../../src/application/jobs/record-job-failure.ts';
import { RunJobs } from '../../../src/application/jobs/run-jobs.ts';
import type { LeasedJob } from '../../../src/domain/jobs/job.ts';
import { NOW } from '../../support/builders.ts';
import { leasedJobs } from '../../support/job-collector.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const delivery: LeasedJob = {
  id: 'webhooks/p1/a.example/in',
  fencingToken: 3,
  work: { kind: 'deliver-webhooks', projectId: 'p1', endpoint: 'a.example/in' } as LeasedJob['work'],
};

describe('RunJobs when jobs fail', () => {
  const clock = { at: NOW, now: () => clock.at };
  let logger: RecordingLogger;
  /** The jobs of each call of the use cases, and of each failure that was recorded. */
  let calls: string[][];
  let recorded: string[];
  let run: (call: number) => void;
  let record: () => void;
  let deadLettered: readonly LeasedJob[];
  let reasons: string[];

  beforeEach(() => {
    clock.at = NOW;
    logger = new RecordingLogger();
    calls = [];
    recorded = [];
    run = () => {};
    record = () => {};
    deadLettered = [];
    reasons = [];
  });

  function runJobs(): RunJobs {
    const execute = async (jobs: readonly LeasedJob[]) => {
      calls.push(jobs.map(({ id }) => id));
      run(calls.length);
    };
    const unitOfWork = {
      run: async (work: (stores: unknown) => unknown) => {
        record();
        return work({
          jobs: {
            fail: async (jobs: readonly LeasedJob[], { reason }: { readonly reason: string }) => {
              reasons.push(reason);
              recorded.push(...jobs.map(({ id }) => id));
              return deadLettered;
            },
          },
        });
      },
    } as never;
    return new RunJobs({
      'start-attempt': { execute },
      'attempt-deadline': { execute },
      'deliver-webhooks': { execute },
      'start-campaign': { execute },
      'stop-campaign': { execute },
      'make-report': { execute },
      'remove-report': { execute },
      'run-retention': { execute },
      'sync-whatsapp': { execute },
      recordJobFailure: new RecordJobFailure({ unitOfWork, clock, logger }),
      clock,
      wakeSignal: { wake() {} },
    });
  }

  const [one, two, three] = ['sms-1/start/0', 'sms-2/start/0', 'sms-3/start/0'];
  const failedIds = () => logger.entries.map(({ fields }) => fields.jobId);

  it('RunJobs runs the jobs of each kind together, and apart from those of another kind', async () => {
    await runJobs().execute([...leasedJobs(1, 2), delivery]);
    expect(calls).toEqual([[one, two], [delivery.id]]);
  });

  it('RunJobs counts a failure of a job whose kind it does not know, also one with the name of a port', async () => {
    const unknown = ['dig', 'clock', 'toString'].map((kind) => ({ ...delivery, id: kind, work: { kind } }));
    await runJobs().execute(unknown);
    expect([calls, recorded, reasons]).toEqual([
      [],
      ['dig', 'clock', 'toString'],
      ['dig', 'clock', 'toString'].map((kind) => `There is no kind of job named ${kind}`),
    ]);
  });

  it('RunJobs names each job that failed, its kind and its fencing token, without the path of a webhook', async () => {
    run = () => {
      throw new Error('broken');
    };
    await runJobs().execute([delivery]);
    expect(logger.entries).toEqual([
      {
        level: 'error',
        event: 'job_failed',
        fields: { jobId: 'webhooks/p1/a.example', kind: 'deliver-webhooks', fencingToken: 3 },
      },
    ]);
  });

  it('RunJobs names a dead-lettered job without the path of a webhook', async () => {
    deadLettered = [delivery, ...leasedJobs(1, 1)];
    run = () => {
      throw new Error('broken');
    };
    await runJobs().execute([delivery]);
    expect(failedIds()).toEqual(['webhooks/p1/a.example', 'webhooks/p1/a.example', one]);
  });

  it('RunJobs stores why a job failed on one line of 500 characters at most', async () => {
    run = () => {
      throw new Error(`broken\0\n${'x'.repeat(600)}`);
    };
    await runJobs().execute([delivery]);
    expect(reasons).toEqual([`broken  ${'x'.repeat(492)}`]);
  });

  it('RunJobs repeats the jobs of a failed batch one by one for five seconds, and leaves the rest leased', async () => {
    run = (call) => {
      clock.at += call === 1 ? 60_000 : 5_001;
      if (call === 1) throw new Error('slow');
    };
    await runJobs().execute(leasedJobs(1, 3));
    expect(calls).toEqual([[one, two, three], [one]]);
    expect(failedIds()).toEqual([two, three]);
    expect(recorded).toEqual([]);
  });

  it('a job for which the database is away stays leased, and the others of its batch are done', async () => {
    run = () => {
      if (calls.at(-1)?.includes(two as string)) throw new StorageUnavailable(new Error('too slow'));
    };
    await runJobs().execute(leasedJobs(1, 3));
    expect(calls).toEqual([[one, two, three], [one, two], [three], [one], [two]]);
    expect(failedIds()).toEqual([two]);
    expect(recorded).toEqual([]);
  });

  it('RunJobs counts no failure against a job that lost the database when it ran alone', async () => {
    run = (call) => {
      if (call === 1) throw new Error('broken');
      throw new StorageUnavailable(new Error('lost'));
    };
    await runJobs().execute(leasedJobs(1, 2));
    expect(recorded).toEqual([]);
    expect(failedIds()).toEqual([one, two]);
  });

  it('RunJobs logs a job again whose failure could not be recorded, and goes on', async () => {
    run = () => {
      throw new Error('broken');
    };
    record = () => {
      throw new Error('the database is away');
    };
    await runJobs().execute(leasedJobs(1, 2));
    expect(failedIds()).toEqual([one, one, two, two]);
    expect(calls).toEqual([[one, two], [one], [two]]);
  });
});
