import type { Knex } from 'knex';
import type { ReportStore } from '../../../application/ports/report-store.ts';
import {
  newestExpired,
  type Report,
  type ReportCounts,
  type ReportFilters,
  type ReportStatus,
} from '../../../domain/reports/report.ts';
import { offsetOf, type Page } from '../../../domain/shared/page.ts';
import type { Insert, Row, RowOf, Update } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const CHANGING_COLUMNS = { record_count: 'bigint', updated_at: 'bigint', deleted_at: 'bigint' } as const;

const INSERT = {
  table: 'reports',
  columns: {
    id: 'text',
    project_id: 'text',
    file_name: 'text',
    file_id: 'text',
    filters: 'text',
    created_at: 'bigint',
    ...CHANGING_COLUMNS,
  },
  orderBy: 'id',
} as const satisfies Insert<string>;

const SAVE = {
  table: 'reports',
  key: { id: 'text' },
  columns: CHANGING_COLUMNS,
  mode: 'set',
} as const satisfies Update<string, string>;

export class SqlReportStore implements ReportStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(reports: readonly Report[]): Promise<void> {
    await this.#session.insert(
      INSERT,
      reports.map((report) => ({
        id: report.id,
        project_id: report.projectId,
        file_name: report.fileName,
        file_id: report.fileId,
        filters: JSON.stringify(report.filters),
        created_at: report.createdAt,
        ...changingColumns(report),
      })),
    );
  }

  async lock(ids: readonly string[]): Promise<readonly Report[]> {
    const rows = await this.#session.query('SELECT * FROM reports WHERE id = ANY(?) ORDER BY id FOR UPDATE', [
      ids,
    ]);
    return rows.map(fromRow);
  }

  async save(reports: readonly Report[]): Promise<void> {
    await this.#session.update(
      SAVE,
      reports.map((report) => ({ id: report.id, ...changingColumns(report) })),
    );
  }

  async find(ids: readonly string[]): Promise<readonly Report[]> {
    const rows = await this.#session.query('SELECT * FROM reports WHERE id = ANY(?) ORDER BY id', [ids]);
    return rows.map(fromRow);
  }

  async ofFile(fileId: string): Promise<Report | null> {
    const [row] = await this.#session.query('SELECT * FROM reports WHERE file_id = ?', [fileId]);
    return row === undefined ? null : fromRow(row);
  }

  async counts(projectId: string, since: number): Promise<ReportCounts> {
    const [row] = await this.#session.query(
      `SELECT COUNT(*) AS unmade FROM reports
       WHERE project_id = ? AND record_count IS NULL AND deleted_at IS NULL`,
      [projectId],
    );
    const requested = await this.#session.query(
      'SELECT created_at FROM reports WHERE project_id = ? AND created_at > ? ORDER BY created_at',
      [projectId, since],
    );
    return {
      unmade: row?.unmade as number,
      requestedAt: requested.map(({ created_at }) => created_at as number),
    };
  }

  async list(
    projectId: string,
    { statuses, now }: { readonly statuses: readonly ReportStatus[]; readonly now: number },
    page: Page,
  ): Promise<readonly Report[]> {
    const rows = await this.#session.select((knex) =>
      knex('reports')
        .where({ project_id: projectId })
        .whereNotNull('record_count')
        .modify((query) => {
          if (statuses.length === 0) return;
          query.where((any) => {
            for (const status of statuses) any.orWhere((one) => whereStatus(one, status, now));
          });
        })
        .select('*')
        .orderBy('id', 'desc')
        .limit(page.limit)
        .offset(offsetOf(page)),
    );
    return rows.map(fromRow);
  }
}

/** The condition that `reportStatus` of the domain is this status. */
function whereStatus(query: Knex.QueryBuilder, status: ReportStatus, now: number): void {
  switch (status) {
    case 'deleted':
      query.whereNotNull('deleted_at');
      return;
    case 'expired':
      query.whereNull('deleted_at').where('created_at', '<=', newestExpired(now));
      return;
    case 'available':
      query.whereNull('deleted_at').where('created_at', '>', newestExpired(now));
      return;
    default:
      status satisfies never;
  }
}

function changingColumns(report: Report): RowOf<keyof typeof CHANGING_COLUMNS> {
  return { record_count: report.recordCount, updated_at: report.updatedAt, deleted_at: report.deletedAt };
}

function fromRow(row: Row): Report {
  return {
    id: row.id as string,
    projectId: row.project_id as string,
    fileName: row.file_name as string,
    fileId: row.file_id as string,
    filters: JSON.parse(row.filters as string) as ReportFilters,
    recordCount: row.record_count as number | null,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
    deletedAt: row.deleted_at as number | null,
  };
}
