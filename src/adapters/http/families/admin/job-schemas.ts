import { z } from 'zod';
import { SURVEYED_JOBS_MAX } from '../../../../application/jobs/survey-work.ts';
import { DEAD_LETTER_SLICE_MAX, DEPTH_COUNTED_MAX } from '../../../../application/operators/manage-jobs.ts';
import { JOB_PRIORITIES } from '../../../../domain/jobs/job-priority.ts';
import { STRICT_BODY_ERROR } from '../../input/body-error.ts';
import { nameField } from '../../input/text-fields.ts';
import { JOB_ID_CHARACTERS_MAX } from '../../limits.ts';
import { ID_EXAMPLE, INSTANT_EXAMPLE, instant, next, pageQuery } from './shared-schemas.ts';

const KIND_ERROR = 'kind must be the name of a kind of job, such as start-attempt';
const IDS_ERROR = `ids must be a list of 1 to ${DEAD_LETTER_SLICE_MAX} ids of jobs`;
const JOB_ID_EXAMPLE = `sms-${ID_EXAMPLE}/start/0`;

const kindField = z
  .string({ error: KIND_ERROR })
  .regex(/^[a-z]+(?:-[a-z]+)*$/, { error: KIND_ERROR })
  .max(40, { error: KIND_ERROR });
const priority = z.enum(JOB_PRIORITIES).meta({ description: 'What is done first', examples: ['code'] });
const kind = z.string().meta({ description: 'What the job does', examples: ['start-attempt'] });
const count = (description: string) => z.int().meta({ description, examples: [0] });

/** GET /admin/jobs. */
export const jobOverviewSchema = z
  .object({
    priorities: z
      .array(
        z
          .object({
            priority,
            due: count(
              `Due jobs that no worker has leased; counting stops at ${SURVEYED_JOBS_MAX.toLocaleString('en')}`,
            ),
            oldestWaitedSeconds: z
              .number()
              .meta({ description: 'How long the oldest due job has waited', examples: [0] }),
          })
          .meta({ id: 'AdminJobPriority', description: 'The due jobs of a priority' }),
      )
      .meta({ description: 'The most urgent first' }),
    kinds: z
      .array(
        z
          .object({
            priority,
            kind,
            state: z.enum(['due', 'leased', 'scheduled']).meta({
              description: '`due` waits for a worker, `leased` has one, `scheduled` comes due later',
              examples: ['due'],
            }),
            jobs: count(
              `How many; of a priority counting stops at ${DEPTH_COUNTED_MAX.toLocaleString('en')} due jobs and at as many others`,
            ),
          })
          .meta({ id: 'AdminJobDepth', description: 'The jobs of a kind in a state' }),
      )
      .meta({ description: 'By priority' }),
    deadLetterJobs: count(
      `Jobs that failed too often; counting stops at ${SURVEYED_JOBS_MAX.toLocaleString('en')}`,
    ),
    workers: z
      .array(
        z
          .object({
            id: z.string().meta({ description: 'Names the process', examples: [ID_EXAMPLE] }),
            seenAt: instant.meta({ description: 'Its last heartbeat', examples: [INSTANT_EXAMPLE] }),
            isSeen: z
              .boolean()
              .meta({ description: 'Whether that was in the last 15 seconds', examples: [true] }),
          })
          .meta({ id: 'AdminWorker', description: 'A process that runs jobs' }),
      )
      .meta({ description: 'The latest seen first' }),
  })
  .meta({ id: 'AdminJobs', description: 'How the work stands' });

/** GET /admin/dead-letter-jobs. */
export const deadLetterQuery = pageQuery.extend({
  kind: kindField.meta({ description: 'Only jobs of this kind', examples: ['start-attempt'] }).optional(),
  reason: z
    .string()
    .meta({ description: 'Only jobs with exactly this reason', examples: ['broken'] })
    .optional(),
});

/** One page of dead-letter jobs. */
export const deadLetterPage = z
  .object({
    jobs: z
      .array(
        z
          .object({
            id: z.string().meta({ description: 'Names the job', examples: [JOB_ID_EXAMPLE] }),
            kind,
            project: z
              .string()
              .nullable()
              .meta({
                description: 'The id of its project; null for a job of the installation',
                examples: [ID_EXAMPLE],
              }),
            reason: z.string().meta({ description: 'Why it failed the last time', examples: ['broken'] }),
            deadLetteredAt: instant.meta({ description: 'ISO 8601', examples: [INSTANT_EXAMPLE] }),
          })
          .meta({ id: 'DeadLetterJob', description: 'A job that failed too often' }),
      )
      .meta({ description: 'The newest first' }),
    next,
  })
  .meta({ id: 'DeadLetterJobPage', description: 'One page of dead-letter jobs' });

const ids = z
  .array(nameField('ids', 1, JOB_ID_CHARACTERS_MAX), { error: IDS_ERROR })
  .min(1, { error: IDS_ERROR })
  .max(DEAD_LETTER_SLICE_MAX, { error: IDS_ERROR });

/** POST …/redrive and POST …/drop. A misspelt `ids` beside a kind is rejected: it would drop all of the kind. */
export const deadLetterBody = z
  .strictObject(
    {
      ids: ids.meta({ description: 'These jobs', examples: [[JOB_ID_EXAMPLE]] }).optional(),
      kind: kindField.meta({ description: 'The jobs of this kind', examples: ['start-attempt'] }).optional(),
    },
    STRICT_BODY_ERROR,
  )
  .refine((body) => body.ids !== undefined || body.kind !== undefined, {
    error: 'ids or kind is required',
  })
  .meta({
    id: 'DeadLetterSlice',
    description: 'Which dead-letter jobs; with both, those of the kind among the ids',
  });

/** What became of a slice. */
export const sliceSchema = z
  .object({
    jobs: count('How many jobs were changed'),
    hasMore: z.boolean().meta({
      description: `Whether more are left: a request changes ${DEAD_LETTER_SLICE_MAX} at most`,
      examples: [false],
    }),
  })
  .meta({ id: 'DeadLetterResult', description: 'What became of the jobs' });
