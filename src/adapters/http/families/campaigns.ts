import { z } from 'zod';
import type { AuthenticateProject } from '../../../application/access/authenticate-project.ts';
import type { AttachRecipients } from '../../../application/campaigns/attach-recipients.ts';
import type { BrowseCampaigns } from '../../../application/campaigns/browse-campaigns.ts';
import type { CampaignGate } from '../../../application/campaigns/campaign-gate.ts';
import type { ManageCampaigns } from '../../../application/campaigns/manage-campaigns.ts';
import type { PreflightCampaigns } from '../../../application/campaigns/preflight-campaigns.ts';
import type { StartCampaigns } from '../../../application/campaigns/start-campaigns.ts';
import type { Project } from '../../../domain/access/project.ts';
import { CAMPAIGN_STATUSES } from '../../../domain/campaigns/campaign.ts';
import { RECIPIENT_STATUSES } from '../../../domain/campaigns/recipient.ts';
import { pageCount } from '../../../domain/shared/page.ts';
import {
  CAMPAIGN_LIMIT_DEFAULT,
  CAMPAIGN_LIMIT_MAX,
  CAMPAIGN_PAGE_MAX,
  LARGE_BODY_BYTES_MAX,
  RECIPIENT_LIMIT_DEFAULT,
  RECIPIENT_LIMIT_MAX,
} from '../limits.ts';
import { projectKey } from '../routing/admission.ts';
import { type ErrorEnvelope, invalid, usualEnvelope } from '../routing/http-error.ts';
import { ok } from '../routing/http-reply.ts';
import { IDEMPOTENCY_KEY_HEADER, idempotencyOf, REPLAYED } from '../routing/idempotency.ts';
import { wholeNumber } from '../routing/query-fields.ts';
import { type PathParams, type RouteFamily, route } from '../routing/route.ts';
import {
  campaignSchema,
  createBody,
  idField,
  paginationSchema,
  payloadSchema,
  preflightSchema,
  presentCampaign,
  presentPayload,
  presentPreflight,
  presentRecipient,
  presentSample,
  recipientSchema,
  recipientsBody,
  sampleSchema,
  toNewRecipients,
  toPlanRequest,
  updateBody,
} from './campaign-fields.ts';
import { CAMPAIGN_SAMPLE_REJECTED, CAMPAIGN_START_REJECTED, RECIPIENTS_REJECTED } from './message-errors.ts';

const STATUSES_OF_CAMPAIGNS: ReadonlySet<number> = new Set([400, 404, 409]);

/** Specification 7: `success` and `error` for what is wrong with a request, the usual body for everything else. */
const campaignEnvelope: ErrorEnvelope = (error) =>
  STATUSES_OF_CAMPAIGNS.has(error.status)
    ? { success: false, error: error.text, ...error.details }
    : usualEnvelope(error);

const success = z.literal(true);
const campaignReply = z.object({ success, data: campaignSchema });

const page = wholeNumber('page', 1, CAMPAIGN_PAGE_MAX).default(1);
const campaignStatus = z.enum(CAMPAIGN_STATUSES, {
  error: `status must be one of ${CAMPAIGN_STATUSES.join(', ')}`,
});
const recipientStatus = (name: string) =>
  z.enum(RECIPIENT_STATUSES, { error: `${name} must be one of ${RECIPIENT_STATUSES.join(', ')}` });
const partOfNumber = (name: string) =>
  z.string().regex(/^[0-9]{1,15}$/, { error: `${name} must be 1 to 15 digits` });

const listQuery = z.object({
  status: campaignStatus.optional(),
  page,
  limit: wholeNumber('limit', 1, CAMPAIGN_LIMIT_MAX).default(CAMPAIGN_LIMIT_DEFAULT),
});
const detailQuery = z.object({
  page,
  limit: wholeNumber('limit', 1, RECIPIENT_LIMIT_MAX).default(RECIPIENT_LIMIT_DEFAULT),
  status: recipientStatus('status').optional(),
  recipientStatus: recipientStatus('recipientStatus').optional(),
  search: partOfNumber('search').optional(),
  phoneNumber: partOfNumber('phoneNumber').optional(),
});
const payloadQuery = z.object({
  templateId: idField('templateId').optional(),
  _id: idField('_id').optional(),
  campaignId: idField('campaignId').optional(),
});

const INVALID = { 400: { description: 'Not well formed, or not possible for this campaign' } };
const ATTACH_REJECTED = { 400: RECIPIENTS_REJECTED };
const START_REJECTED = { 400: CAMPAIGN_START_REJECTED };
const SAMPLE_REJECTED = { 400: CAMPAIGN_SAMPLE_REJECTED };
const NOT_FOUND = { 404: { description: 'The project has no such campaign, template or phone number' } };
const CONFLICT = { 409: { description: 'The Idempotency-Key was used with another request' } };
const PATH = '/whatsapp/campaigns';
const ONE = `${PATH}/:_id`;
const params = z.object({ _id: idField('_id') });

export interface CampaignUseCases {
  readonly authenticate: Pick<AuthenticateProject, 'execute'>;
  readonly manageCampaigns: Pick<ManageCampaigns, 'create' | 'update' | 'delete'>;
  readonly attachRecipients: Pick<AttachRecipients, 'execute'>;
  readonly startCampaigns: Pick<StartCampaigns, 'byHand' | 'sample'>;
  readonly preflightCampaigns: Pick<PreflightCampaigns, 'execute'>;
  readonly campaignGate: Pick<CampaignGate, 'run'>;
  readonly browseCampaigns: Pick<BrowseCampaigns, 'list' | 'detail' | 'template' | 'templateOfCampaign'>;
}

/** Specification 4.9 to 4.17, and docs/api.md 4.18: whatsapp campaigns. */
export function campaignRoutes({
  authenticate,
  manageCampaigns,
  attachRecipients,
  startCampaigns,
  preflightCampaigns,
  browseCampaigns,
  campaignGate,
}: CampaignUseCases): RouteFamily {
  const admission = projectKey(authenticate);
  const throughGate = <Result>({ id }: Project, work: () => Promise<Result>) => campaignGate.run(id, work);

  const list = route({
    method: 'get',
    path: PATH,
    operationId: 'listCampaigns',
    summary: 'List the campaigns of the project, the newest first',
    admission,
    throughGate,
    query: listQuery,
    ok: {
      description: 'One page of campaigns',
      schema: z.object({ success, data: z.array(campaignSchema), pagination: paginationSchema }),
    },
    async handle({ caller, query: { status = null, page: at, limit } }) {
      const { total, campaigns } = await browseCampaigns.list(caller, { status }, { page: at, limit });
      return ok({
        success: true as const,
        data: campaigns.map(presentCampaign),
        pagination: { total, pages: pageCount(total, limit), page: at, limit },
      });
    },
  });

  const create = route({
    method: 'post',
    path: PATH,
    operationId: 'createCampaign',
    summary: 'Create a campaign without recipients',
    admission,
    throughGate,
    body: createBody,
    ok: { description: 'The campaign', schema: campaignReply },
    rejections: { ...INVALID, ...NOT_FOUND },
    async handle({ caller, body }) {
      return replyWith(await manageCampaigns.create(caller, toPlanRequest(body)));
    },
  });

  const payloadShape = route({
    method: 'get',
    path: `${PATH}/recipient-payload`,
    operationId: 'recipientPayload',
    summary: 'Read what templateParameters a template needs, of its id or of a campaign',
    admission,
    throughGate,
    query: payloadQuery,
    ok: {
      description: 'The shape of templateParameters',
      schema: z.object({ success, data: payloadSchema }),
    },
    rejections: { ...INVALID, ...NOT_FOUND },
    async handle({ caller, query: { templateId, _id, campaignId = _id } }) {
      if (templateId === undefined && campaignId === undefined) {
        throw invalid('Give templateId, _id or campaignId');
      }
      const template =
        templateId === undefined
          ? await browseCampaigns.templateOfCampaign({
              project: caller,
              campaignId: (campaignId ?? '').toLowerCase(),
            })
          : await browseCampaigns.template(caller, templateId.toLowerCase());
      return ok({ success: true as const, data: presentPayload(template) });
    },
  });

  const detail = route({
    method: 'get',
    path: ONE,
    operationId: 'readCampaign',
    summary: 'Read a campaign with one page of its recipients',
    admission,
    throughGate,
    params,
    query: detailQuery,
    ok: {
      description: 'The campaign',
      schema: z.object({
        success,
        data: campaignSchema.extend({
          recipients: z.array(recipientSchema),
          linkedSampleCampaigns: z.array(sampleSchema),
          pagination: paginationSchema,
        }),
      }),
    },
    rejections: NOT_FOUND,
    async handle({ caller, params: given, query }) {
      const { page: at, limit } = query;
      const filter = {
        status: query.status ?? query.recipientStatus ?? null,
        search: query.search ?? query.phoneNumber ?? null,
      };
      const command = { project: caller, campaignId: campaignIdOf(given) };
      const found = await browseCampaigns.detail(command, filter, { page: at, limit });
      const hasStarted = found.campaign.startedAt !== null;
      return ok({
        success: true as const,
        data: {
          ...presentCampaign(found.campaign),
          recipients: found.recipients.map((each) => presentRecipient(each, hasStarted)),
          linkedSampleCampaigns: found.samples.map(presentSample),
          pagination: { total: found.total, pages: pageCount(found.total, limit), page: at, limit },
        },
      });
    },
  });

  const update = route({
    method: 'patch',
    path: ONE,
    operationId: 'updateCampaign',
    summary: 'Change a campaign that has not started',
    admission,
    throughGate,
    params,
    body: updateBody,
    ok: { description: 'The campaign', schema: campaignReply },
    rejections: { ...INVALID, ...NOT_FOUND },
    async handle({ caller, params: given, body }) {
      const command = { project: caller, campaignId: campaignIdOf(given) };
      return replyWith(await manageCampaigns.update(command, toPlanRequest(body)));
    },
  });

  const remove = route({
    method: 'delete',
    path: ONE,
    operationId: 'deleteCampaign',
    summary: 'Delete a campaign that has not started',
    admission,
    throughGate,
    params,
    ok: { description: 'It is gone', schema: z.object({ success, data: z.object({}) }) },
    rejections: { ...INVALID, ...NOT_FOUND },
    async handle({ caller, params: given }) {
      await manageCampaigns.delete({ project: caller, campaignId: campaignIdOf(given) });
      return ok({ success: true as const, data: {} });
    },
  });

  const start = route({
    method: 'post',
    path: `${ONE}/start`,
    operationId: 'startCampaign',
    summary: 'Reserve the cost of a draft campaign and send it',
    admission,
    throughGate,
    params,
    requestHeaders: [IDEMPOTENCY_KEY_HEADER],
    ok: {
      description: 'The campaign, which is running',
      schema: campaignReply,
      headers: ['Idempotency-Replayed'],
    },
    rejections: { ...START_REJECTED, ...NOT_FOUND, ...CONFLICT },
    async handle({ caller, params: given, request }) {
      const campaignId = campaignIdOf(given);
      const idempotency = idempotencyOf(`POST ${PATH}/${campaignId}/start`, request, null);
      const started = await startCampaigns.byHand({ project: caller, campaignId, idempotency });
      return replyWith(started.campaign, started.replayed);
    },
  });

  const preflight = route({
    method: 'post',
    path: `${ONE}/preflight`,
    operationId: 'preflightCampaign',
    summary: 'Tell what a start would do now, and everything that would reject it',
    admission,
    throughGate,
    params,
    ok: { description: 'What a start would do', schema: z.object({ success, data: preflightSchema }) },
    rejections: { ...INVALID, ...NOT_FOUND },
    async handle({ caller, params: given }) {
      const found = await preflightCampaigns.execute({ project: caller, campaignId: campaignIdOf(given) });
      return ok({ success: true as const, data: presentPreflight(found) });
    },
  });

  const sample = route({
    method: 'post',
    path: `${ONE}/sample`,
    operationId: 'sampleCampaign',
    summary: 'Send the template of a campaign to some recipients, as a campaign of its own',
    admission,
    throughGate,
    params,
    requestHeaders: [IDEMPOTENCY_KEY_HEADER],
    body: recipientsBody,
    bodyBytesMax: LARGE_BODY_BYTES_MAX,
    ok: {
      description: 'The sample campaign, which is running',
      schema: campaignReply,
      headers: ['Idempotency-Replayed'],
    },
    rejections: { ...SAMPLE_REJECTED, ...NOT_FOUND, ...CONFLICT },
    async handle({ caller, params: given, body, json, request }) {
      const campaignId = campaignIdOf(given);
      const idempotency = idempotencyOf(`POST ${PATH}/${campaignId}/sample`, request, json);
      const command = { project: caller, campaignId, idempotency };
      const started = await startCampaigns.sample(command, toNewRecipients(body));
      return replyWith(started.campaign, started.replayed);
    },
  });

  const attach = route({
    method: 'post',
    path: `${ONE}/recipients`,
    operationId: 'attachRecipients',
    summary: 'Append recipients to a campaign that has not started',
    admission,
    throughGate,
    params,
    requestHeaders: [IDEMPOTENCY_KEY_HEADER],
    body: recipientsBody,
    bodyBytesMax: LARGE_BODY_BYTES_MAX,
    ok: {
      description: 'The campaign, and how many of the recipients were added',
      schema: z.object({
        success,
        data: campaignSchema.extend({
          addedCount: z.int().min(0),
          skippedCount: z.int().min(0),
          duplicateCount: z.int().min(0),
        }),
      }),
      headers: ['Idempotency-Replayed'],
    },
    rejections: { ...ATTACH_REJECTED, ...NOT_FOUND, ...CONFLICT },
    async handle({ caller, params: given, body, json, request }) {
      const campaignId = campaignIdOf(given);
      const idempotency = idempotencyOf(`POST ${PATH}/${campaignId}/recipients`, request, json);
      const command = { project: caller, campaignId, idempotency };
      const { campaign, addedCount, skippedCount, duplicateCount, replayed } = await attachRecipients.execute(
        command,
        toNewRecipients(body),
      );
      return ok(
        {
          success: true as const,
          data: { ...presentCampaign(campaign), addedCount, skippedCount, duplicateCount },
        },
        replayed ? REPLAYED : undefined,
      );
    },
  });

  const routes = [list, create, payloadShape, detail, update, remove, preflight, start, sample, attach];
  return { envelope: campaignEnvelope, routes };
}

function replyWith(campaign: Parameters<typeof presentCampaign>[0], replayed = false) {
  return ok({ success: true as const, data: presentCampaign(campaign) }, replayed ? REPLAYED : undefined);
}

/** The id in the path. Throws a 400 when it has the wrong form. */
function campaignIdOf({ _id = '' }: PathParams): string {
  const given = idField('_id').safeParse(_id);
  if (!given.success) throw invalid('The campaign id must be 24 hex characters');
  return given.data.toLowerCase();
}
