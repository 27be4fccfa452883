import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/** A piece of JSON text and what takes its place. A quoted name cannot occur inside a JSON string. */
type Replacement = readonly [before: string, after: string];

const ATTEMPTS: readonly Replacement[] = [
  ['"state":"refused"', '"state":"rejected"'],
  ['"reference":', '"providerMessageIds":['],
  [',"startedAt":', '],"startedAt":'],
  ['"providerMessageIds":[null]', '"providerMessageIds":[]'],
];

const WORK: readonly Replacement[] = [
  ['"kind":"start-step"', '"kind":"start-attempt"'],
  ['"kind":"step-deadline"', '"kind":"attempt-deadline"'],
  ['"kind":"post-webhooks"', '"kind":"deliver-webhooks"'],
  ['"step":', '"attemptNumber":'],
];

const CIRCUIT_BREAKER: readonly Replacement[] = [
  ['"windows":', '"consecutiveOpens":'],
  ['"isProbing":', '"isHalfOpen":'],
];

const SETTINGS: readonly Replacement[] = [['"stepTimeoutMs":', '"attemptTimeoutMs":']];

/** Names tables, columns and stored words by the terms of `docs/glossary.md`. Nothing changes its meaning. */
export async function up(knex: Knex, { needsTableLocks }: DdlVariants): Promise<void> {
  // In the order in which the service locks them.
  if (needsTableLocks) {
    await knex.raw(
      'LOCK TABLE projects, messages, webhook_events, webhook_endpoints, jobs, dead_jobs, idempotent_answers IN ACCESS EXCLUSIVE MODE',
    );
  }
  await renameColumn(knex, 'messages', 'steps', 'attempts');
  await renameColumn(knex, 'messages', 'step_timeout_ms', 'attempt_timeout_ms');
  await replaceIn(knex, 'messages', 'attempts', ATTEMPTS);
  await replaceIn(knex, 'projects', 'settings', SETTINGS);

  await renameColumn(knex, 'jobs', 'fence', 'fencing_token');
  await replaceIn(knex, 'jobs', 'work', WORK);
  await renameTable(knex, 'dead_jobs', 'dead_letter_jobs');
  await renameColumn(knex, 'dead_letter_jobs', 'fence', 'fencing_token');
  await renameColumn(knex, 'dead_letter_jobs', 'buried_at', 'dead_lettered_at');
  await replaceIn(knex, 'dead_letter_jobs', 'work', WORK);

  await renameTable(knex, 'idempotent_answers', 'idempotency_records');

  await renameColumn(knex, 'webhook_events', 'subject', 'ordering_key');
  await renameTable(knex, 'webhook_endpoints', 'webhook_circuit_breakers');
  await renameColumn(knex, 'webhook_circuit_breakers', 'lane', 'destination');
  await renameColumn(knex, 'webhook_circuit_breakers', 'health', 'state');
  await replaceIn(knex, 'webhook_circuit_breakers', 'state', CIRCUIT_BREAKER);
}

async function renameTable(knex: Knex, before: string, after: string): Promise<void> {
  await knex.raw('ALTER TABLE ?? RENAME TO ??', [before, after]);
}

async function renameColumn(knex: Knex, table: string, before: string, after: string): Promise<void> {
  await knex.raw('ALTER TABLE ?? RENAME COLUMN ?? TO ??', [table, before, after]);
}

/** Changes every row of the table in one statement. */
async function replaceIn(
  knex: Knex,
  table: string,
  column: string,
  replacements: readonly Replacement[],
): Promise<void> {
  const nested = replacements.reduce((text) => `REPLACE(${text}, ?, ?)`, '??');
  await knex.raw(`UPDATE ?? SET ?? = ${nested}`, [table, column, column, ...replacements.flat()]);
}
