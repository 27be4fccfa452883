import type { Knex } from 'knex';
import type { DdlVariants, Dialect } from '../driver/dialect.ts';
import * as projects from './001-projects.ts';
import * as prices from './002-prices.ts';
import * as messages from './003-messages.ts';
import * as jobs from './004-jobs.ts';
import * as webhooks from './005-webhooks.ts';
import * as installation from './006-installation.ts';
import * as webhookLanes from './007-webhook-lanes.ts';
import * as webhookLaneHealth from './008-webhook-lane-health.ts';
import * as fieldVocabulary from './009-field-vocabulary.ts';
import * as submissions from './010-submissions.ts';
import * as phoneNumberAsSent from './011-phone-number-as-sent.ts';
import * as keyChecksums from './012-key-checksums.ts';
import * as fairJobs from './013-fair-jobs.ts';
import * as pagesOfMessages from './014-pages-of-messages.ts';
import * as leasesOfWorkers from './015-leases-of-workers.ts';
import * as campaigns from './016-campaigns.ts';
import * as reports from './017-reports.ts';
import * as campaignCounts from './018-campaign-counts.ts';
import * as operators from './019-operators.ts';
import * as pricesOfOperators from './020-prices-of-operators.ts';
import * as webhookSecrets from './021-webhook-secrets.ts';
import * as webhookAttempts from './022-webhook-attempts.ts';
import * as retention from './023-retention.ts';
import * as keyUse from './024-key-use.ts';
import * as lowCredit from './025-low-credit.ts';
import * as deadLetterOrder from './026-dead-letter-order.ts';
import * as openInboundEvents from './027-open-inbound-events.ts';
import * as messagesByNumber from './028-messages-by-number.ts';
import * as parkedByProvider from './029-parked-by-provider.ts';
import * as failedStarts from './030-failed-starts.ts';
import * as versionsOfTrees from './031-versions-of-trees.ts';
import * as whatsappNumbers from './032-whatsapp-numbers.ts';
import * as oldestParked from './033-oldest-parked.ts';
import * as pricesOfSeeds from './034-prices-of-seeds.ts';

interface Migration {
  readonly name: string;
  up(knex: Knex, words: DdlVariants): Promise<void>;
}

/** In the order of their numbers; one that was released is never changed. */
const MIGRATIONS: readonly Migration[] = [
  { name: '001-projects', up: projects.up },
  { name: '002-prices', up: prices.up },
  { name: '003-messages', up: messages.up },
  { name: '004-jobs', up: jobs.up },
  { name: '005-webhooks', up: webhooks.up },
  { name: '006-installation', up: installation.up },
  { name: '007-webhook-lanes', up: webhookLanes.up },
  { name: '008-webhook-lane-health', up: webhookLaneHealth.up },
  { name: '009-field-vocabulary', up: fieldVocabulary.up },
  { name: '010-submissions', up: submissions.up },
  { name: '011-phone-number-as-sent', up: phoneNumberAsSent.up },
  { name: '012-key-checksums', up: keyChecksums.up },
  { name: '013-fair-jobs', up: fairJobs.up },
  { name: '014-pages-of-messages', up: pagesOfMessages.up },
  { name: '015-leases-of-workers', up: leasesOfWorkers.up },
  { name: '016-campaigns', up: campaigns.up },
  { name: '017-reports', up: reports.up },
  { name: '018-campaign-counts', up: campaignCounts.up },
  { name: '019-operators', up: operators.up },
  { name: '020-prices-of-operators', up: pricesOfOperators.up },
  { name: '021-webhook-secrets', up: webhookSecrets.up },
  { name: '022-webhook-attempts', up: webhookAttempts.up },
  { name: '023-retention', up: retention.up },
  { name: '024-key-use', up: keyUse.up },
  { name: '025-low-credit', up: lowCredit.up },
  { name: '026-dead-letter-order', up: deadLetterOrder.up },
  { name: '027-open-inbound-events', up: openInboundEvents.up },
  { name: '028-messages-by-number', up: messagesByNumber.up },
  { name: '029-parked-by-provider', up: parkedByProvider.up },
  { name: '030-failed-starts', up: failedStarts.up },
  { name: '031-versions-of-trees', up: versionsOfTrees.up },
  { name: '032-whatsapp-numbers', up: whatsappNumbers.up },
  { name: '033-oldest-parked', up: oldestParked.up },
  { name: '034-prices-of-seeds', up: pricesOfSeeds.up },
];

/** The names of all migrations, in their order. */
export function migrationNames(): readonly string[] {
  return MIGRATIONS.map(({ name }) => name);
}

/** The migrations as modules: nothing is looked up in folders, so sources and build behave alike. */
export function migrationsFor(dialect: Dialect): Knex.MigrationSource<Migration> {
  return {
    getMigrations: async () => [...MIGRATIONS],
    getMigrationName: ({ name }) => name,
    getMigration: async ({ up }) => ({
      up: (knex) => up(knex, dialect.ddlVariants),
      down: async () => {
        throw new Error('Migrations only go forward: restore a backup instead');
      },
    }),
  };
}
