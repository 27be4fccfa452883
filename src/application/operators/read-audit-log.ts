import type { AuditRecord } from '../../domain/audit/audit-record.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { projectIdIn } from './named-project.ts';
import { cutPage, type ListPage } from './walk-page.ts';

/** The changes of operators, as they were recorded. */
export class ReadAuditLog {
  readonly #ports: { readonly unitOfWork: UnitOfWork };

  constructor(ports: { readonly unitOfWork: UnitOfWork }) {
    this.#ports = ports;
  }

  /**
   * Up to `limit` records, the newest first: those of a project (an id or a slug), or all with null; only those before the
   * record `before` when it is given. Rejects as `project-not-found`.
   */
  list(project: string | null, before: string | null, limit: number): Promise<ListPage<AuditRecord, string>> {
    return this.#ports.unitOfWork.read(async (stores) => {
      const projectId = await projectIdIn(stores, project);
      const found = await stores.auditLog.list({ projectId, before, limit: limit + 1 });
      return cutPage(found, limit, ({ id }) => id);
    });
  }
}
