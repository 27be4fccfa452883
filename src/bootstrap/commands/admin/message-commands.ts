import type { Command } from 'commander';
import { recordLines } from '../console/text-table.ts';
import {
  type AdminConsole,
  type Columns,
  type Fields,
  type PageOptions,
  paged,
  pathOf,
} from './admin-console.ts';

const MESSAGES: Columns = {
  list: 'messages',
  columns: ['id', 'project', 'phoneNumber', 'status', 'cost', 'createdAt', 'finalAt', 'reason'],
};

interface SearchOptions extends PageOptions {
  readonly phoneNumber?: string;
  readonly project?: string;
  readonly status?: string;
  readonly from?: string;
  readonly to?: string;
}

/** `barid admin messages`. */
export function addMessageCommands(program: Command, admin: AdminConsole): void {
  const messages = program.command('messages').description('search messages, and trace one');
  paged(
    messages
      .command('search')
      .description('search messages, the newest first')
      .option('--phone-number <number>', 'only messages to this number')
      .option('--project <project>', 'only messages of this project: id or slug')
      .option('--status <status>', 'only messages with this status')
      .option('--from <instant>', 'the first instant, ISO 8601')
      .option('--to <instant>', 'the last instant, ISO 8601'),
  ).action(({ limit, cursor, ...filter }: SearchOptions) =>
    admin.printPage(pathOf('messages'), { limit, cursor }, MESSAGES, { ...filter }),
  );
  messages
    .command('trace')
    .description('show a message with its attempts, money and webhooks')
    .argument('<message>', 'the id of the message')
    .action((message: string) => admin.print({ path: pathOf('messages', message) }, traceLines));
}

/** A trace with the attempts of all its events in a table of their own. */
function traceLines({ events, ...trace }: Fields): readonly string[] {
  const logged = (events as readonly Fields[]).map(({ attemptLog, ...event }) => ({
    event,
    attempts: (attemptLog as readonly Fields[]).map((attempt) => ({ event: event.id, ...attempt })),
  }));
  return recordLines({
    ...trace,
    events: logged.map(({ event }) => event),
    eventAttempts: logged.flatMap(({ attempts }) => attempts),
  });
}
