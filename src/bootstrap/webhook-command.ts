import type { Clock } from '../application/ports/clock.ts';
import type { InboundLog } from '../application/webhooks/inbound-log.ts';
import type { WebhookEvent } from '../domain/webhooks/webhook-event.ts';
import { counted } from './counted.ts';
import { EXIT_USAGE } from './exit-codes.ts';
import { type CommandOutput, commandLine, runOperatorCommand } from './operator-command.ts';

export const EXIT_NOT_FOUND = 1;

const ID_PATTERN = /^[0-9a-f]{24}$/;

/**
 * The operator's side of specification 6.2: the log of inbound events, and the retry by hand, after which the
 * service delivers the event. Resolves with the exit code: 0, `EXIT_NOT_FOUND` when there is nothing to show or to
 * retry, `EXIT_USAGE`, or one of `runOperatorCommand`.
 */
export async function runWebhookCommand(
  given: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  output: CommandOutput,
  clock?: Clock,
): Promise<number> {
  const [command, id, ...rest] = given;
  const isKnown = command === 'log' || command === 'retry';
  if (!isKnown || id === undefined || !ID_PATTERN.test(id) || rest.length > 0) {
    output.error(usage(environment));
    return EXIT_USAGE;
  }
  const run = command === 'log' ? showLog : retry;
  return runOperatorCommand(environment, output, ({ inboundLog }) => run(inboundLog, id, output), clock);
}

function usage(environment: Readonly<Record<string, string | undefined>>): string {
  const line = (args: string) => commandLine(environment, 'webhooks', args);
  return `usage: ${line('log <id of the number>')}   what became of its inbound events in the last 15 days
       ${line('retry <id of the event>')}  makes one that was not delivered due at once
Both ids are 24 hex digits; that of a number is its "id" under "whatsapp" in the seed file, not the "phoneNumberId" beside it.`;
}

async function showLog(log: InboundLog, phoneNumberId: string, output: CommandOutput): Promise<number> {
  const events = await log.read(phoneNumberId);
  for (const event of events) output.print(lineOf(event));
  if (events.length > 0) return 0;
  output.error(`log: there are no events of ${phoneNumberId}`);
  return EXIT_NOT_FOUND;
}

async function retry(log: InboundLog, eventId: string, output: CommandOutput): Promise<number> {
  const event = await log.retry(eventId);
  if (event === null) {
    output.error(`retry: ${eventId} is not in the log, or was delivered`);
    return EXIT_NOT_FOUND;
  }
  output.print(lineOf(event));
  return 0;
}

/** Neither what was written nor any secret: a log is copied into tickets. */
function lineOf(event: WebhookEvent): string {
  const { id, createdAt, state, attempts, nextAttemptAt, lastError, endpoint } = event;
  return [
    instant(createdAt),
    id,
    state,
    counted(attempts, 'attempt'),
    ...(nextAttemptAt === null ? [] : [`next ${instant(nextAttemptAt)}`]),
    ...(lastError === null ? [] : [`last error ${lastError}`]),
    `to ${endpoint}`,
  ].join('  ');
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
