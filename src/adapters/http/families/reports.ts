import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { AuthenticateProject } from '../../../application/access/authenticate-project.ts';
import type { BrowseReports, ListedReport } from '../../../application/reports/browse-reports.ts';
import type { RequestReports } from '../../../application/reports/request-reports.ts';
import { MESSAGE_STATUSES } from '../../../domain/messages/message-status.ts';
import {
  expiresAt,
  FILE_ID_PATTERN,
  REPORT_STATUSES,
  type ReportFilters,
  type ReportStatus,
} from '../../../domain/reports/report.ts';
import {
  REPORT_LIMIT_DEFAULT,
  REPORT_LIMIT_MAX,
  REPORT_PAGE_MAX,
  REPORT_PHONE_NUMBER_CHARACTERS_MAX,
  REPORT_PHONE_NUMBERS_MAX,
} from '../limits.ts';
import { anyone, projectKey } from '../routing/admission.ts';
import { usualEnvelope } from '../routing/http-error.ts';
import { file, type JsonReply, ok } from '../routing/http-reply.ts';
import { IDEMPOTENCY_KEY_HEADER, idempotencyOf, REPLAYED } from '../routing/idempotency.ts';
import { wholeNumber } from '../routing/query-fields.ts';
import { type RouteFamily, route } from '../routing/route.ts';
import { BODY_ERROR } from './send-body.ts';

const GENERATE_ROUTE = 'POST /reports/generate';
const MEDIA_TYPE = 'text/csv';
const FILE_PATH = '/reports/files';
const NUMBER_PATTERN = /^\+?[0-9]+$/;
const NUMBERS_ERROR = `phoneNumbers must be a list of at most ${REPORT_PHONE_NUMBERS_MAX} numbers of digits, each with or without a plus`;
const STATUSES_ERROR = `statuses must be a list of ${MESSAGE_STATUSES.join(', ')}`;

const DATE_PATTERN = /^\d{4}-\d{2}-\d{2}$/;
const OFFSET_PATTERN = /(?:Z|[+-]\d{2}:?\d{2})$/;
const START_OF_DAY = 'T00:00:00.000Z';
const END_OF_DAY = 'T23:59:59.999Z';
const EARLIEST_INSTANT = 0;
const LATEST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z');

/** A date in ISO 8601, which may have a time, which may have an offset; UTC without one. */
function dateField(name: string) {
  const error = `${name} must be a date in ISO 8601, such as 2026-01-31 or 2026-01-31T09:00:00Z`;
  return z.union([z.iso.date(), z.iso.datetime({ offset: true, local: true })], { error }).refine(
    (text) => {
      const instant = instantOf(text, START_OF_DAY);
      return instant >= EARLIEST_INSTANT && instant <= LATEST_INSTANT;
    },
    { error },
  );
}

function instantOf(text: string, timeOfDay: string): number {
  if (DATE_PATTERN.test(text)) return Date.parse(text + timeOfDay);
  return Date.parse(OFFSET_PATTERN.test(text) ? text : `${text}Z`);
}

const number = z
  .string({ error: NUMBERS_ERROR })
  .max(REPORT_PHONE_NUMBER_CHARACTERS_MAX, { error: NUMBERS_ERROR })
  .regex(NUMBER_PATTERN, { error: NUMBERS_ERROR });

/** Specification 4.4. */
const generateBody = z
  .object(
    {
      startDate: dateField('startDate'),
      endDate: dateField('endDate'),
      phoneNumbers: z
        .array(number, { error: NUMBERS_ERROR })
        .max(REPORT_PHONE_NUMBERS_MAX, { error: NUMBERS_ERROR })
        .optional(),
      statuses: z
        .array(z.enum(MESSAGE_STATUSES, { error: STATUSES_ERROR }), { error: STATUSES_ERROR })
        .max(MESSAGE_STATUSES.length, { error: STATUSES_ERROR })
        .optional(),
    },
    { error: BODY_ERROR },
  )
  .refine(({ startDate, endDate }) => instantOf(startDate, START_OF_DAY) <= instantOf(endDate, END_OF_DAY), {
    error: 'endDate must be on or after startDate',
  });

const instant = z.iso.datetime();
const dateRange = z.object({ startDate: instant, endDate: instant });
const listed = {
  _id: z.string(),
  reportId: z.string(),
  filename: z.string(),
  downloadUrl: z.url(),
  recordCount: z.int().min(0),
  dateRange,
  status: z.enum(REPORT_STATUSES),
  createdAt: instant,
};

/** Specification 4.5. */
const reportList = z.array(z.object(listed));

/** Specification 2.4. */
const reportSchema = z.object({
  ...listed,
  project: z.string(),
  fileId: z.string().regex(FILE_ID_PATTERN),
  filters: z.object({
    startDate: z.string(),
    endDate: z.string(),
    phoneNumbers: z.array(z.string()),
    statuses: z.array(z.enum(MESSAGE_STATUSES)),
  }),
  expiresAt: instant,
  updatedAt: instant,
  message: z.string(),
});

const listQuery = z.object({
  limit: wholeNumber('limit', 1, REPORT_LIMIT_MAX).default(REPORT_LIMIT_DEFAULT),
  page: wholeNumber('page', 1, REPORT_PAGE_MAX).default(1),
  status: z
    .string()
    .transform((list, context): readonly ReportStatus[] => {
      const given = list.split(',').map((status) => status.trim());
      const unknown = given.find((status) => !isReportStatus(status));
      if (unknown === undefined) return given as ReportStatus[];
      context.addIssue(`Invalid report status: ${unknown}`);
      return z.NEVER;
    })
    .optional(),
});

export interface ReportUseCases {
  readonly authenticate: Pick<AuthenticateProject, 'execute'>;
  readonly requestReports: Pick<RequestReports, 'execute'>;
  readonly browseReports: Pick<BrowseReports, 'list' | 'statusOf' | 'download'>;
}

/**
 * Specification 4.4 and 4.5: reports, and the link to their files. Links begin with `publicUrl`, with the host of the request
 * when it is null.
 */
export function reportRoutes(
  { authenticate, requestReports, browseReports }: ReportUseCases,
  publicUrl: string | null,
): RouteFamily {
  const admission = projectKey(authenticate);
  const linkOf = (request: IncomingMessage, fileId: string) =>
    `${publicUrl ?? hostOf(request)}${FILE_PATH}/${fileId}`;

  const generate = route({
    method: 'post',
    path: '/reports/generate',
    operationId: 'generateReport',
    summary: 'Make a csv file with the messages of a time',
    admission,
    requestHeaders: [IDEMPOTENCY_KEY_HEADER],
    body: generateBody,
    ok: {
      description: 'The report',
      schema: reportSchema,
      headers: ['Idempotency-Replayed'],
    },
    accepted: {
      description:
        'The report is still being made: its link works when it is, and recordCount is 0 until then',
      schema: reportSchema,
      headers: ['Idempotency-Replayed'],
    },
    rejections: {
      400: { description: 'The body or the Idempotency-Key is not valid' },
      409: { description: 'The Idempotency-Key was used with another request' },
      429: { description: 'Too many reports of the project were requested', headers: ['Retry-After'] },
    },
    async handle({ caller, body, json, request, aside }) {
      const { report, replayed } = await aside(() =>
        requestReports.execute({
          project: caller,
          filters: toFilters(body),
          idempotency: idempotencyOf(GENERATE_ROUTE, request, json),
        }),
      );
      const isMade = report.recordCount !== null;
      const { startDate, endDate, phoneNumbers, statuses } = report.filters;
      const body200: z.input<typeof reportSchema> = {
        ...presentListed(browseReports.statusOf(report), linkOf(request, report.fileId)),
        project: report.projectId,
        fileId: report.fileId,
        filters: { startDate, endDate, phoneNumbers: [...phoneNumbers], statuses: [...statuses] },
        expiresAt: iso(expiresAt(report)),
        updatedAt: iso(report.updatedAt),
        message: isMade
          ? 'Delivery report generated successfully'
          : 'The delivery report is still being generated, its link works when it is',
      };
      const reply = ok(body200, replayed ? REPLAYED : undefined);
      return isMade ? reply : { ...reply, status: 202 };
    },
  });

  const list = route({
    method: 'get',
    path: '/reports',
    operationId: 'listReports',
    summary: 'List the reports of the project',
    admission,
    query: listQuery,
    ok: { description: 'One page of the reports, the newest first', schema: reportList },
    async handle({
      caller,
      query: { limit, page, status = [] },
      request,
    }): Promise<JsonReply<z.input<typeof reportList>>> {
      const reports = await browseReports.list(caller, status, { page, limit });
      return ok(reports.map((each) => presentListed(each, linkOf(request, each.report.fileId))));
    },
  });

  const download = route({
    method: 'get',
    path: `${FILE_PATH}/:fileId`,
    operationId: 'downloadReport',
    summary: 'Download the csv file of a report',
    admission: anyone,
    params: z.object({ fileId: z.string().regex(FILE_ID_PATTERN) }),
    ok: { description: 'The csv file', kind: 'file', mediaType: MEDIA_TYPE },
    rejections: {
      404: { description: 'There is no such report, or it is still being made' },
      410: { description: 'The report is expired or deleted' },
    },
    async handle({ params }) {
      const { fileName, content } = await browseReports.download(params.fileId ?? '');
      const stream = content instanceof Readable ? content : Readable.from(content);
      return file(stream, `${MEDIA_TYPE}; charset=utf-8`, fileName);
    },
  });

  return { envelope: usualEnvelope, routes: [generate, list, download] };
}

function toFilters(body: z.output<typeof generateBody>): ReportFilters {
  const { startDate, endDate, phoneNumbers = [], statuses = [] } = body;
  return {
    startDate,
    endDate,
    from: instantOf(startDate, START_OF_DAY),
    to: instantOf(endDate, END_OF_DAY),
    phoneNumbers,
    statuses,
  };
}

function presentListed({ report, status }: ListedReport, downloadUrl: string) {
  const { id, fileName, recordCount, filters, createdAt } = report;
  return {
    _id: id,
    reportId: id,
    filename: fileName,
    downloadUrl,
    recordCount: recordCount ?? 0,
    dateRange: { startDate: iso(filters.from), endDate: iso(filters.to) },
    status,
    createdAt: iso(createdAt),
  };
}

/** Behind a proxy the host may be another one, or the scheme: PUBLIC_URL says it then. */
function hostOf({ headers: { host }, socket }: IncomingMessage): string {
  const url = `http://${host}`;
  return host !== undefined && URL.canParse(url) && new URL(url).host === host
    ? url
    : `http://127.0.0.1:${socket.localPort}`;
}

function isReportStatus(text: string): text is ReportStatus {
  return (REPORT_STATUSES as readonly string[]).includes(text);
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
