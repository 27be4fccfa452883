import { z } from 'zod';
import { KEY_STATUSES } from '../../../../../domain/access/project-key.ts';
import { BODY_ERROR } from '../../../input/body-error.ts';
import { KEY_OVERLAP_MINUTES_DEFAULT, KEY_OVERLAP_MINUTES_MAX } from '../../../limits.ts';
import { INSTANT_EXAMPLE, instant, next, project, whole } from '../shared-schemas.ts';

const KEY_ID_EXAMPLE = '5f1d7a9f4f8b3c2e6a0d9b7c';
const KEY_EXAMPLE = 'sk_dev_0123456789abcdef0123456789abcdef01234567';

export const keyParams = z.object({
  project,
  key: z.string().meta({ description: 'The `id` of a key', examples: [KEY_ID_EXAMPLE] }),
});
const keyFields = {
  id: z
    .string()
    .meta({ description: 'Names the key; nothing can be learned from it', examples: [KEY_ID_EXAMPLE] }),
  prefix: z.string().meta({ description: 'What the key begins with', examples: ['sk_dev_'] }),
  lastFour: z
    .string()
    .nullable()
    .meta({ description: 'What the key ends with; null for a key of an older version', examples: ['4567'] }),
  status: z.enum(KEY_STATUSES).meta({ description: '`active` and `ending` keys work', examples: ['active'] }),
  createdAt: instant.meta({ description: 'ISO 8601', examples: [INSTANT_EXAMPLE] }),
  endsAt: instant
    .nullable()
    .meta({ description: 'From when on the key is rejected; null without an end', examples: [null] }),
  revokedAt: instant.nullable().meta({ description: 'When it was revoked', examples: [null] }),
  lastUsedAt: instant.nullable().meta({
    description: 'When a request was accepted with it last, exact to a minute; null when it was never used',
    examples: [INSTANT_EXAMPLE],
  }),
};

/** A key in a list. */
export const keySchema = z
  .object(keyFields)
  .meta({ id: 'AdminKey', description: 'An API key, which is stored as a digest only' });

/** A key that was just made. */
export const newKeySchema = z
  .object({
    ...keyFields,
    apiKey: z.string().meta({ description: 'The key. It is shown once', examples: [KEY_EXAMPLE] }),
  })
  .meta({ id: 'AdminNewKey', description: 'A new API key with its text' });

/** GET …/keys. */
export const keyPage = z
  .object({ keys: z.array(keySchema).meta({ description: 'The newest first' }), next })
  .meta({ id: 'AdminKeyPage', description: 'One page of the keys of a project' });

/** POST …/rotate. */
export const rotateBody = z
  .object(
    {
      overlapMinutes: whole('overlapMinutes', 0, KEY_OVERLAP_MINUTES_MAX)
        .meta({
          description: `How long the old key works on; ${KEY_OVERLAP_MINUTES_DEFAULT} when it is left out`,
          examples: [60],
        })
        .optional(),
    },
    { error: BODY_ERROR },
  )
  .meta({ id: 'RotateKey', description: 'When the old key ends' });

/** The reply of POST …/rotate. */
export const rotatedSchema = z
  .object({ key: newKeySchema, replaced: keySchema })
  .meta({ id: 'AdminRotatedKey', description: 'The new key, and the one that it replaces' });
