import { performance } from 'node:perf_hooks';
import type { AuthenticateProject } from '../../../../application/access/authenticate-project.ts';
import type { AttachRecipients } from '../../../../application/campaigns/attach-recipients.ts';
import type { BrowseCampaigns } from '../../../../application/campaigns/browse-campaigns.ts';
import type { CampaignGate } from '../../../../application/campaigns/campaign-gate.ts';
import type { ManageCampaigns } from '../../../../application/campaigns/manage-campaigns.ts';
import type { PreflightCampaigns } from '../../../../application/campaigns/preflight-campaigns.ts';
import type { StartCampaigns } from '../../../../application/campaigns/start-campaigns.ts';
import { FairGate } from '../../../../application/concurrency/fair-gate.ts';
import { RECIPIENTS_PER_CAMPAIGN_MAX } from '../../../../domain/campaigns/attach-recipients.ts';
import { UNSTARTED_RECIPIENTS_MAX } from '../../../../domain/campaigns/campaign.ts';
import { pageCount } from '../../../../domain/shared/page.ts';
import {
  RECIPIENT_BODIES_MAX,
  RECIPIENT_BODIES_PER_PROJECT_MAX,
  RECIPIENT_BODY_BYTES_MAX,
  RECIPIENT_BODY_MEMBERS_MAX,
} from '../../limits.ts';
import { type ErrorEnvelope, invalid, usualEnvelope } from '../../replies/http-error.ts';
import { ok } from '../../replies/http-reply.ts';
import { rejectionError } from '../../replies/rejection-errors.ts';
import { projectKey } from '../../routing/admission.ts';
import type { Tag } from '../../routing/documented.ts';
import { byProject } from '../../routing/gate.ts';
import { IDEMPOTENCY_KEY_HEADER, idempotencyOf, REPLAYED } from '../../routing/idempotency.ts';
import { route } from '../../routing/route.ts';
import type { ParamsOf, RouteFamily } from '../../routing/route-declaration.ts';
import {
  CAMPAIGN_SAMPLE_REJECTED,
  CAMPAIGN_START_REJECTED,
  campaignErrorBody,
  RECIPIENTS_REJECTED,
} from './campaign-errors.ts';
import {
  presentCampaign,
  presentPayload,
  presentPreflight,
  presentRecipient,
  presentSample,
} from './campaign-presenters.ts';
import {
  campaignParams,
  createBody,
  detailQuery,
  idField,
  listQuery,
  payloadQuery,
  recipientsBody,
  toNewRecipients,
  toPlanRequest,
  updateBody,
} from './campaign-requests.ts';
import {
  attachReply,
  campaignDetail,
  campaignPage,
  campaignReply,
  deletedReply,
} from './campaign-schemas.ts';
import { payloadReply, preflightReply } from './preflight-schemas.ts';

const STATUSES_OF_CAMPAIGNS: ReadonlySet<number> = new Set([400, 404, 409]);

/** Specification 7: `success` and `error` for what is wrong with a request, the usual body for everything else. */
const campaignEnvelope: ErrorEnvelope = (error) =>
  STATUSES_OF_CAMPAIGNS.has(error.status)
    ? { success: false, error: error.text, ...error.details }
    : usualEnvelope(error);

const RECIPIENTS_MAX = RECIPIENTS_PER_CAMPAIGN_MAX.toLocaleString('en');

const TAG: Tag = {
  name: 'Campaigns',
  description: `One whatsapp template for up to ${RECIPIENTS_MAX} phone numbers, started by hand or at a time.`,
};

const INVALID = {
  400: {
    description: 'Not well formed, or not possible for this campaign',
    error: rejectionError({ kind: 'campaign-not-editable' }),
  },
};
const ATTACH_REJECTED = { 400: RECIPIENTS_REJECTED };
const START_REJECTED = { 400: CAMPAIGN_START_REJECTED };
const SAMPLE_REJECTED = { 400: CAMPAIGN_SAMPLE_REJECTED };
const NOT_FOUND = {
  404: {
    description: 'The project has no such campaign, template or phone number',
    error: rejectionError({ kind: 'campaign-not-found' }),
  },
};
const CONFLICT = {
  409: {
    description: 'The Idempotency-Key was used with another request',
    error: rejectionError({ kind: 'idempotency-conflict' }),
  },
};
const PATH = '/whatsapp/campaigns';
const ONE = `${PATH}/:_id`;
const params = campaignParams;

export interface CampaignUseCases {
  readonly authenticateProject: Pick<AuthenticateProject, 'execute'>;
  readonly manageCampaigns: Pick<ManageCampaigns, 'create' | 'update' | 'delete'>;
  readonly attachRecipients: Pick<AttachRecipients, 'execute'>;
  readonly startCampaigns: Pick<StartCampaigns, 'byHand' | 'sample'>;
  readonly preflightCampaigns: Pick<PreflightCampaigns, 'execute'>;
  readonly campaignGate: Pick<CampaignGate, 'run'>;
  readonly browseCampaigns: Pick<BrowseCampaigns, 'list' | 'detail' | 'template' | 'templateOfCampaign'>;
}

/** Specification 4.9 to 4.17, and docs/api.md 4.18: whatsapp campaigns. */
export function campaignRoutes({
  authenticateProject,
  manageCampaigns,
  attachRecipients,
  startCampaigns,
  preflightCampaigns,
  browseCampaigns,
  campaignGate,
}: CampaignUseCases): RouteFamily {
  const admission = projectKey(authenticateProject);
  const throughWorkGate = byProject(campaignGate);
  /** Bodies with recipients are held in memory while they are read and while they wait. */
  const bodyGate = new FairGate(
    { perKey: RECIPIENT_BODIES_PER_PROJECT_MAX, all: RECIPIENT_BODIES_MAX },
    { clock: performance },
  );
  /** While others wait for a place, a slow sender gives up its own. */
  const gatedBody = {
    body: recipientsBody,
    bodyBytesMax: RECIPIENT_BODY_BYTES_MAX,
    bodyMembersMax: RECIPIENT_BODY_MEMBERS_MAX,
    throughGate: byProject(bodyGate),
    bodyMayBeSlow: () => !bodyGate.isCrowded,
  };

  const list = route({
    method: 'get',
    path: PATH,
    operationId: 'listCampaigns',
    summary: 'List the campaigns of the project, the newest first',
    description: 'Sample campaigns are among them. Pages may shift while campaigns are created.',
    admission,
    query: listQuery,
    ok: {
      description: 'One page of campaigns',
      schema: campaignPage,
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
    description:
      'Recipients are attached afterwards. With `scheduleType` `schedule` the campaign starts by itself at `scheduledFor`. The template may still wait for its approval; it has to be approved at the start.',
    admission,
    throughWorkGate,
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
    description: 'One of the three parameters has to be given; `templateId` comes before the others.',
    admission,
    query: payloadQuery,
    ok: { description: 'The shape of templateParameters', schema: payloadReply },
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
    description:
      'Counts and amounts change while the campaign runs. The recipients can be filtered by status and by digits of their phone number.',
    admission,
    throughWorkGate,
    params,
    query: detailQuery,
    ok: {
      description: 'The campaign',
      schema: campaignDetail,
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
    description: 'Changes a `draft` or `scheduled` campaign. What the body leaves out stays as it is.',
    admission,
    throughWorkGate,
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
    description: 'Removes a `draft` or `scheduled` campaign with its recipients. Its sample campaigns stay.',
    admission,
    throughWorkGate,
    params,
    ok: { description: 'It is gone', schema: deletedReply },
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
    description:
      'Holds the cost of all recipients and makes a message for each. There is no body. A `scheduled` campaign is started by hand after a PATCH has set its `scheduleType` to `now`. A rejected start changes nothing and holds nothing.',
    admission,
    throughWorkGate,
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
    description:
      'A start names the first thing that is wrong, preflight names them all. It changes nothing. There is no body.',
    admission,
    throughWorkGate,
    params,
    ok: { description: 'What a start would do', schema: preflightReply },
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
    description:
      'The recipients of the request become a campaign of their own, which starts at once. The campaign of the path stays as it is.',
    admission,
    throughWorkGate,
    params,
    requestHeaders: [IDEMPOTENCY_KEY_HEADER],
    ...gatedBody,
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
    description: `Appends all of them, or none when one is not acceptable. A phone number that is on the campaign already is skipped; spellings of one handset are one number. A campaign has at most ${RECIPIENTS_MAX} recipients, and all campaigns of a project that have not started about ${UNSTARTED_RECIPIENTS_MAX.toLocaleString('en')}.`,
    admission,
    throughWorkGate,
    params,
    requestHeaders: [IDEMPOTENCY_KEY_HEADER],
    ...gatedBody,
    ok: {
      description: 'The campaign, and how many of the recipients were added',
      schema: attachReply,
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
  return { tag: TAG, envelope: campaignEnvelope, errorBodies: [campaignErrorBody], routes };
}

function replyWith(campaign: Parameters<typeof presentCampaign>[0], replayed = false) {
  return ok({ success: true as const, data: presentCampaign(campaign) }, replayed ? REPLAYED : undefined);
}

/** The id in the path. Throws a 400 when it has the wrong form. */
function campaignIdOf({ _id }: ParamsOf<typeof params>): string {
  const given = idField('_id').safeParse(_id);
  if (!given.success) throw invalid('The campaign id must be 24 hex characters');
  return given.data.toLowerCase();
}
