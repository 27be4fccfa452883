import { Readable } from 'node:stream';
import { z } from 'zod';
import type { CreditResult, ManageCredit } from '../../../../../application/operators/manage-credit.ts';
import type { ReadStatement, StatementLine } from '../../../../../application/operators/read-statement.ts';
import type { CsvEncoder } from '../../../../../application/ports/csv-encoder.ts';
import type { StatementPlace } from '../../../../../application/ports/stores/billing-stores.ts';
import { isoOf } from '../../../../../domain/shared/instant.ts';
import { iqd, money, toIqd, ZERO } from '../../../../../domain/shared/money.ts';
import { invalidCursor, nextCursor, placeOf } from '../../../input/cursor.ts';
import { ADMIN_LIMIT_MAX } from '../../../limits.ts';
import { usualEnvelope } from '../../../replies/http-error.ts';
import { file, ok } from '../../../replies/http-reply.ts';
import { rejectionError } from '../../../replies/rejection-errors.ts';
import type { Admission } from '../../../routing/admission.ts';
import type { DocumentedError } from '../../../routing/documented.ts';
import { IDEMPOTENCY_KEY_HEADER, idempotencyOf, REPLAYED } from '../../../routing/idempotency.ts';
import { route } from '../../../routing/route.ts';
import type { Input, ParamsOf, RouteFamily } from '../../../routing/route-declaration.ts';
import { invalidBody, NO_PROJECT } from '../documented-errors.ts';
import { actorOf } from '../request-actor.ts';
import { pageQuery, projectParams } from '../shared-schemas.ts';
import { correctionBody, creditSchema, statementPage, topUpBody } from './credit-schemas.ts';
import { presentMoney } from './money-presenters.ts';

const TOP_UP_ROUTE = 'POST /admin/projects/{project}/top-ups';
const CORRECTION_ROUTE = 'POST /admin/projects/{project}/corrections';
const CSV_TYPE = 'text/csv';
const CSV_HEADER = ['at', 'kind', 'reference', 'credited', 'charged', 'balance'];

/** A page adds entries to the balance of its cursor: half of what an amount can be leaves enough for them. */
const CURSOR_BALANCE_MAX = Number.MAX_SAFE_INTEGER / 2;
const balance = z.int().min(-CURSOR_BALANCE_MAX).max(CURSOR_BALANCE_MAX);
/** Project and entry, and the balance before it. */
const place = z.tuple([z.string(), z.int().min(0), z.string(), balance.nullable()]);

const TOO_LARGE_OR_USED_KEY: DocumentedError = {
  description: 'The balance would be too large, or the Idempotency-Key was used with another request',
  error: rejectionError({ kind: 'balance-too-large' }),
};

export interface CreditUseCases {
  readonly manageCredit: ManageCredit;
  readonly readStatement: ReadStatement;
  readonly csvEncoder: CsvEncoder;
}

/** The money of projects, for operators. */
export function adminCreditRoutes(
  { manageCredit, readStatement, csvEncoder }: CreditUseCases,
  admission: Admission<null>,
): RouteFamily {
  const topUp = route({
    method: 'post',
    path: '/admin/projects/:project/top-ups',
    operationId: 'topUpCredit',
    summary: 'Add credit to a project',
    description: 'The first credit ends the trial of the project.',
    admission,
    params: projectParams,
    requestHeaders: [IDEMPOTENCY_KEY_HEADER],
    body: topUpBody,
    ok: { description: 'The money after it', schema: creditSchema, headers: ['Idempotency-Replayed'] },
    rejections: { 400: invalidBody('amount is not valid'), 404: NO_PROJECT, 409: TOO_LARGE_OR_USED_KEY },
    handle: async (input) => presentResult(await manageCredit.topUp(changeOf(TOP_UP_ROUTE, input))),
  });

  const correct = route({
    method: 'post',
    path: '/admin/projects/:project/corrections',
    operationId: 'correctCredit',
    summary: 'Correct the balance of a project',
    description:
      'The amount may be below zero. What is held by a prepaid project stays covered. A correction ends no trial.',
    admission,
    params: projectParams,
    requestHeaders: [IDEMPOTENCY_KEY_HEADER],
    body: correctionBody,
    ok: { description: 'The money after it', schema: creditSchema, headers: ['Idempotency-Replayed'] },
    rejections: {
      400: invalidBody('reason is required'),
      404: NO_PROJECT,
      409: {
        description:
          'Less than is held would be left, the balance would be too large, or the Idempotency-Key was used with another request',
        schema: z.union([
          z
            .object({
              error: z.string().meta({
                description: 'What is wrong, for people',
                examples: ['The correction would leave less than is held'],
              }),
              balance: z.number().meta({ description: 'In IQD', examples: [100] }),
              held: z.number().meta({ description: 'In IQD', examples: [80] }),
            })
            .meta({ id: 'BalanceBelowHolds', description: 'Less than is held would be left' }),
          z
            .object({
              error: z
                .string()
                .meta({ description: 'What is wrong, for people', examples: ['The key was used'] }),
            })
            .meta({
              id: 'CorrectionConflict',
              description:
                'The balance would be too large, or the Idempotency-Key was used with another request',
            }),
        ]),
      },
    },
    handle: async (input) => presentResult(await manageCredit.correct(changeOf(CORRECTION_ROUTE, input))),
  });

  const reset = route({
    method: 'post',
    path: '/admin/projects/:project/threshold-resets',
    operationId: 'resetThreshold',
    summary: 'Set the count against the spending threshold to zero',
    description: 'Open holds count on.',
    admission,
    params: projectParams,
    ok: { description: 'The money after it', schema: creditSchema },
    rejections: { 404: NO_PROJECT },
    handle: async ({ params, request }) =>
      presentResult(await manageCredit.resetThreshold(actorOf(request), params.project)),
  });

  const statement = route({
    method: 'get',
    path: '/admin/projects/:project/statement',
    operationId: 'readStatement',
    summary: 'Read the statement of a project',
    description:
      'Each line is a ledger entry with the balance after it. Holds change no balance and are left out.',
    admission,
    params: projectParams,
    query: pageQuery,
    ok: { description: 'One page of the statement, the newest line first', schema: statementPage },
    rejections: { 404: NO_PROJECT },
    async handle({ params, query: { limit, cursor } }) {
      const at = placeOf(cursor, place);
      const before = at === null ? null : toPlace(at);
      const { projectId, rows, next } = await readStatement.page(params.project, before, limit);
      // The balance of a cursor is that of its project.
      if (at !== null && at[0] !== projectId) throw invalidCursor();
      return ok({
        lines: rows.map(presentLine),
        next: nextCursor(next, (place) => [projectId, place.createdAt, place.id, place.balance]),
      });
    },
  });

  const csv = route({
    method: 'get',
    path: '/admin/projects/:project/statement.csv',
    operationId: 'downloadStatement',
    summary: 'Download the whole statement as csv',
    description: 'The newest line first. Amounts are IQD.',
    admission,
    params: projectParams,
    ok: { description: 'The csv file', kind: 'file', mediaType: CSV_TYPE },
    rejections: { 404: NO_PROJECT },
    async handle({ params }) {
      const project = params.project;
      // What rejects the request comes before the first byte.
      const first = await readStatement.page(project, null, ADMIN_LIMIT_MAX);
      async function* rows() {
        yield csvEncoder([CSV_HEADER]);
        for (let page = first; ; page = await readStatement.page(project, page.next, ADMIN_LIMIT_MAX)) {
          if (page.rows.length > 0) yield csvEncoder(page.rows.map(csvRow));
          if (page.next === null) return;
        }
      }
      const name = `statement-${first.projectId}.csv`;
      return file(Readable.from(rows()), `${CSV_TYPE}; charset=utf-8`, name);
    },
  });

  const tag = { name: 'Credit', description: 'Top-ups, corrections, thresholds and statements.' };
  return { tag, envelope: usualEnvelope, routes: [topUp, correct, reset, statement, csv] };
}

function changeOf(
  routeName: string,
  {
    params,
    body,
    json,
    request,
  }: Input<null, ParamsOf<typeof projectParams>, unknown, z.output<typeof topUpBody>>,
) {
  return {
    actor: actorOf(request),
    project: params.project,
    amount: iqd(body.amount),
    reason: body.reason ?? null,
    idempotency: idempotencyOf(routeName, request, json),
  };
}

function presentResult({ id, account, replayed }: CreditResult) {
  return ok({ id, ...presentMoney(account) }, replayed ? REPLAYED : undefined);
}

function toPlace([, createdAt, id, balance]: z.output<typeof place>): StatementPlace {
  return { createdAt, id, balance: balance === null ? null : money(balance) };
}

function presentLine({ entry, balance }: StatementLine) {
  return {
    id: entry.id,
    at: isoOf(entry.createdAt),
    kind: kindOf(entry.kind),
    reference: entry.reference,
    amount: toIqd(entry.balanceDelta),
    balance: toIqd(balance),
  };
}

/** A statement has no holds. */
function kindOf(kind: StatementLine['entry']['kind']) {
  return kind === 'hold' ? 'settlement' : kind;
}

function csvRow({ entry, balance }: StatementLine): readonly string[] {
  const { balanceDelta } = entry;
  const credited = balanceDelta > ZERO ? String(toIqd(balanceDelta)) : '';
  const charged = balanceDelta < ZERO ? String(-toIqd(balanceDelta)) : '';
  return [isoOf(entry.createdAt), entry.kind, entry.reference, credited, charged, String(toIqd(balance))];
}
