import type { IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { millisecondsInSecond } from 'date-fns/constants';
import type { z } from 'zod';
import type { AuthenticateProject } from '../../../../application/access/authenticate-project.ts';
import { FairGate } from '../../../../application/concurrency/fair-gate.ts';
import { InFlight } from '../../../../application/concurrency/in-flight.ts';
import type { BrowseReports, ListedReport } from '../../../../application/reports/browse-reports.ts';
import { REPORT_WAIT_MS, type RequestReports } from '../../../../application/reports/request-reports.ts';
import { expiresAt, REPORT_LIFETIME_DAYS, type ReportSelection } from '../../../../domain/reports/report.ts';
import { isoOf } from '../../../../domain/shared/instant.ts';
import {
  REPORT_DOWNLOADS_MAX,
  REPORT_DOWNLOADS_PER_ADDRESS_MAX,
  REPORT_DOWNLOADS_PER_PROJECT_MAX,
  REPORT_LINKS_MAX,
  REPORT_LINKS_PER_ADDRESS_MAX,
} from '../../limits.ts';
import { RequestRejected, usualEnvelope } from '../../replies/http-error.ts';
import { file, type JsonReply, ok } from '../../replies/http-reply.ts';
import { OVERLOADED } from '../../replies/known-errors.ts';
import { rejectionError } from '../../replies/rejection-errors.ts';
import { anyone, projectKey } from '../../routing/admission.ts';
import type { Tag } from '../../routing/documented.ts';
import { leaving } from '../../routing/gate.ts';
import { IDEMPOTENCY_KEY_HEADER, idempotencyOf, REPLAYED } from '../../routing/idempotency.ts';
import { route } from '../../routing/route.ts';
import type { RouteFamily } from '../../routing/route-declaration.ts';
import {
  downloadParams,
  END_OF_DAY,
  generateBody,
  instantOf,
  listQuery,
  reportList,
  reportSchema,
  START_OF_DAY,
} from './report-schemas.ts';

const GENERATE_ROUTE = 'POST /reports/generate';
const MEDIA_TYPE = 'text/csv';
const FILE_PATH = '/reports/files';
const NO_REPORT = rejectionError({ kind: 'report-not-found' });
const TAG: Tag = {
  name: 'Reports',
  description: 'Files with the messages of a time, one row for each message.',
};

export interface ReportUseCases {
  readonly authenticateProject: Pick<AuthenticateProject, 'execute'>;
  readonly requestReports: Pick<RequestReports, 'execute'>;
  readonly browseReports: Pick<BrowseReports, 'list' | 'listed' | 'isFileId' | 'ofFile' | 'download'>;
}

/**
 * Specification 4.4 and 4.5: reports, and the link to their files. Links begin with `publicUrl`, with the host of the request
 * when it is null.
 */
export function reportRoutes(
  { authenticateProject, requestReports, browseReports }: ReportUseCases,
  publicUrl: string | null,
): RouteFamily {
  const admission = projectKey(authenticateProject);
  /** By network, as the downloads. */
  const links = new FairGate(
    { perKey: REPORT_LINKS_PER_ADDRESS_MAX, all: REPORT_LINKS_MAX },
    { clock: performance },
  );
  const downloads = new InFlight({ perKey: REPORT_DOWNLOADS_PER_ADDRESS_MAX, all: REPORT_DOWNLOADS_MAX });
  const downloadsOfProjects = new InFlight({ perKey: REPORT_DOWNLOADS_PER_PROJECT_MAX });
  const linkOf = (request: IncomingMessage, fileId: string) =>
    `${publicUrl ?? originOf(request)}${FILE_PATH}/${fileId}`;

  const generate = route({
    method: 'post',
    path: '/reports/generate',
    operationId: 'generateReport',
    summary: 'Make a csv file with the messages of a time',
    description: `The file has the messages that were created between the two dates and before the request, single ones and those of campaigns. When it is not made within ${REPORT_WAIT_MS / millisecondsInSecond} seconds the reply is 202, and its link works later. A report can be downloaded for ${REPORT_LIFETIME_DAYS} days.`,
    admission,
    // The use case has a gate for what it stores: a request that waits for its file keeps nobody from anything.
    throughWorkGate: 'none',
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
      400: {
        description: 'The body or the Idempotency-Key is not valid',
        error: { status: 400, code: 'validation-failed', text: 'endDate must be on or after startDate' },
      },
      409: {
        description: 'The Idempotency-Key was used with another request',
        error: rejectionError({ kind: 'idempotency-conflict' }),
      },
      429: {
        description: 'Too many reports of the project were requested',
        error: rejectionError({ kind: 'too-many-reports', retryAfterMs: 10_000 }),
        headers: ['Retry-After'],
      },
    },
    async handle({ caller, body, json, request, withoutPlace }) {
      const { report, replayed } = await withoutPlace(() =>
        requestReports.execute({
          project: caller,
          selection: toSelection(body),
          idempotency: idempotencyOf(GENERATE_ROUTE, request, json),
        }),
      );
      const isMade = report.recordCount !== null;
      const { startDate, endDate, phoneNumbers, statuses } = report.filters;
      const presented: z.input<typeof reportSchema> = {
        ...presentListed(browseReports.listed(report), linkOf(request, report.fileId)),
        project: report.projectId,
        fileId: report.fileId,
        filters: { startDate, endDate, phoneNumbers: [...phoneNumbers], statuses: [...statuses] },
        expiresAt: isoOf(expiresAt(report)),
        updatedAt: isoOf(report.updatedAt),
        message: isMade
          ? 'Delivery report generated successfully'
          : 'The delivery report is still being generated, its link works when it is',
      };
      const reply = ok(presented, replayed ? REPLAYED : undefined);
      return isMade ? reply : { ...reply, status: 202 };
    },
  });

  const list = route({
    method: 'get',
    path: '/reports',
    operationId: 'listReports',
    summary: 'List the reports of the project',
    description: 'A bare array, the newest report first. A report that is still being made is not in it.',
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
    description: 'The link that is the `downloadUrl` of a report. It needs no key, so treat it like one.',
    admission: anyone,
    params: downloadParams,
    ok: { description: 'The csv file', kind: 'file', mediaType: MEDIA_TYPE },
    rejections: {
      404: {
        description: 'There is no such report, or it is still being made',
        error: NO_REPORT,
      },
      410: {
        description: 'The report is expired or deleted',
        error: rejectionError({ kind: 'report-gone', status: 'expired' }),
      },
    },
    async handle({ params, network, withoutPlace, waitForRound, request }) {
      if (!browseReports.isFileId(params.fileId)) throw new RequestRejected(NO_REPORT);
      const lookUp = async () => {
        await waitForRound();
        return browseReports.ofFile(params.fileId);
      };
      const leave = leaving(request);
      const report = await withoutPlace(() => links.run(network, lookUp, leave));
      const ends: (() => void)[] = [];
      const begin = (inFlight: InFlight, key: string) => {
        if (!inFlight.tryBegin(key)) throw new RequestRejected(OVERLOADED);
        ends.push(() => inFlight.end(key));
      };
      const end = () => {
        for (const each of ends) each();
      };
      try {
        begin(downloads, network);
        begin(downloadsOfProjects, report.projectId);
        const content = await browseReports.download(report, leave);
        const stream = content instanceof Readable ? content : Readable.from(content);
        stream.once('close', end);
        return file(stream, `${MEDIA_TYPE}; charset=utf-8`, report.fileName);
      } catch (error) {
        end();
        throw leave.aborted ? leave.reason : error;
      }
    },
  });

  return { tag: TAG, envelope: usualEnvelope, routes: [generate, list, download] };
}

function toSelection(body: z.output<typeof generateBody>): ReportSelection {
  const { startDate, endDate, phoneNumbers = [], statuses = [] } = body;
  return {
    from: instantOf(startDate, START_OF_DAY),
    to: instantOf(endDate, END_OF_DAY),
    filters: { startDate, endDate, phoneNumbers, statuses },
  };
}

function presentListed({ report, status }: ListedReport, downloadUrl: string) {
  const { id, fileName, recordCount, from, to, createdAt } = report;
  return {
    _id: id,
    reportId: id,
    filename: fileName,
    downloadUrl,
    recordCount: recordCount ?? 0,
    dateRange: { startDate: isoOf(from), endDate: isoOf(to) },
    status,
    createdAt: isoOf(createdAt),
  };
}

/** Behind a proxy the host may be another one, or the scheme: PUBLIC_URL says it then. */
function originOf({ headers: { host }, socket }: IncomingMessage): string {
  const url = `http://${host}`;
  const isHost = host !== undefined && URL.canParse(url) && new URL(url).href === `${new URL(url).origin}/`;
  return isHost ? new URL(url).origin : `http://127.0.0.1:${socket.localPort}`;
}
