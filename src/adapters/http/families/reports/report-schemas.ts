import { z } from 'zod';
import { MESSAGE_STATUSES } from '../../../../domain/messages/message-status.ts';
import {
  FILE_ID_PATTERN,
  REPORT_LIFETIME_DAYS,
  REPORT_STATUSES,
  type ReportStatus,
} from '../../../../domain/reports/report.ts';
import { BODY_ERROR } from '../../input/body-error.ts';
import { wholeNumber } from '../../input/query-fields.ts';
import {
  LATEST_INSTANT_MS,
  REPORT_LIMIT_DEFAULT,
  REPORT_LIMIT_MAX,
  REPORT_PAGE_MAX,
  REPORT_PHONE_NUMBER_CHARACTERS_MAX,
  REPORT_PHONE_NUMBERS_MAX,
} from '../../limits.ts';

const NUMBER_PATTERN = /^\+?[0-9]+$/;
const NUMBERS_ERROR = `phoneNumbers must be a list of at most ${REPORT_PHONE_NUMBERS_MAX} numbers of digits, each with or without a plus`;
const STATUSES_ERROR = `statuses must be a list of ${MESSAGE_STATUSES.join(', ')}`;

const DATE_PATTERN = /^\d{4}-\d{2}-\d{2}$/;
const OFFSET_PATTERN = /(?:Z|[+-]\d{2}:?\d{2})$/;
export const START_OF_DAY = 'T00:00:00.000Z';
export const END_OF_DAY = 'T23:59:59.999Z';
const EARLIEST_INSTANT = 0;

/** A date in ISO 8601, which may have a time, which may have an offset; UTC without one. */
function dateField(name: string) {
  const error = `${name} must be a date in ISO 8601, such as 2026-01-31 or 2026-01-31T09:00:00Z`;
  return z.union([z.iso.date(), z.iso.datetime({ offset: true, local: true })], { error }).refine(
    (text) => {
      const instant = instantOf(text, START_OF_DAY);
      return instant >= EARLIEST_INSTANT && instant <= LATEST_INSTANT_MS;
    },
    { error },
  );
}

/** The instant of a date field; `timeOfDay` is that of a date without a time. */
export function instantOf(text: string, timeOfDay: string): number {
  if (DATE_PATTERN.test(text)) return Date.parse(text + timeOfDay);
  return Date.parse(OFFSET_PATTERN.test(text) ? text : `${text}Z`);
}

const number = z
  .string({ error: NUMBERS_ERROR })
  .max(REPORT_PHONE_NUMBER_CHARACTERS_MAX, { error: NUMBERS_ERROR })
  .regex(NUMBER_PATTERN, { error: NUMBERS_ERROR });

/** Specification 4.4. */
export const generateBody = z
  .object(
    {
      startDate: dateField('startDate').meta({
        description: 'ISO 8601: a date, or a date and time; UTC unless it has an offset',
        examples: ['2029-12-01'],
      }),
      endDate: dateField('endDate').meta({
        description: 'The same, on or after `startDate`. A date stands for all of its day.',
        examples: ['2030-01-31'],
      }),
      phoneNumbers: z
        .array(number, { error: NUMBERS_ERROR })
        .max(REPORT_PHONE_NUMBERS_MAX, { error: NUMBERS_ERROR })
        .meta({
          description: 'Only messages to these numbers: digits with or without a plus, in any spelling',
          examples: [['+9647701234567']],
        })
        .optional(),
      statuses: z
        .array(z.enum(MESSAGE_STATUSES, { error: STATUSES_ERROR }), { error: STATUSES_ERROR })
        .max(MESSAGE_STATUSES.length, { error: STATUSES_ERROR })
        .meta({
          description: 'Only messages with these statuses',
          examples: [['delivered', 'failed']],
        })
        .optional(),
    },
    { error: BODY_ERROR },
  )
  .refine(({ startDate, endDate }) => instantOf(startDate, START_OF_DAY) <= instantOf(endDate, END_OF_DAY), {
    error: 'endDate must be on or after startDate',
  })
  .meta({
    id: 'GenerateReportRequest',
    description: 'Which messages the report has; an empty list restricts nothing',
  });

const instant = z.iso.datetime();
const text = z.string();
const id = text.meta({ description: 'The id of the report', examples: ['01b8dac69e60278320fd635c'] });
const fileId = text.regex(FILE_ID_PATTERN).meta({
  description: '40 hex characters: names the file, and ends its link',
  examples: ['b8df65162af7843f4fffd0ec51b02112b0fa9f1a'],
});
const listed = {
  _id: id,
  reportId: id.meta({ description: 'The same as `_id`' }),
  filename: text.meta({
    description: 'The name that a download gets',
    examples: ['delivery-report-demo-2030-01-01T00-01-00-000Z-20fd635c.csv'],
  }),
  downloadUrl: z.url().meta({
    description: 'The link to the csv file; it needs no key, so treat it like one',
    examples: ['https://barid.example/reports/files/b8df65162af7843f4fffd0ec51b02112b0fa9f1a'],
  }),
  recordCount: z
    .int()
    .min(0)
    .meta({ description: 'Messages in the file', examples: [1] }),
  dateRange: z
    .object({
      startDate: instant.meta({ description: 'ISO 8601', examples: ['2029-12-01T00:00:00.000Z'] }),
      endDate: instant.meta({ description: 'ISO 8601', examples: ['2030-01-31T23:59:59.999Z'] }),
    })
    .meta({ id: 'ReportDateRange', description: 'The first and the last instant of creation' }),
  status: z.enum(REPORT_STATUSES).meta({
    id: 'ReportStatus',
    description: 'Only an `available` report can be downloaded',
    examples: ['available'],
  }),
  createdAt: instant.meta({ description: 'ISO 8601', examples: ['2030-01-01T00:01:00.000Z'] }),
};

/** Specification 4.5. */
export const reportList = z.array(
  z.object(listed).meta({ id: 'ListedReport', description: 'A report, as a list shows it' }),
);

/** Specification 2.4. */
export const reportSchema = z
  .object({
    ...listed,
    project: text.meta({ description: 'The id of the project', examples: ['1888ad8b145368b77b4f9dcf'] }),
    fileId,
    filters: z
      .object({
        startDate: text.meta({ description: 'As the request had it', examples: ['2029-12-01'] }),
        endDate: text.meta({ description: 'As the request had it', examples: ['2030-01-31'] }),
        phoneNumbers: z
          .array(text)
          .meta({ description: 'Empty when the request had none', examples: [['+9647701234567']] }),
        statuses: z
          .array(z.enum(MESSAGE_STATUSES))
          .meta({ description: 'Empty when the request had none', examples: [['delivered', 'failed']] }),
      })
      .meta({ description: 'What the request asked for' }),
    expiresAt: instant.meta({
      description: `${REPORT_LIFETIME_DAYS} days after \`createdAt\``,
      examples: ['2030-01-31T00:01:00.000Z'],
    }),
    updatedAt: instant.meta({ description: 'ISO 8601', examples: ['2030-01-01T00:01:00.000Z'] }),
    message: text.meta({
      description: 'What was done, for people',
      examples: ['Delivery report generated successfully'],
    }),
  })
  .meta({ id: 'Report', description: 'A csv file with the messages of a time' });

/** The path of one file. */
export const downloadParams = z.object({ fileId });

/** Specification 4.5. */
export const listQuery = z.object({
  limit: wholeNumber('limit', 1, REPORT_LIMIT_MAX)
    .default(REPORT_LIMIT_DEFAULT)
    .meta({ description: 'Reports of a page', examples: [REPORT_LIMIT_DEFAULT] }),
  page: wholeNumber('page', 1, REPORT_PAGE_MAX)
    .default(1)
    .meta({ description: 'The page, from 1 on', examples: [1] }),
  status: z
    .string()
    .meta({
      description: 'Only reports of these statuses: `available`, `expired`, `deleted`, separated by commas',
      examples: ['available,expired'],
    })
    .transform((list, context): readonly ReportStatus[] => {
      const given = list.split(',').map((status) => status.trim());
      const unknown = given.find((status) => !isReportStatus(status));
      if (unknown === undefined) return given as ReportStatus[];
      context.addIssue(`Invalid report status: ${unknown}`);
      return z.NEVER;
    })
    .optional(),
});

function isReportStatus(text: string): text is ReportStatus {
  return (REPORT_STATUSES as readonly string[]).includes(text);
}
