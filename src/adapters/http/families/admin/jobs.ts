import { millisecondsInSecond } from 'date-fns/constants';
import { z } from 'zod';
import type { ManageJobs } from '../../../../application/operators/manage-jobs.ts';
import type { DeadLetter, DeadLetterFilter } from '../../../../application/ports/stores/dead-letter-store.ts';
import { INSTALLATION } from '../../../../domain/jobs/job.ts';
import { isoOf } from '../../../../domain/shared/instant.ts';
import { nextCursor, placeOf } from '../../input/cursor.ts';
import { usualEnvelope } from '../../replies/http-error.ts';
import { ok } from '../../replies/http-reply.ts';
import { rejectionError } from '../../replies/rejection-errors.ts';
import type { Admission } from '../../routing/admission.ts';
import { route } from '../../routing/route.ts';
import type { RouteFamily } from '../../routing/route-declaration.ts';
import { invalidBody } from './documented-errors.ts';
import {
  deadLetterBody,
  deadLetterPage,
  deadLetterQuery,
  jobOverviewSchema,
  sliceSchema,
} from './job-schemas.ts';
import { actorOf } from './request-actor.ts';

const place = z.tuple([z.int().min(0), z.string()]);

/** Jobs, for operators. */
export function adminJobRoutes(
  { manageJobs }: { readonly manageJobs: ManageJobs },
  admission: Admission<null>,
): RouteFamily {
  const overview = route({
    method: 'get',
    path: '/admin/jobs',
    operationId: 'readJobs',
    summary: 'Read how much work waits, and which workers run',
    description:
      'The same whichever process replies. Counts stop at a limit: the reply takes longer with more projects that have work, not with more jobs.',
    admission,
    ok: { description: 'How the work stands', schema: jobOverviewSchema },
    async handle() {
      const { survey, depth, workers } = await manageJobs.overview();
      return ok({
        priorities: survey.priorities.map(({ priority, due, oldestWaitedMs }) => ({
          priority,
          due,
          oldestWaitedSeconds: oldestWaitedMs / millisecondsInSecond,
        })),
        kinds: depth.map(({ priority, kind, state, jobs }) => ({ priority, kind, state, jobs })),
        deadLetterJobs: survey.deadLetterJobs,
        workers: workers.map(({ id, seenAt, isSeen }) => ({ id, seenAt: isoOf(seenAt), isSeen })),
      });
    },
  });

  const list = route({
    method: 'get',
    path: '/admin/dead-letter-jobs',
    operationId: 'listDeadLetterJobs',
    summary: 'List the jobs that failed too often',
    description: 'The newest first, of all kinds or of one.',
    admission,
    query: deadLetterQuery,
    ok: { description: 'One page of dead-letter jobs', schema: deadLetterPage },
    async handle({ query: { limit, cursor, kind = null, reason = null } }) {
      const at = placeOf(cursor, place);
      const after = at === null ? null : { deadLetteredAt: at[0], id: at[1] };
      const { rows, next } = await manageJobs.deadLetters({ kind, reason, after, limit });
      return ok({
        jobs: rows.map(presentDeadLetter),
        next: nextCursor(next, (place) => [place.deadLetteredAt, place.id]),
      });
    },
  });

  const redrive = route({
    method: 'post',
    path: '/admin/dead-letter-jobs/redrive',
    operationId: 'redriveDeadLetterJobs',
    summary: 'Make dead-letter jobs due again',
    description: 'The oldest first. A repeated request finds nothing more to do.',
    admission,
    body: deadLetterBody,
    ok: { description: 'What was done', schema: sliceSchema },
    rejections: { 400: invalidBody('ids or kind is required') },
    handle: async ({ body, request }) => ok(await manageJobs.redrive(actorOf(request), filterOf(body))),
  });

  const drop = route({
    method: 'post',
    path: '/admin/dead-letter-jobs/drop',
    operationId: 'dropDeadLetterJobs',
    summary: 'Drop dead-letter jobs for ever',
    description:
      'The oldest first. A message whose attempt would have started fails, and its hold is released. A campaign that waits for its start fails, and a report that is not made is deleted. A job that ends something else cannot be dropped, and then none of the request is.',
    admission,
    body: deadLetterBody,
    ok: { description: 'What was done', schema: sliceSchema },
    rejections: {
      400: invalidBody('ids or kind is required'),
      409: {
        description: 'A job cannot be dropped, because what it ends would stay open',
        error: rejectionError({ kind: 'job-not-droppable', jobKind: 'attempt-deadline' }),
      },
    },
    handle: async ({ body, request }) => ok(await manageJobs.drop(actorOf(request), filterOf(body))),
  });

  const tag = { name: 'Jobs', description: 'Work that waits, workers, and jobs that failed too often.' };
  return { tag, envelope: usualEnvelope, routes: [overview, list, redrive, drop] };
}

function filterOf({ ids, kind }: z.output<typeof deadLetterBody>): DeadLetterFilter {
  return { ids: ids ?? null, kind: kind ?? null };
}

function presentDeadLetter({ id, work, projectId, reason, deadLetteredAt }: DeadLetter) {
  return {
    id,
    kind: work.kind,
    project: projectId === INSTALLATION ? null : projectId,
    reason,
    deadLetteredAt: isoOf(deadLetteredAt),
  };
}
