import type { Actor } from '../../domain/shared/actor.ts';
import { isoOf } from '../../domain/shared/instant.ts';
import { newChange, recordChange } from '../audit/record-change.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { deleteReports } from '../reports/remove-reports.ts';

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** Specification 3.3: the reports of projects, for operators. */
export class ManageReports {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /**
   * Ends the link of a report at once; a job removes its file. Resolves with false when there is no such report; one that is
   * deleted stays so.
   */
  delete(actor: Actor, reportId: string): Promise<boolean> {
    const change = newChange(this.#ports, actor);
    return this.#ports.unitOfWork.run(async (stores) => {
      const [report] = await stores.reports.lock([reportId]);
      if (report === undefined) return false;
      if (report.deletedAt !== null) return true;
      await deleteReports(stores, [report], change.at);
      await recordChange(stores, change, 'report-deleted', report.projectId, {
        before: { reportId, deletedAt: null },
        after: { reportId, deletedAt: isoOf(change.at) },
      });
      return true;
    });
  }
}
