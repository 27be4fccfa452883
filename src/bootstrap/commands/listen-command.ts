import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { RESPONSE_BYTES_MAX } from '../../adapters/egress/tls/peer-stream.ts';
import { keepNewest } from '../../application/keep-newest.ts';
import { DELIVERY_ATTEMPT_TIMEOUT_MS } from '../../application/webhooks/delivery-limits.ts';
import { EXIT_NOT_DONE, EXIT_UNAVAILABLE } from '../exit-codes.ts';
import { AdminClient } from './admin/admin-client.ts';
import { pathOf } from './admin/admin-console.ts';
import { toNumber } from './admin/project-options.ts';
import type { CommandContext } from './console/command-context.ts';
import { CommandError } from './console/command-error.ts';
import { counted } from './console/counted.ts';
import { httpUrlOf, reasonOf, urlOption } from './console/service-address.ts';

/** Between two questions for new events. */
const POLLING_INTERVAL_MS = 500;

/** Between two questions while the service is away. */
const AWAY_INTERVAL_MS = 1_000;

/** Ids that are kept: several pages. */
const SEEN_MAX = 5_000;

/** The most events of one reply. */
const PAGE_EVENTS = 500;

interface ListenOptions {
  readonly forwardTo: string;
  readonly project: string;
  readonly url: string;
  readonly events?: number;
}

const NAME_ONE = 'name a dev project of this installation with --project';

interface Page {
  readonly events: readonly ListenedEvent[];
  readonly next: string;
}

interface ListenedEvent {
  readonly id: string;
  readonly kind: string;
  readonly at: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `barid listen`: the webhooks of a dev project at a local address, without a certificate. */
export function addListenCommand(program: Command, context: CommandContext): void {
  program
    .command('listen')
    .description(
      'post the webhooks of a dev project to a local address too; needs ADMIN_TOKEN of the service',
    )
    .requiredOption('--forward-to <url>', 'such as http://localhost:4000/hooks')
    .option('--project <project>', 'id or slug of a dev project', 'demo')
    .option('--events <count>', 'end after so many events; Ctrl-C ends it without', toNumber)
    .addOption(urlOption(context))
    .addHelpText(
      'after',
      `
Headers, signatures and bodies are those of the service. An event is posted once. Messages need a webhookUrl:
https://listen.invalid/hooks is one that the service itself cannot reach.

Example:
  barid listen --forward-to http://localhost:4000/hooks
  barid send 9647701234567 --code 123456 --webhook https://listen.invalid/hooks`,
    )
    .action(context.action((options: ListenOptions) => listen(options, context)));
}

async function listen(
  { forwardTo: givenForwardTo, project, url, events: most = Number.POSITIVE_INFINITY }: ListenOptions,
  context: CommandContext,
): Promise<number> {
  const forwardTo = httpUrlOf('--forward-to', givenForwardTo);
  const client = new AdminClient(url, context.environment);
  const path = `${pathOf('projects', project)}/webhook-events`;
  const pageAfter = async (cursor?: string) =>
    (await client.json({ path, query: { limit: String(PAGE_EVENTS), cursor } })) as Page;
  let { next } = await pageAfter().catch((error) => {
    throw isUnknownProject(error) ? new CommandError(`${error.message}: ${NAME_ONE}`, error.exitCode) : error;
  });
  context.output.error(`listening to the webhooks of ${project}: each is posted to ${forwardTo}`);
  const seen = new RecentIds();
  let posted = 0;
  let failed = 0;
  while (posted + failed < most) {
    const page = await whileAway(() => pageAfter(next), context);
    for (const event of page.events.filter(({ id }) => seen.add(id)).slice(0, most - posted - failed)) {
      const result = await post(event, forwardTo);
      context.print(...shown(event, result));
      if (result.status === null) failed += 1;
      else posted += 1;
    }
    next = page.next;
    if (posted + failed < most) await wait(POLLING_INTERVAL_MS);
  }
  const others = failed === 0 ? '' : `, ${failed} without a response`;
  context.output.error(`listen: ${counted(posted, 'event')} posted${others}`);
  return failed === 0 ? 0 : EXIT_NOT_DONE;
}

function isUnknownProject(error: unknown): error is CommandError {
  return error instanceof CommandError && error.slug === 'project-not-found';
}

/** Ids that were seen: an event comes again until it is behind the cursor. */
class RecentIds {
  readonly #ids = new Set<string>();

  /** Whether the id is new. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    keepNewest(this.#ids, SEEN_MAX);
    return true;
  }
}

/** Asks until the service replies: a developer may start it again meanwhile. */
async function whileAway<Reply>(ask: () => Promise<Reply>, { output }: CommandContext): Promise<Reply> {
  for (let isTold = false; ; await wait(AWAY_INTERVAL_MS)) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof CommandError) || error.exitCode !== EXIT_UNAVAILABLE) throw error;
      if (!isTold) output.error(`${error.message}; waiting for it`);
      isTold = true;
    }
  }
}

interface Posted {
  /** Of the response; null when none came. */
  readonly status: number | null;
  readonly error: string | null;
  readonly ms: number;
}

async function post({ headers, body }: ListenedEvent, url: string): Promise<Posted> {
  const startedAt = performance.now();
  const ended = (status: number | null, error: string | null) => ({
    status,
    error,
    ms: Math.round(performance.now() - startedAt),
  });
  try {
    const signal = AbortSignal.timeout(DELIVERY_ATTEMPT_TIMEOUT_MS);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    await readSome(response);
    return ended(response.status, null);
  } catch (error) {
    return ended(null, reasonOf(error));
  }
}

/** Reads as much of the response as the service would. */
async function readSome({ body }: Response): Promise<void> {
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > RESPONSE_BYTES_MAX) return;
  }
}

function shown({ id, kind, at, body }: ListenedEvent, result: Posted): [object, () => readonly string[]] {
  const { smsId = null, status = null } = JSON.parse(body) as { smsId?: string; status?: string };
  const outcome = result.error ?? `HTTP ${result.status}`;
  const what = [kind, status, smsId].filter((word) => word !== null).join(' ');
  return [
    { id, kind, at, smsId, messageStatus: status, ...result },
    () => [`${at}  ${id}  ${what}  ${outcome}  ${result.ms} ms`],
  ];
}
