import { z } from 'zod';
import { HEX_ID_PATTERN } from '../../../../domain/shared/hex-id.ts';
import { repeatedResourceId } from '../../../../domain/whatsapp/given-resources.ts';
import { RESOURCE_USERS } from '../../../../domain/whatsapp/resource-changes.ts';
import { countResources } from '../../../../domain/whatsapp/whatsapp-resources.ts';
import { STRICT_BODY_ERROR } from '../../input/body-error.ts';
import { pathInBody } from '../../input/issue-path.ts';
import { WHATSAPP_RESOURCES_MAX } from '../../limits.ts';
import { errorText } from '../../replies/error-bodies.ts';
import { business } from '../whatsapp/whatsapp-resource-schemas.ts';
import { text, whatsappTreeFields } from '../whatsapp/whatsapp-tree-fields.ts';

const id = z
  .string()
  .regex(HEX_ID_PATTERN, {
    error: ({ path }) => `${pathInBody(path ?? [])} must be 24 lower-case hex characters`,
  })
  .meta({
    description: 'Our id. Without it the resource keeps the id that it has, and a new one gets a new id',
    examples: ['664def456abc789012345601'],
  })
  .optional();

const createdAt = text
  .meta({
    description: 'When it became known, ISO 8601. Without it the instant stays; of a new resource it is now',
    examples: ['2024-01-01T00:00:00.000Z'],
  })
  .optional();

/** PUT …/whatsapp. */
export const whatsappTreeBody = z
  .strictObject(whatsappTreeFields({ id, createdAt }), STRICT_BODY_ERROR)
  .superRefine(({ businesses }, context) => {
    const { businessCount, accountCount, phoneNumberCount, templateCount } = countResources(businesses);
    if (businessCount + accountCount + phoneNumberCount + templateCount > WHATSAPP_RESOURCES_MAX) {
      const message = `A tree has at most ${WHATSAPP_RESOURCES_MAX} resources`;
      context.addIssue({ code: 'custom', message });
      return;
    }
    const repeated = repeatedResourceId(businesses);
    if (repeated !== null)
      context.addIssue({ code: 'custom', message: `Two resources have the id ${repeated}` });
  })
  .meta({ id: 'SetWhatsappResources', description: 'All whatsapp resources of a project' });

/** GET and PUT …/whatsapp. */
export const whatsappTreeSchema = z
  .object({
    businesses: z.array(business).meta({ description: 'Every business with all that belongs to it' }),
  })
  .meta({
    id: 'AdminWhatsappResources',
    description: 'The whatsapp resources of a project as they are stored',
  });

/** The 409 of PUT …/whatsapp. */
export const inUseBody = z
  .object({
    error: errorText,
    inUse: z
      .array(
        z.object({
          id: z
            .string()
            .meta({ description: 'Our id of the resource', examples: ['664def456abc789012345678'] }),
          usedBy: z
            .array(z.enum(RESOURCE_USERS))
            .meta({ description: 'What uses it', examples: [['campaign']] }),
        }),
      )
      .meta({ description: 'What the tree lacks and something uses' }),
  })
  .meta({ id: 'WhatsappResourcesInUse', description: 'A tree without resources that are in use' });
