import { millisecondsInSecond } from 'date-fns/constants';
import { z } from 'zod';
import type { ManageProjects } from '../../../../../application/operators/manage-projects.ts';
import type { ProjectSettings } from '../../../../../domain/access/project.ts';
import { iqd, type Money } from '../../../../../domain/shared/money.ts';
import {
  canonicalPhoneNumber,
  isPhoneNumber,
  type PhoneNumber,
} from '../../../../../domain/shared/phone-number.ts';
import type { PlainSecret } from '../../../../../domain/shared/sealed-secret.ts';
import { nextCursor, placeOf } from '../../../input/cursor.ts';
import { usualEnvelope } from '../../../replies/http-error.ts';
import { ok } from '../../../replies/http-reply.ts';
import { rejectionError } from '../../../replies/rejection-errors.ts';
import type { Admission } from '../../../routing/admission.ts';
import { route } from '../../../routing/route.ts';
import type { RouteFamily } from '../../../routing/route-declaration.ts';
import { invalidBody, NO_PROJECT } from '../documented-errors.ts';
import { lowCreditOf } from '../money/low-credit-schemas.ts';
import { actorOf } from '../request-actor.ts';
import { OFF, pageQuery, projectParams } from '../shared-schemas.ts';
import { presentProject } from './project-presenters.ts';
import { changeProjectBody, createProjectBody, projectPage, projectSchema } from './project-schemas.ts';
import { FRESH } from './settings-freshness.ts';

const place = z.tuple([z.string()]);

/** The projects of the installation, for operators. */
export function adminProjectRoutes(
  { manageProjects }: { readonly manageProjects: ManageProjects },
  admission: Admission<null>,
): RouteFamily {
  const create = route({
    method: 'post',
    path: '/admin/projects',
    operationId: 'createProject',
    summary: 'Make a project',
    description: 'The project has neither keys nor credit.',
    admission,
    body: createProjectBody,
    ok: { description: 'The project', schema: projectSchema },
    rejections: {
      400: invalidBody('name is required'),
      409: { description: 'The slug is taken', error: rejectionError({ kind: 'slug-taken' }) },
    },
    async handle({ body, request }) {
      const { name, slug, environment, paymentType = 'prepaid', spendingThreshold = 'off', trial } = body;
      const created = await manageProjects.create(actorOf(request), {
        name,
        slug,
        environment,
        paymentType,
        spendingThreshold: thresholdOf(spendingThreshold),
        trialPhoneNumber: trial === undefined ? null : numberOf(trial.ownPhoneNumber),
        settings: settingsOf(body),
      });
      return ok(presentProject(created));
    },
  });

  const list = route({
    method: 'get',
    path: '/admin/projects',
    operationId: 'listProjects',
    summary: 'List the projects',
    description: 'In the order of their ids, archived ones among them.',
    admission,
    query: pageQuery,
    ok: { description: 'One page of projects', schema: projectPage },
    async handle({ query: { limit, cursor } }) {
      const after = placeOf(cursor, place)?.[0] ?? null;
      const { rows, next } = await manageProjects.list(after, limit);
      return ok({ projects: rows.map(presentProject), next: nextCursor(next, (id) => [id]) });
    },
  });

  const show = route({
    method: 'get',
    path: '/admin/projects/:project',
    operationId: 'showProject',
    summary: 'Show a project with its money and settings',
    description: 'The path takes the id or the slug.',
    admission,
    params: projectParams,
    ok: { description: 'The project', schema: projectSchema },
    rejections: { 404: NO_PROJECT },
    handle: async ({ params }) => ok(presentProject(await manageProjects.find(params.project))),
  });

  const change = route({
    method: 'patch',
    path: '/admin/projects/:project',
    operationId: 'changeProject',
    summary: 'Change the name, the settings or the threshold of a project',
    description: `What the body leaves out stays. A change takes effect in every process ${FRESH}.`,
    admission,
    params: projectParams,
    body: changeProjectBody,
    ok: { description: 'The project after the change', schema: projectSchema },
    rejections: { 400: invalidBody('language must be one of ar, ckb, en'), 404: NO_PROJECT },
    async handle({ params, body, request }) {
      const { name, spendingThreshold } = body;
      const changed = await manageProjects.change(actorOf(request), params.project, {
        ...(name !== undefined && { name }),
        ...(spendingThreshold !== undefined && { spendingThreshold: thresholdOf(spendingThreshold) }),
        settings: settingsOf(body),
      });
      return ok(presentProject(changed));
    },
  });

  const archive = route({
    method: 'post',
    path: '/admin/projects/:project/archive',
    operationId: 'archiveProject',
    summary: 'Archive a project',
    description: `Its keys are rejected in every process ${FRESH}, and it gets no new ones. A scheduled campaign fails at its time. Messages on their way, money and everything stored stay as they are. There is no way back.`,
    admission,
    params: projectParams,
    ok: { description: 'The archived project', schema: projectSchema },
    rejections: { 404: NO_PROJECT },
    handle: async ({ params, request }) =>
      ok(presentProject(await manageProjects.archive(actorOf(request), params.project))),
  });

  const tag = { name: 'Projects', description: 'Projects and their settings.' };
  return { tag, envelope: usualEnvelope, routes: [create, list, show, change, archive] };
}

/** The number as sends have it; the schema has checked its digits. */
function numberOf(digits: string): PhoneNumber | null {
  return isPhoneNumber(digits) ? canonicalPhoneNumber(digits) : null;
}

type SettingFields = Omit<z.output<typeof changeProjectBody>, 'name' | 'spendingThreshold'>;

/** The settings that a body names. */
function settingsOf(body: SettingFields): Partial<ProjectSettings<PlainSecret>> {
  const { rateLimit, addressRateLimit, retention, lowCredit, attemptTimeoutSeconds: timeouts } = body;
  const settings = {
    rateLimit: rateLimit === OFF ? null : rateLimit,
    addressRateLimit: addressRateLimit === OFF ? null : addressRateLimit,
    allowedIps: body.allowedIps,
    ipRuleScope: body.ipRuleScope,
    settlement: body.settlement,
    billingUnits: body.billingUnits,
    language: body.language,
    attemptTimeoutMs: timeouts && {
      verification: timeouts.verification * millisecondsInSecond,
      other: timeouts.other * millisecondsInSecond,
    },
    retention: retention === OFF ? null : retention,
    lowCredit: lowCredit === OFF ? null : lowCredit && lowCreditOf(lowCredit),
    weight: body.weight,
  } satisfies { [Name in keyof ProjectSettings]: ProjectSettings<PlainSecret>[Name] | undefined };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

function thresholdOf(threshold: number | typeof OFF): Money | null {
  return threshold === OFF ? null : iqd(threshold);
}
