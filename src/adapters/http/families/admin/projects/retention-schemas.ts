import { z } from 'zod';
import {
  RETENTION_ACTIONS,
  RETENTION_DAYS_MAX,
  RETENTION_DAYS_MIN,
} from '../../../../../domain/access/retention.ts';
import { OFF } from '../shared-schemas.ts';

const error = `retention must be "${OFF}", or days from ${RETENTION_DAYS_MIN} to ${RETENTION_DAYS_MAX} and an action of ${RETENTION_ACTIONS.join(', ')}`;

const kept = z.object(
  {
    days: z
      .int({ error })
      .min(RETENTION_DAYS_MIN, { error })
      .max(RETENTION_DAYS_MAX, { error })
      .meta({ description: 'How long messages are kept, in days', examples: [90] }),
    action: z.enum(RETENTION_ACTIONS, { error }).meta({
      description: '`anonymise` keeps status, times and money of a message; `remove` keeps nothing of it',
      examples: ['anonymise'],
    }),
  },
  { error },
);

/** The setting `retention` of a project; `off` keeps messages for ever. */
export const retentionField = z.union([z.literal(OFF), kept], { error }).meta({
  description: 'What happens to old messages; `off` keeps them',
  examples: [{ days: 90, action: 'anonymise' }],
});
