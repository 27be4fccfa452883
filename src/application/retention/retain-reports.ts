import { keptSince } from '../../domain/access/retention.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { deleteReports } from '../reports/remove-reports.ts';
import { currentRetention } from './current-retention.ts';
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

  /** Treats the reports that were requested before the project keeps anything, by the setting that it has by now. */
  async execute(projectId: string, slices: Slices): Promise<void> {
    const { unitOfWork, clock } = this.#ports;
    await slices.each((rows) =>
      unitOfWork.run(async (stores) => {
        const retention = await currentRetention(stores, projectId);
        if (retention === null) return false;
        const now = clock.now();
        const after = await stores.retention.place(projectId, 'reports');
        const query = { projectId, before: keptSince(retention, now), after, limit: rows };
        const aged = await stores.retention.agedReports(query);
        const last = aged.at(-1);
        if (last === undefined) return false;
        const reports = await stores.reports.lock(aged.map(({ id }) => id));
        await deleteReports(stores, reports, now);
        await stores.retention.eraseReportFilters(reports.map(({ id }) => id));
        const { action } = retention;
        await stores.retention.savePlace({ projectId, subject: 'reports', action, ...last });
        return aged.length === rows;
      }, 'eventual'),
    );
  }
}
