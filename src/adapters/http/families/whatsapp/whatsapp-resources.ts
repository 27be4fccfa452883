import type { z } from 'zod';
import type { AuthenticateProject } from '../../../../application/access/authenticate-project.ts';
import type { ReadCatalog } from '../../../../application/catalog/read-catalog.ts';
import type { Project } from '../../../../domain/access/project.ts';
import {
  countResources,
  type WhatsappAccount,
  type WhatsappBusiness,
  type WhatsappPhoneNumber,
  type WhatsappTemplate,
} from '../../../../domain/whatsapp/whatsapp-resources.ts';
import { type ErrorEnvelope, type HttpError, usualEnvelope } from '../../replies/http-error.ts';
import { type JsonReply, ok } from '../../replies/http-reply.ts';
import { projectKey } from '../../routing/admission.ts';
import type { Tag } from '../../routing/documented.ts';
import { route } from '../../routing/route.ts';
import type { RouteFamily } from '../../routing/route-declaration.ts';
import { INBOUND_WEBHOOK } from '../webhooks/inbound-webhook.ts';
import {
  type account,
  type business,
  type phoneNumber,
  resourcesFailedBody,
  resourcesQuery,
  resourceTree,
  type template,
} from './whatsapp-resource-schemas.ts';

const TAG: Tag = {
  name: 'Whatsapp resources',
  description: 'The businesses, accounts, phone numbers and templates that are linked to the project.',
};

const RESOURCES_FAILED: HttpError = {
  status: 500,
  code: 'resources-failed',
  text: 'Failed to fetch whatsapp resources',
};

/** Specification 7: the failure to fetch the resources says `success`, every other error has the usual body. */
const resourcesEnvelope: ErrorEnvelope = (error) =>
  error.code === RESOURCES_FAILED.code ? { success: false, message: error.text } : usualEnvelope(error);

export interface WhatsappResourceUseCases {
  readonly authenticateProject: Pick<AuthenticateProject, 'execute'>;
  readonly readCatalog: Pick<ReadCatalog, 'whatsappResources'>;
}

/** Specification 4.8: everything of whatsapp that is linked to the project. */
export function whatsappResourceRoutes({
  authenticateProject,
  readCatalog,
}: WhatsappResourceUseCases): RouteFamily {
  const shown = { whole: new ShownTrees(true), withoutComponents: new ShownTrees(false) };
  const resources = route({
    method: 'get',
    path: '/whatsapp/resources',
    operationId: 'listWhatsappResources',
    summary: 'List whatsapp businesses, accounts, phone numbers and templates of the project',
    description:
      'The ids of this tree are the `whatsappAccountId`, `whatsappPhoneId` and `templateName` of a send, and the `templateId` and `phoneNumberId` of a campaign. The rule for addresses of the project may guard this endpoint alone.',
    admission: projectKey(authenticateProject, 'resources'),
    query: resourcesQuery,
    ok: { description: 'The resource tree', schema: resourceTree },
    fault: RESOURCES_FAILED,
    async handle({ caller: project, query: { includeTemplateComponents } }) {
      const businesses = await readCatalog.whatsappResources(project);
      return shown[includeTemplateComponents ? 'whole' : 'withoutComponents'].of(businesses, project);
    },
  });
  return {
    tag: TAG,
    envelope: resourcesEnvelope,
    errorBodies: [resourcesFailedBody],
    routes: [resources],
    webhooks: [INBOUND_WEBHOOK],
  };
}

/**
 * The replies that show trees, each with the bytes that are sent: a tree of thousands of templates takes a tenth of a second to
 * write. A reply goes when nobody keeps its tree any longer.
 */
class ShownTrees {
  readonly #withComponents: boolean;
  readonly #replies = new WeakMap<readonly WhatsappBusiness[], JsonReply<z.input<typeof resourceTree>>>();

  constructor(withComponents: boolean) {
    this.#withComponents = withComponents;
  }

  of(businesses: readonly WhatsappBusiness[], { id, slug, name }: Project) {
    const kept = this.#replies.get(businesses);
    const shown = kept?.body.data.project;
    // A project may be renamed while its tree stays the same.
    if (kept !== undefined && shown?.slug === slug && shown.name === name) return kept;
    const body = {
      success: true as const,
      data: {
        project: { id, slug, name },
        summary: countResources(businesses),
        businesses: businesses.map((found) => presentBusiness(found, this.#withComponents)),
      },
    };
    const reply = { ...ok(body), bytes: Buffer.from(JSON.stringify(body)) };
    this.#replies.set(businesses, reply);
    return reply;
  }
}

/** A business as the interface shows it. */
export function presentBusiness(found: WhatsappBusiness, withComponents: boolean): z.input<typeof business> {
  const { id, businessId, name, createdAt } = found;
  const whatsappAccounts = found.whatsappAccounts.map((each) => presentAccount(each, withComponents));
  return { id, businessId, name, createdAt, whatsappAccounts };
}

function presentAccount(found: WhatsappAccount, withComponents: boolean): z.input<typeof account> {
  return {
    id: found.id,
    whatsappBusinessId: found.whatsappBusinessId,
    name: found.name,
    accountReviewStatus: found.accountReviewStatus,
    businessVerificationStatus: found.businessVerificationStatus,
    banState: found.banState,
    banDate: found.banDate,
    violationType: found.violationType,
    createdAt: found.createdAt,
    phoneNumbers: found.phoneNumbers.map(presentPhoneNumber),
    templates: found.templates.map((each) => presentTemplate(each, withComponents)),
  };
}

function presentPhoneNumber(found: WhatsappPhoneNumber): z.input<typeof phoneNumber> {
  return {
    id: found.id,
    phoneNumberId: found.phoneNumberId,
    displayPhoneNumber: found.displayPhoneNumber,
    phoneNumber: found.phoneNumber,
    verifiedName: found.verifiedName,
    qualityRating: found.qualityRating,
    messagingLimit: found.messagingLimit,
    status: found.status,
    codeVerificationStatus: found.codeVerificationStatus,
    nameStatus: found.nameStatus,
    isOfficialBusinessAccount: found.isOfficialBusinessAccount,
    createdAt: found.createdAt,
  };
}

function presentTemplate(found: WhatsappTemplate, withComponents: boolean): z.input<typeof template> {
  const metadata = {
    id: found.id,
    name: found.name,
    category: found.category,
    parameter_format: found.parameter_format,
    language: found.language,
    status: found.status,
    reason: found.reason,
    messageSendTtlSeconds: found.messageSendTtlSeconds,
    isWhatsappFlow: found.isWhatsappFlow,
    createdAt: found.createdAt,
  };
  return withComponents ? { ...metadata, components: [...found.components] } : metadata;
}
