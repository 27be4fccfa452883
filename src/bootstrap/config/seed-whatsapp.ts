import { z } from 'zod';
import { text, whatsappTreeFields } from '../../adapters/http/families/whatsapp/whatsapp-tree-fields.ts';
import { HEX_ID_PATTERN } from '../../domain/shared/hex-id.ts';
import { repeatedResourceId } from '../../domain/whatsapp/given-resources.ts';

/** Our own ids. */
export const id24 = z.string().regex(HEX_ID_PATTERN, 'must be 24 lower-case hex characters');

/** The whatsapp resources of a project (specification 2.7); what a platform says of them has a default. */
export const whatsappTree = z
  .strictObject(whatsappTreeFields({ id: id24, createdAt: text.default('2024-01-01T00:00:00.000Z') }))
  .superRefine(({ businesses }, context) => {
    const id = repeatedResourceId(businesses);
    if (id !== null) context.addIssue({ code: 'custom', message: `two resources have the id ${id}` });
  });
