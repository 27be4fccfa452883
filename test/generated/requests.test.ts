import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { OpenApi } from '../../src/adapters/http/openapi/open-api.ts';
import { type Action, actionsOf } from './actions.ts';
import { GeneratedRun, type StatusTable } from './generated-run.ts';
import { GeneratedService } from './generated-service.ts';
import { DocumentChecks } from './reply-checks.ts';
import { printStatuses, requestsIn } from './status-table.ts';

/** `npm run test:generated` sends 100,000. */
const REQUESTS = Number(process.env.GENERATED_REQUESTS ?? 3_000);
/** Each sequence has the next one: a failure names its own, and GENERATED_SEED begins with it. */
const FIRST_SEED = Number(process.env.GENERATED_SEED ?? 20_300_101);
const ACTIONS_PER_SEQUENCE_MAX = 400;
/** So many requests are sure to have every documented status that an operation comes to often. */
const REQUESTS_TO_SEE_EVERYTHING = 20_000;
/** Of so many requests to an operation that needs a key, one is sure to be rejected. */
const REQUESTS_TO_SEE_AN_ERROR = 150;
/** The table so far is printed after so many, and at the end. */
const REQUESTS_PER_REPORT = 10_000;
/** After so long everything passes, so that a failure ends with the shortest sequence that was found. */
const SHRINKING_MS_MAX = 60_000;
const TIME_LIMIT_MS = 60_000 + SHRINKING_MS_MAX + 30 * REQUESTS;
/**
 * An address that is not allowed, a fault, and a service that is full: no request causes them. A conflict of idempotency
 * keys takes two requests that fit, and a start has no body to differ in. Few bodies have 4 MB. Reports are made at once, and
 * last for 30 days.
 */
const SELDOM: ReadonlySet<number> = new Set([202, 403, 409, 410, 413, 429, 500, 503]);

it(
  'every generated request gets a documented reply, and does what it may do and nothing else',
  async () => {
    const startedAt = performance.now();
    const table: StatusTable = new Map();
    const document = await servedDocument();
    const checks = new DocumentChecks(document);
    const actions = fc.noBias(
      fc.array(actionsOf(document), { maxLength: ACTIONS_PER_SEQUENCE_MAX, size: 'max' }),
    );
    let failedAt = Number.POSITIVE_INFINITY;
    const property = fc.asyncProperty(actions, async (sequence) => {
      if (performance.now() > failedAt + SHRINKING_MS_MAX) return;
      try {
        await runSequence(sequence, checks, table);
      } catch (error) {
        failedAt = Math.min(failedAt, performance.now());
        throw error;
      }
    });
    let nextReport = REQUESTS_PER_REPORT;
    for (let seed = FIRST_SEED; requestsIn(table) < REQUESTS; seed += 1) {
      await fc.assert(property, { seed, numRuns: 1 });
      if (requestsIn(table) < Math.min(nextReport, REQUESTS)) continue;
      nextReport += REQUESTS_PER_REPORT;
      printStatuses(table, performance.now() - startedAt, FIRST_SEED);
    }
    expect(unseenIn(table, checks)).toEqual([]);
  },
  TIME_LIMIT_MS,
);

/** Only a provider gets a 200 of these. */
const SIGNED: ReadonlySet<string> = new Set(['receiveCallback', 'checkCallback']);

async function servedDocument(): Promise<OpenApi> {
  const service = await GeneratedService.start();
  try {
    return await service.document();
  } finally {
    await service.close();
  }
}

/** All actions against a service of their own, whose accounts must equal their ledgers afterwards. */
async function runSequence(
  sequence: readonly Action[],
  checks: DocumentChecks,
  table: StatusTable,
): Promise<void> {
  const service = await GeneratedService.start();
  const run = new GeneratedRun(service.target(), checks, table);
  try {
    await run.begin();
    for (const action of sequence) await run.run(action);
    await run.deleteScheduled();
    await service.assertQuiet();
  } finally {
    run.close();
    await service.close();
  }
}

/**
 * What no request caused though it should have: a success of each operation, and an error of each that needs a key and was
 * requested often enough; later, each documented status.
 */
function unseenIn(table: StatusTable, { operations }: DocumentChecks): readonly string[] {
  return operations.flatMap(({ id, statuses, needsKey }) => {
    const counts = table.get(id) ?? new Map<number, number>();
    const seen = [...counts.keys()];
    const expected =
      requestsIn(table) < REQUESTS_TO_SEE_EVERYTHING
        ? [SIGNED.has(id) ? 401 : 200]
        : statuses.filter(
            (status) =>
              !SELDOM.has(status) && (status < 400 || needsKey) && !(SIGNED.has(id) && status < 400),
          );
    const missing = expected.filter((status) => !seen.includes(status)).map((status) => `${id} ${status}`);
    const isRejected = seen.some((status) => status >= 400 && status < 500);
    const requests = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const mustBeRejected = needsKey && requests >= REQUESTS_TO_SEE_AN_ERROR;
    return isRejected || !mustBeRejected ? missing : [...missing, `${id} 4xx`];
  });
}
