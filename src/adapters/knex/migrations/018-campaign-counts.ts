import type { Knex } from 'knex';

/** Finds the campaigns of a project that have not started, and counts the conversations of a portfolio in its row. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE INDEX campaigns_editable ON campaigns (project_id, status)
    WHERE status IN ('draft', 'scheduled')`);
  await knex.raw('ALTER TABLE portfolios ADD COLUMN conversations bigint NOT NULL DEFAULT 0');
  await knex.raw(`
    INSERT INTO portfolios (id, conversations)
    SELECT portfolio_id, COUNT(*) FROM conversations WHERE true GROUP BY portfolio_id
    ON CONFLICT (id) DO UPDATE SET conversations = excluded.conversations`);
}
