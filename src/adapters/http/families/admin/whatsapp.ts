import type { z } from 'zod';
import type { ManageWhatsapp } from '../../../../application/operators/manage-whatsapp.ts';
import { JSON_MEMBERS_READ_MAX } from '../../../../domain/shared/json-text.ts';
import type { WhatsappBusiness } from '../../../../domain/whatsapp/whatsapp-resources.ts';
import { WHATSAPP_TREE_BYTES_MAX } from '../../limits.ts';
import { usualEnvelope } from '../../replies/http-error.ts';
import { ok } from '../../replies/http-reply.ts';
import { rejectionError } from '../../replies/rejection-errors.ts';
import type { Admission } from '../../routing/admission.ts';
import { route } from '../../routing/route.ts';
import type { RouteFamily } from '../../routing/route-declaration.ts';
import { presentBusiness } from '../whatsapp/whatsapp-resources.ts';
import { invalidBody, NO_PROJECT } from './documented-errors.ts';
import { actorOf } from './request-actor.ts';
import { projectParams } from './shared-schemas.ts';
import { inUseBody, whatsappTreeBody, whatsappTreeSchema } from './whatsapp-schemas.ts';

const IN_USE = rejectionError({
  kind: 'whatsapp-resource-in-use',
  inUse: [{ id: '664def456abc789012345678', usedBy: ['campaign'] }],
});

/** The whatsapp resources of a project, for operators. */
export function adminWhatsappRoutes(
  { manageWhatsapp }: { readonly manageWhatsapp: ManageWhatsapp },
  admission: Admission<null>,
): RouteFamily {
  const show = route({
    method: 'get',
    path: '/admin/projects/:project/whatsapp',
    operationId: 'showWhatsappResources',
    summary: 'Show the whatsapp resources of a project',
    description: 'The tree as it is stored, with the components of templates. It can be sent back as it is.',
    admission,
    params: projectParams,
    ok: { description: 'The tree', schema: whatsappTreeSchema },
    rejections: { 404: NO_PROJECT },
    async handle({ params }) {
      return ok(presentTree(await manageWhatsapp.read(params.project)));
    },
  });

  const replace = route({
    method: 'put',
    path: '/admin/projects/:project/whatsapp',
    operationId: 'setWhatsappResources',
    summary: 'Replace the whatsapp resources of a project',
    description:
      'What the tree lacks is removed, unless a campaign that has not ended, an inbound webhook or an open message uses it. An equal tree changes nothing.',
    admission,
    params: projectParams,
    body: whatsappTreeBody,
    bodyBytesMax: WHATSAPP_TREE_BYTES_MAX,
    bodyMembersMax: JSON_MEMBERS_READ_MAX,
    ok: { description: 'The tree with all its ids', schema: whatsappTreeSchema },
    rejections: {
      400: invalidBody('businesses[0].name is required'),
      404: NO_PROJECT,
      409: { description: 'The tree lacks resources that are in use', error: IN_USE, schema: inUseBody },
    },
    async handle({ params, body: { businesses }, request }) {
      return ok(presentTree(await manageWhatsapp.replace(actorOf(request), params.project, businesses)));
    },
  });

  const tag = {
    name: 'Whatsapp resources',
    description: 'The businesses, accounts, phone numbers and templates of a project.',
  };
  return { tag, envelope: usualEnvelope, routes: [show, replace] };
}

function presentTree(businesses: readonly WhatsappBusiness[]): z.input<typeof whatsappTreeSchema> {
  return { businesses: businesses.map((each) => presentBusiness(each, true)) };
}
