import type { Knex } from 'knex';
import type { ReportStore } from '../../../application/ports/stores/report-store.ts';
import {
  newestExpired,
  type Report,
  type ReportFilters,
  type ReportStatus,
  type ReportSummary,
  type RequestedReport,
} from '../../../domain/reports/report.ts';
import { offsetOf, type Page } from '../../../domain/shared/page.ts';
import { columnNames, type Insert, type Row, type RowOf, type Update } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const CHANGING_COLUMNS = { record_count: 'bigint', updated_at: 'bigint', deleted_at: 'bigint' } as const;

const SUMMARY_COLUMNS = {
  id: 'text',
  project_id: 'text',
  file_name: 'text',
  file_id: 'text',
  from_at: 'bigint',
  to_at: 'bigint',
  created_at: 'bigint',
  ...CHANGING_COLUMNS,
} as const;

const INSERT = {
  table: 'reports',
  columns: { ...SUMMARY_COLUMNS, filters: 'text' },
  orderBy: 'id',
} as const satisfies Insert<string>;

/** What `fromRow` reads. */
const COLUMNS = columnNames(INSERT.columns);

const FIND = `SELECT ${COLUMNS} FROM reports WHERE id = ANY(?) ORDER BY id`;

const LOCK = `${FIND} FOR UPDATE`;

const OF_FILE = `SELECT ${COLUMNS} FROM reports WHERE file_id = ?`;

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
        from_at: report.from,
        to_at: report.to,
        filters: JSON.stringify(report.filters),
        created_at: report.createdAt,
        ...changingColumns(report),
      })),
    );
  }

  async lock(ids: readonly string[]): Promise<readonly Report[]> {
    const rows = await this.#session.query(LOCK, [ids]);
    return rows.map(fromRow);
  }

  async save(reports: readonly Report[]): Promise<void> {
    await this.#session.update(
      SAVE,
      reports.map((report) => ({ id: report.id, ...changingColumns(report) })),
    );
  }

  async find(ids: readonly string[]): Promise<readonly Report[]> {
    const rows = await this.#session.query(FIND, [ids]);
    return rows.map(fromRow);
  }

  async ofFile(fileId: string): Promise<Report | null> {
    const [row] = await this.#session.query(OF_FILE, [fileId]);
    return row === undefined ? null : fromRow(row);
  }

  async requested(projectId: string, since: number): Promise<readonly RequestedReport[]> {
    const rows = await this.#session.query(
      `SELECT created_at, record_count, deleted_at FROM reports
       WHERE project_id = ? AND created_at > ? ORDER BY created_at`,
      [projectId, since],
    );
    return rows.map((row) => ({
      requestedAt: row.created_at as number,
      records: row.deleted_at === null ? ((row.record_count ?? 0) as number) : 0,
      isUnmade: row.record_count === null && row.deleted_at === null,
    }));
  }

  async list(
    projectId: string,
    { statuses, now }: { readonly statuses: readonly ReportStatus[]; readonly now: number },
    page: Page,
  ): Promise<readonly ReportSummary[]> {
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
        .select(Object.keys(SUMMARY_COLUMNS))
        .orderBy('id', 'desc')
        .limit(page.limit)
        .offset(offsetOf(page)),
    );
    return rows.map(summaryFrom);
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
  return { ...summaryFrom(row), filters: JSON.parse(row.filters as string) as ReportFilters };
}

function summaryFrom(row: Row): ReportSummary {
  return {
    id: row.id as string,
    projectId: row.project_id as string,
    fileName: row.file_name as string,
    fileId: row.file_id as string,
    from: row.from_at as number,
    to: row.to_at as number,
    recordCount: row.record_count as number | null,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
    deletedAt: row.deleted_at as number | null,
  };
}
