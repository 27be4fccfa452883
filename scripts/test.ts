import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type FoundService, type FoundServices, findServices } from '../test/support/services.ts';
import type { TestOutcome } from './test-outcome.ts';

/** `1`: a service that is missing, or a test that was skipped, counts as a failure; `all`: the bucket too. */
const { REQUIRE_SERVICES: required } = process.env;
const mustHaveAll = required === '1' || required === 'all';
const mustHaveBucket = required === 'all';
/** What the suites of a missing bucket are called. */
const WITHOUT_BUCKET = '(skipped: TEST_S3_URL is not set)';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const args = process.argv.slice(2);

/** Tests that start the whole service, and run on every wiring. The contract suites do so themselves. */
const ON_EVERY_WIRING = ['test/service/', 'test/specification/'];
/** The outcome of a run that ended before it told one. */
const NO_OUTCOME: TestOutcome = {
  passed: 0,
  failed: [],
  skipped: [],
  errors: ['the runner ended before its tests did'],
};

let running: ChildProcess | null = null;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => running?.kill(signal));

// Once, not by every process that runs tests of programs.
const { buildService } = await import(pathToFileURL(join(root, 'scripts', 'build.mjs')).href);
await buildService();

const services = await findServices();
try {
  process.exitCode = await runAll(services);
} finally {
  await services.stop();
}

/** Runs every test, then those of the whole service once more on the real database and queue. */
async function runAll({ postgres, rabbitmq, bucket }: FoundServices): Promise<number> {
  const env = { ...process.env };
  setOrClear(env, 'TEST_POSTGRES_URL', postgres.url);
  setOrClear(env, 'TEST_RABBITMQ_URL', rabbitmq.url);
  setOrClear(env, 'TEST_S3_URL', bucket.url);
  const runs = [await runTests(args, env)];
  const files = args.filter((arg) => arg.startsWith('test/'));
  const again = files.length === 0 ? ON_EVERY_WIRING : files.filter(isOnEveryWiring);
  const hasBoth = postgres.url !== undefined && rabbitmq.url !== undefined;
  if (hasBoth && again.length > 0) {
    console.log('\nThe tests of the service once more, on PostgreSQL and RabbitMQ:');
    const onServices = { ...env, HARNESS_DATABASE_URL: postgres.url, HARNESS_QUEUE_URL: rabbitmq.url };
    const options = args.filter((arg) => !files.includes(arg));
    runs.push(await runTests([...again, ...options], onServices));
  }
  return report(runs, { PostgreSQL: postgres, RabbitMQ: rabbitmq, Bucket: bucket });
}

function isOnEveryWiring(file: string): boolean {
  return ON_EVERY_WIRING.some((folder) => `${file}/`.startsWith(folder));
}

interface Run extends TestOutcome {
  readonly exitCode: number;
}

async function runTests(given: readonly string[], env: NodeJS.ProcessEnv): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'barid-tests-'));
  const outcomeFile = join(folder, 'outcome.json');
  const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts', 'test-outcome.ts')}`];
  const runner = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  try {
    const child = spawn(process.execPath, [runner, 'run', '--dir', 'test', ...reporters, ...given], {
      cwd: root,
      env: { ...env, TEST_OUTCOME_FILE: outcomeFile },
      stdio: 'inherit',
    });
    running = child;
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 1));
    });
    const outcome = existsSync(outcomeFile) ? JSON.parse(await readFile(outcomeFile, 'utf8')) : NO_OUTCOME;
    return { exitCode, ...outcome };
  } finally {
    running = null;
    await rm(folder, { recursive: true, force: true });
  }
}

/** Prints what was used, what was left out and what failed, and the numbers last. Returns the exit code. */
function report(runs: readonly Run[], found: Readonly<Record<string, FoundService>>): number {
  const passed = runs.reduce((total, run) => total + run.passed, 0);
  const skipped = runs.flatMap((run) => run.skipped);
  const failed = runs.flatMap((run) => [...run.failed, ...run.errors]);
  console.log();
  for (const [name, service] of Object.entries(found)) console.log(`${name}: ${describeService(service)}`);
  for (const [title, count] of countByTitle(skipped)) console.log(`skipped: ${title} (${count})`);
  const { Bucket: _, ...needed } = found;
  const isIncomplete =
    skipped.some((title) => mustHaveBucket || !title.endsWith(WITHOUT_BUCKET)) ||
    Object.values(mustHaveBucket ? found : needed).some(({ missing }) => missing !== undefined);
  if (mustHaveAll && isIncomplete)
    console.log(`REQUIRE_SERVICES=${required}: a missing service or skipped test fails`);
  for (const failure of failed) console.log(`failed: ${failure}`);
  console.log(`tests: ${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
  const exitCode = Math.max(...runs.map((run) => run.exitCode));
  return exitCode === 0 && mustHaveAll && isIncomplete ? 1 : exitCode;
}

function describeService(service: FoundService): string {
  if (service.missing !== undefined) return `missing, its tests are skipped: ${service.missing}`;
  const { host, pathname } = new URL(service.url);
  return `${host}${pathname}${service.isPrivate ? ' (started for this run)' : ''}`;
}

function countByTitle(titles: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const title of titles) counts.set(title, (counts.get(title) ?? 0) + 1);
  return counts;
}

function setOrClear(env: NodeJS.ProcessEnv, name: string, value: string | undefined): void {
  if (value === undefined) delete env[name];
  else env[name] = value;
}
