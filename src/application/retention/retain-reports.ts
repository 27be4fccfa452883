import { keptSince, type Retention } from '../../domain/access/retention.ts';
import { removeReportJob } from '../jobs/report-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { Slices } from './slices.ts';

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
}

/** Deletes the files of the old reports of a project, and the phone numbers of their filters. The reports stay listed. */
export class RetainReports {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Treats the reports that were requested before the project keeps anything. */
  async execute(projectId: string, retention: Retention, slices: Slices): Promise<void> {
    const { unitOfWork, clock } = this.#ports;
    await slices.each((rows) =>
      unitOfWork.run(async (stores) => {
        const now = clock.now();
        const after = await stores.retention.place(projectId, 'reports');
        const query = { projectId, before: keptSince(retention, now), after, limit: rows };
        const aged = await stores.retention.agedReports(query);
        const last = aged.at(-1);
        if (last === undefined) return false;
        const reports = await stores.reports.lock(aged.map(({ id }) => id));
        const present = reports.filter(({ deletedAt }) => deletedAt === null);
        await stores.reports.save(present.map((report) => ({ ...report, deletedAt: now, updatedAt: now })));
        await stores.retention.eraseReportFilters(reports.map(({ id }) => id));
        await stores.jobs.add(
          present.map((report) => removeReportJob(report, now)),
          now,
        );
        const { action } = retention;
        await stores.retention.savePlace({ projectId, subject: 'reports', action, ...last });
        return aged.length === rows;
      }, 'eventual'),
    );
  }
}
