import { z } from 'zod';
import { AUDIT_ACTIONS } from '../../../../domain/audit/audit-record.ts';
import { ACTORS } from '../../../../domain/shared/actor.ts';
import { ID_EXAMPLE, INSTANT_EXAMPLE, id, instant, next, pageQuery } from './shared-schemas.ts';

const audited = z
  .record(z.string(), z.unknown())
  .nullable()
  .meta({ description: 'The fields that changed; null when there was nothing', examples: [{ balance: 0 }] });

/** GET /admin/audit. */
export const auditPage = z
  .object({
    records: z
      .array(
        z
          .object({
            id,
            at: instant.meta({ description: 'ISO 8601', examples: [INSTANT_EXAMPLE] }),
            actor: z.enum(ACTORS).meta({
              description:
                '`cli` for the command line, `cli-database` for a command on the database itself, `operator` for other holders of the token',
              examples: ['cli'],
            }),
            action: z.enum(AUDIT_ACTIONS).meta({ description: 'What was done', examples: ['credit-added'] }),
            project: z
              .string()
              .nullable()
              .meta({ description: 'The id of the project', examples: [ID_EXAMPLE] }),
            before: audited,
            after: audited,
          })
          .meta({ id: 'AuditRecord', description: 'One change' }),
      )
      .meta({ description: 'The newest first' }),
    next,
  })
  .meta({ id: 'AuditPage', description: 'One page of the audit log' });

/** GET /admin/audit. */
export const auditQuery = pageQuery.extend({
  project: z
    .string()
    .meta({ description: 'Only changes of this project: an id or a slug', examples: ['souq'] })
    .optional(),
});
