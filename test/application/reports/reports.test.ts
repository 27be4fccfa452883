import { ContainerModule } from 'inversify';
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryReportFiles } from '../../../src/adapters/memory/report-files.ts';
import { BackgroundWork } from '../../../src/application/concurrency/background-work.ts';
import { FAILED_JOB_RETRY_MS, JOB_FAILURES_MAX } from '../../../src/application/jobs/record-job-failure.ts';
import { makeReportJob } from '../../../src/application/jobs/report-jobs.ts';
import { RunJobs } from '../../../src/application/jobs/run-jobs.ts';
import { ManageReports } from '../../../src/application/operators/manage-reports.ts';
import { BrowseReports } from '../../../src/application/reports/browse-reports.ts';
import { REPORT_JOB_LIMITS, REPORT_PAGE_ROWS } from '../../../src/application/reports/make-reports.ts';
import {
  REPORTS_REQUESTED_MAX,
  REPORTS_REQUESTED_PER_PROJECT_MAX,
  type ReportCommand,
  RequestReports,
} from '../../../src/application/reports/request-reports.ts';
import { ports } from '../../../src/bootstrap/tokens.ts';
import { LEASE_MS } from '../../../src/domain/jobs/job.ts';
import { newReport, type Report, UNMADE_REPORTS_MAX } from '../../../src/domain/reports/report.ts';
import { type ApplicationWorld, aSeedProject, openApplication } from '../../support/application-world.ts';
import { aMessage, anId, aProject, MINUTE_MS, NOW, PROJECT_ID } from '../../support/builders.ts';
import { uncancelled } from '../../support/uncancelled.ts';
import { until } from '../../support/until.ts';

const FILE_ID = 'f'.repeat(40);
const DAY_MS = 86_400_000;
const project = aProject();
const OTHERS = [1, 2, 3, 4, 5].map((index) => aProject({ id: anId(700 + index), slug: `other-${index}` }));
const selection = {
  from: 0,
  to: Number.MAX_SAFE_INTEGER,
  filters: { startDate: '1970-01-01', endDate: '9999-12-31', phoneNumbers: [], statuses: [] },
};

/** Files that a test can hold up or break. */
class TestFiles extends MemoryReportFiles {
  beforeEach: (part: number) => Promise<void> = async () => undefined;
  parts: string[] = [];
  readonly removed: string[] = [];

  override async write(fileId: string, content: AsyncIterable<string>): Promise<void> {
    const held = async function* (this: TestFiles) {
      for await (const part of content) {
        await this.beforeEach(this.parts.length);
        this.parts.push(part);
        yield part;
      }
    };
    await super.write(fileId, held.call(this));
  }

  override async remove(fileId: string): Promise<void> {
    this.removed.push(fileId);
    await super.remove(fileId);
  }
}

let world: ApplicationWorld;
let files: TestFiles;
/** Of reports at hand: called when their leases are to be renewed. */
const renewals = new Set<() => unknown>();

async function renewNow(): Promise<void> {
  const due = [...renewals];
  renewals.clear();
  for (const renew of due) await renew();
}

async function open(intervals: { count: number } = { count: 0 }): Promise<void> {
  files = new TestFiles();
  world = await openApplication({
    projects: [project, ...OTHERS].map((each) => aSeedProject({ project: each })),
    overrides: [
      new ContainerModule(({ rebind }) => {
        rebind(ports.reportFiles).toConstantValue(files);
        rebind(ports.renewInterval).toConstantValue((expired) => {
          renewals.add(expired);
          return () => renewals.delete(expired);
        });
        rebind(ports.reportPollingInterval).toConstantValue(
          uncancelled((over) => {
            intervals.count += 1;
            setImmediate(over);
          }),
        );
      }),
    ],
  });
}

afterEach(() => world.close());

/** A report of all messages with its job, as a request makes it. */
async function requested(index = 1, of = project): Promise<Report> {
  const report = newReport(
    { id: anId(index), fileId: index === 1 ? FILE_ID : String(index).padStart(40, '0') },
    of,
    selection,
    world.clock.at,
  );

  await world.unitOfWork.run(async ({ reports, jobs }) => {
    await reports.insert([report]);
    await jobs.add([makeReportJob(report, world.clock.at)], world.clock.at);
  });
  return report;
}

async function store(count: number): Promise<void> {
  const messages = Array.from({ length: count }, (_, index) => {
    const smsId = `sms-${anId(index + 1)}`;
    return aMessage({ smsId, createdAt: NOW - count + index });
  });
  await world.unitOfWork.run((stores) => stores.messages.insert(messages));
}

const reportNow = async (id = anId(1)) =>
  (await world.unitOfWork.read(({ reports }) => reports.find([id])))[0];
const linesOf = async (fileId = FILE_ID) => {
  const browseReports = world.container.get(BrowseReports);
  const content = await browseReports.download(
    await browseReports.ofFile(fileId),
    new AbortController().signal,
  );
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts).toString().split('\r\n').slice(0, -1);
};
const jobIds = async () => (await world.database.knex('jobs').select('id').orderBy('id')).map(({ id }) => id);

describe('MakeReports', () => {
  it('a report of several pages has every message once, in the order of creation', async () => {
    await open();
    await store(2 * REPORT_PAGE_ROWS + 1);
    await requested();
    await world.runDueJobs();
    const lines = await linesOf();
    expect(lines).toHaveLength(2 * REPORT_PAGE_ROWS + 2);
    expect(lines.slice(1).map((line) => line.slice(0, 28))).toEqual(
      Array.from({ length: 2 * REPORT_PAGE_ROWS + 1 }, (_, index) => `sms-${anId(index + 1)}`),
    );
    expect(files.parts).toHaveLength(4);
    expect(await reportNow()).toMatchObject({ recordCount: 2 * REPORT_PAGE_ROWS + 1, updatedAt: NOW });
    expect(await jobIds()).toEqual([`reports/${anId(1)}/remove`]);
  });

  it('a page that is full to its end is the last one when nothing follows', async () => {
    await open();
    await store(REPORT_PAGE_ROWS);
    await requested();
    await world.runDueJobs();
    expect(await reportNow()).toMatchObject({ recordCount: REPORT_PAGE_ROWS });
  });

  it('the pages of several reports are read by turns', async () => {
    await open();
    await store(2 * REPORT_PAGE_ROWS);
    const order: string[] = [];
    const { unitOfWork } = world;
    const read = unitOfWork.read.bind(unitOfWork);
    unitOfWork.read = (work) =>
      read((stores) =>
        work({
          ...stores,
          messages: Object.assign(Object.create(stores.messages), {
            reported: (query: { after: unknown }) => {
              order.push(query.after === null ? 'first' : 'later');
              return stores.messages.reported(query as never);
            },
          }),
        }),
      );
    await requested(1);
    await requested(2);
    await world.runDueJobs();
    expect(order.slice(0, 2)).toEqual(['first', 'first']);
    expect(order.filter((page) => page === 'first')).toHaveLength(2);
  });

  it('a report whose page takes long to write keeps its lease', async () => {
    await open();
    await store(REPORT_PAGE_ROWS + 1);
    await requested();
    files.beforeEach = async (part) => {
      for (let renewal = 0; part === 1 && renewal < 3; renewal += 1) {
        world.clock.at += LEASE_MS - 1;
        await renewNow();
        expect(await world.lease()).toEqual([]);
      }
    };
    await world.runDueJobs();
    expect(renewals.size).toBe(0);
    expect(await reportNow()).toMatchObject({ recordCount: REPORT_PAGE_ROWS + 1 });
    expect(world.logger.count('job_failed')).toBe(0);
  });

  it('a worker that lost the lease stops, and the one that has it makes the report', async () => {
    await open();
    await store(REPORT_PAGE_ROWS + 1);
    await requested();
    let second: readonly string[] = [];
    files.beforeEach = async (part) => {
      if (part !== 1) return;
      files.beforeEach = async () => undefined;
      world.clock.at += LEASE_MS + 1;
      const [job] = await world.lease();
      second = job === undefined ? [] : [job.id];
      await renewNow();
    };
    await world.runDueJobs();
    expect(second).toEqual([`reports/${anId(1)}/make`]);
    expect(await reportNow()).toMatchObject({ recordCount: null });
    expect(world.logger.count('job_failed')).toBe(0);
    world.clock.at += LEASE_MS + 1;
    await world.runDueJobs();
    expect(await reportNow()).toMatchObject({ recordCount: REPORT_PAGE_ROWS + 1 });
  });

  /** Requests so many reports of each project, and resolves when `begun` of them are held up; returns what lets them go on. */
  async function holdUp(perProject: number, projects: typeof OTHERS, begun: number) {
    let index = 0;
    for (const of of projects) {
      for (let report = 0; report < perProject; report += 1) {
        index += 1;
        await requested(index, of);
      }
    }
    let letGo: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const seen = { begun: 0 };
    files.beforeEach = async () => {
      seen.begun += 1;
      await opened;
    };
    const done = world.runDueJobs();
    while (seen.begun < begun) await new Promise((resolve) => setImmediate(resolve));
    return { done, letGo, seen, last: anId(index) };
  }

  it('a process writes ten reports at a time, and the others keep their leases meanwhile', async () => {
    await open();
    const { done, letGo, seen, last } = await holdUp(3, OTHERS, REPORT_JOB_LIMITS.all);
    world.clock.at += LEASE_MS - 1;
    await renewNow();
    world.clock.at += LEASE_MS - 1;
    expect(await world.lease()).toEqual([]);
    expect(seen.begun).toBe(REPORT_JOB_LIMITS.all);
    letGo();
    await done;
    expect(await reportNow(last)).toMatchObject({ recordCount: 0 });
    expect(REPORT_JOB_LIMITS.all).toBe(10);
  });

  it('a report whose lease was lost while it waited begins no file', async () => {
    await open();
    const { done, letGo, seen } = await holdUp(3, [project], REPORT_JOB_LIMITS.perProject);
    world.clock.at += LEASE_MS + 1;
    expect(await world.lease()).toHaveLength(3);
    await renewNow();
    letGo();
    await done;
    expect(seen.begun).toBe(2);
    expect(world.logger.count('job_failed')).toBe(0);
  });

  it('a project with many reports leaves places to the others', async () => {
    await open();
    const many = await holdUp(4, [project], REPORT_JOB_LIMITS.perProject);
    await requested(50, aProject({ id: anId(701), slug: 'other-1' }));
    const { begun } = many.seen;
    files.beforeEach = async () => undefined;
    await world.container.get(RunJobs).execute(await world.lease());
    while ((await reportNow(anId(50)))?.recordCount !== 0)
      await new Promise((resolve) => setImmediate(resolve));
    expect([begun, many.seen.begun]).toEqual([2, 2]);
    many.letGo();
    await many.done;
    expect(await reportNow(many.last)).toMatchObject({ recordCount: 0 });
  });

  it('a report whose last page comes after its lease is not counted twice', async () => {
    await open();
    await requested();
    files.beforeEach = async () => {
      files.beforeEach = async () => undefined;
      world.clock.at += LEASE_MS + 1;
      await world.container.get(RunJobs).execute(await world.lease());
    };
    await world.runDueJobs();
    expect(await reportNow()).toMatchObject({ recordCount: 0 });
    expect(await jobIds()).toEqual([`reports/${anId(1)}/remove`]);
  });

  it('a report that cannot be written is tried again, and dead-lettered after five failures', async () => {
    await open();
    await requested();
    files.beforeEach = async () => {
      throw new Error('no space');
    };
    for (let failure = 1; failure <= JOB_FAILURES_MAX; failure += 1) {
      expect(await world.runDueJobs()).toEqual([`reports/${anId(1)}/make`]);
      expect(await world.runDueJobs()).toEqual([]);
      world.clock.at += FAILED_JOB_RETRY_MS;
    }
    expect(world.logger.count('job_failed')).toBe(JOB_FAILURES_MAX);
    expect(world.logger.count('job_dead_lettered')).toBe(1);
    expect(await reportNow()).toMatchObject({ recordCount: null });
    await expect(linesOf()).rejects.toMatchObject({ rejection: { kind: 'report-not-found' } });
  });

  it('a process that stops leaves its reports, and they are made when their leases end', async () => {
    await open();
    await store(REPORT_PAGE_ROWS + 1);
    await requested();
    files.beforeEach = async (part) => {
      if (part === 1) world.container.get(BackgroundWork).stop();
    };
    await world.runDueJobs();
    expect(await reportNow()).toMatchObject({ recordCount: null });
    expect(world.logger.count('job_failed')).toBe(0);
    expect(await jobIds()).toEqual([`reports/${anId(1)}/make`]);
  });

  it('a report that was deleted before it was made is not made', async () => {
    await open();
    await requested();
    await world.container.get(ManageReports).delete('operator', anId(1));
    await world.runDueJobs();
    expect(files.parts).toEqual([]);
    await world.runDueJobs();
    expect(files.removed).toEqual([FILE_ID, FILE_ID]);
    expect(await jobIds()).toEqual([]);
  });

  it('a report that is deleted while it is made leaves no file', async () => {
    await open();
    await requested();
    files.beforeEach = async () => {
      files.beforeEach = async () => undefined;
      await world.container.get(ManageReports).delete('operator', anId(1));
      await world.container.get(RunJobs).execute(await world.lease());
    };
    await world.runDueJobs();
    await world.runDueJobs();
    expect(await files.read(FILE_ID)).toBeNull();
    expect(await reportNow()).toMatchObject({ recordCount: null, deletedAt: NOW });
    expect(await jobIds()).toEqual([]);
  });

  it('a job of a report that is gone is done', async () => {
    await open();

    await world.unitOfWork.run(({ jobs }) =>
      jobs.add([makeReportJob({ id: anId(5), projectId: project.id }, NOW)], NOW),
    );
    await world.runDueJobs();
    expect(await jobIds()).toEqual([]);
    expect(world.logger.count('job_failed')).toBe(0);
  });
});

describe('RequestReports', () => {
  const request = (given: Partial<ReportCommand> = {}) =>
    world.container.get(RequestReports).execute({ project, selection, idempotency: null, ...given });

  it('a request waits for some 320 intervals at most, then the report is not made yet', async () => {
    const intervals = { count: 0 };
    await open(intervals);
    const { report, replayed } = await request();
    expect({ recordCount: report.recordCount, replayed }).toEqual({ recordCount: null, replayed: false });
    // Intervals between two questions: 1, 2, 4, 8, then 10 each, until there were 320.
    expect(intervals.count).toBe(325);
  });

  it('those who wait for one report ask for it together', async () => {
    const intervals = { count: 0 };
    await open(intervals);
    const idempotency = { route: 'POST /reports/generate', key: 'k', requestHash: 'h' };
    const results = await Promise.all([1, 2, 3].map(() => request({ idempotency })));
    expect(new Set(results.map(({ report }) => report.id)).size).toBe(1);
    expect(results.map(({ replayed }) => replayed).sort()).toEqual([false, true, true]);
    expect(intervals.count).toBe(325);
  });

  it('one request of a project stores its report at a time and three of all, and none stores while it waits for its file', async () => {
    expect([REPORTS_REQUESTED_PER_PROJECT_MAX, REPORTS_REQUESTED_MAX]).toEqual([1, 3]);
    await open();
    const { unitOfWork } = world;
    const run = unitOfWork.run.bind(unitOfWork);
    const ends: (() => void)[] = [];
    let begun = 0;
    unitOfWork.run = async (...given) => {
      begun += 1;
      await new Promise<void>((resolve) => ends.push(resolve));
      return run(...given);
    };
    const replied = [1, 2, 3].map(() => request());
    await until(() => begun === 1);
    replied.push(...OTHERS.map((each) => request({ project: each })));
    await until(() => begun === 3);
    for (let stored = 1; stored <= replied.length; stored += 1) {
      ends.shift()?.();
      await until(() => begun === Math.min(stored + 3, replied.length));
    }
    expect(await Promise.all(replied)).toHaveLength(8);
  });

  it('a request resolves as soon as the report is made', async () => {
    const intervals = { count: 0 };
    await open(intervals);
    const replied = request();
    while ((await jobIds()).length === 0) await new Promise((resolve) => setImmediate(resolve));
    await world.runDueJobs();
    expect((await replied).report.recordCount).toBe(0);
    expect(intervals.count).toBeLessThan(100);
  });

  it('a project may have ten reports that are still to be made, and more are rejected', async () => {
    await open();
    for (let index = 1; index <= UNMADE_REPORTS_MAX; index += 1) await requested(index);
    await expect(request()).rejects.toMatchObject({ rejection: { kind: 'too-many-reports' } });
    await world.container.get(ManageReports).delete('operator', anId(1));
    await world.runDueJobs();
    const replied = request();
    while ((await jobIds()).length === UNMADE_REPORTS_MAX - 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await world.runDueJobs();
    expect((await replied).report.recordCount).toBe(0);
  });

  it('the file id of a report is 40 hex characters that no other report has', async () => {
    await open();
    const ids = world.container.get(ports.idSource);
    const [first, second] = [ids.secret(), ids.secret()];
    expect([first, second]).toEqual([
      expect.stringMatching(/^[0-9a-f]{40}$/),
      expect.stringMatching(/^[0-9a-f]{40}$/),
    ]);
    expect(first).not.toBe(second);
  });
});

describe('the file of a report', () => {
  it('a file that is missing is not found, and the log says so', async () => {
    await open();
    await requested();
    await world.runDueJobs();
    await files.remove(FILE_ID);
    await expect(linesOf()).rejects.toMatchObject({ rejection: { kind: 'report-not-found' } });
    expect(world.logger.entries).toMatchObject([
      { event: 'report_file_missing', fields: { projectId: PROJECT_ID, reportId: anId(1), count: 1 } },
    ]);
  });

  it('the log names a missing file once a minute, however often it is asked for', async () => {
    await open();
    await requested();
    await world.runDueJobs();
    await files.remove(FILE_ID);
    for (let times = 0; times < 3; times += 1) await expect(linesOf()).rejects.toThrow();
    expect(world.logger.count('report_file_missing')).toBe(1);
    world.clock.at += MINUTE_MS;
    await expect(linesOf()).rejects.toThrow();
    expect(world.logger.entries.at(-1)?.fields).toMatchObject({ count: 3 });
  });

  it('the file of an expired report is removed once, and the report stays', async () => {
    await open();
    await requested();
    await world.runDueJobs();
    world.clock.at += 30 * DAY_MS - 1;
    expect(await world.runDueJobs()).toEqual([]);
    world.clock.at += 1;
    expect(await world.runDueJobs()).toEqual([`reports/${anId(1)}/remove`]);
    expect(files.removed).toEqual([FILE_ID]);
    await expect(linesOf()).rejects.toMatchObject({ rejection: { kind: 'report-gone', status: 'expired' } });
    expect(await reportNow()).toMatchObject({ recordCount: 0, deletedAt: null });
    await world.container.get(BackgroundWork).idle();
  });
});
