import type { Command } from 'commander';
import { LATEST_INSTANT_MS } from '../../adapters/http/limits.ts';
import type { ManageWebhooks } from '../../application/operators/webhooks/manage-webhooks.ts';
import type { LoggedEvent } from '../../application/ports/stores/webhook-log-store.ts';
import { isoOf, isoOrNull } from '../../domain/shared/instant.ts';
import { WEBHOOK_LOG_LIFETIME_MS } from '../../domain/webhooks/retry-schedule.ts';
import { EXIT_NOT_DONE } from '../exit-codes.ts';
import type { Roots } from '../roots.ts';
import type { CommandContext } from './console/command-context.ts';
import { counted } from './console/counted.ts';
import { toHexId } from './console/hex-id.ts';
import { escaped } from './console/text-table.ts';

/** The events that the log shows at most. */
const SHOWN_EVENTS_MAX = 500;

const COLUMNS = ['createdAt', 'id', 'state', 'attempts', 'nextAttemptAt', 'lastError', 'endpoint'];

/**
 * The operator's side of specification 6.2, on the database: the log of inbound events, and their resend, after which the
 * service delivers the event.
 */
export function addWebhooksCommand(program: Command, context: CommandContext): void {
  const webhooks = program.command('webhooks').description('inbound webhooks of a whatsapp number');
  webhooks
    .command('log')
    .description('what became of the inbound events of a number in the last 15 days, the newest 500 first')
    .argument(
      '<numberId>',
      '24 hex digits: "id" of the number in the seed file, not "phoneNumberId"',
      toHexId,
    )
    .action(context.action((id: string) => context.onDatabase((roots) => showLog(roots, id, context))));
  webhooks
    .command('resend')
    .description('make a webhook event that was discarded, or waits for its retry, due at once')
    .argument('<eventId>', '24 hex digits, as the log shows it', toHexId)
    .action(
      context.action((id: string) =>
        context.onDatabase(({ manageWebhooks }) => resend(manageWebhooks, id, context)),
      ),
    );
}

/** The inbound events of a whatsapp number, by our 24-hex id, that the log has: the newest 500 first. */
export async function inboundEventsOf(
  { readWebhookLog, clock }: Pick<Roots, 'readWebhookLog' | 'clock'>,
  whatsappPhoneId: string,
): Promise<readonly LoggedEvent[]> {
  const from = clock.now() - WEBHOOK_LOG_LIFETIME_MS + 1;
  const filter = { project: null, endpoint: null, state: null, whatsappPhoneId, from, to: LATEST_INSTANT_MS };
  return (await readWebhookLog.events(filter, null, SHOWN_EVENTS_MAX)).rows;
}

async function showLog(roots: Roots, whatsappPhoneId: string, context: CommandContext): Promise<number> {
  const events = await inboundEventsOf(roots, whatsappPhoneId);
  if (events.length > 0 || context.isJson) {
    context.printRows(events.map(rowOf), { columns: COLUMNS, lineOf });
  }
  if (events.length > 0) return 0;
  context.output.error(`log: there are no events of ${whatsappPhoneId}`);
  return EXIT_NOT_DONE;
}

async function resend(
  manageWebhooks: ManageWebhooks,
  eventId: string,
  context: CommandContext,
): Promise<number> {
  const row = rowOf(await manageWebhooks.resendEvent('cli-database', eventId));
  context.print(row, () => [escaped(lineOf(row))]);
  return 0;
}

/** Neither what was written nor any secret: a log is copied into tickets. */
function rowOf({ id, createdAt, state, attempts, nextAttemptAt, lastError, endpoint }: LoggedEvent) {
  return {
    createdAt: isoOf(createdAt),
    id,
    state,
    attempts,
    nextAttemptAt: isoOrNull(nextAttemptAt),
    lastError,
    endpoint,
  };
}

function lineOf({
  createdAt,
  id,
  state,
  attempts,
  nextAttemptAt,
  lastError,
  endpoint,
}: ReturnType<typeof rowOf>): string {
  return [
    createdAt,
    id,
    state,
    counted(attempts, 'attempt'),
    ...(nextAttemptAt === null ? [] : [`next ${nextAttemptAt}`]),
    ...(lastError === null ? [] : [`last error ${lastError}`]),
    `to ${endpoint}`,
  ].join('  ');
}
