import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findServices } from './services.mjs';

/** A service that is missing, or a test that was skipped, then counts as a failure. */
const mustHaveAll = process.env.REQUIRE_SERVICES === '1';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const args = process.argv.slice(2);
let running = null;
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => running?.kill(signal));

const services = await findServices();
try {
  process.exitCode = await runAll(services);
} finally {
  await services.stop();
}

/** Runs every test, then those of the whole service once more on the real database and queue. */
async function runAll({ postgres, rabbitmq }) {
  const env = { ...process.env };
  setOrClear(env, 'TEST_POSTGRES_URL', postgres.url);
  setOrClear(env, 'TEST_RABBITMQ_URL', rabbitmq.url);
  const runs = [await runTests(['--dir', 'test'], env)];
  const hasBoth = postgres.url !== undefined && rabbitmq.url !== undefined;
  if (hasBoth && existsSync(join(root, 'test', 'service'))) {
    console.log('\nThe tests of the service once more, on PostgreSQL and RabbitMQ:');
    const onServices = { ...env, HARNESS_DATABASE_URL: postgres.url, HARNESS_QUEUE_URL: rabbitmq.url };
    runs.push(await runTests(['--dir', 'test/service', '--passWithNoTests'], onServices));
  }
  return report(runs, { PostgreSQL: postgres, RabbitMQ: rabbitmq });
}

async function runTests(where, env) {
  const folder = await mkdtemp(join(tmpdir(), 'barid-tests-'));
  const outcomeFile = join(folder, 'outcome.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${outcomeFile}`];
  const runner = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  try {
    running = spawn(process.execPath, [runner, 'run', ...where, ...reporters, ...args], {
      cwd: root,
      env,
      stdio: 'inherit',
    });
    const exitCode = await new Promise((resolve, reject) => {
      running.once('error', reject);
      running.once('close', (code) => resolve(code ?? 1));
    });
    const outcome = existsSync(outcomeFile) ? JSON.parse(await readFile(outcomeFile, 'utf8')) : null;
    return { exitCode, ...countTests(outcome?.testResults ?? []) };
  } finally {
    running = null;
    await rm(folder, { recursive: true, force: true });
  }
}

/** A file that could not even be read has no tests to count: it counts as one that failed. */
function countTests(files) {
  const tests = files.flatMap((file) => file.assertionResults);
  const broken = files.filter((file) => file.status === 'failed' && file.assertionResults.length === 0);
  const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
  return {
    passed: tests.filter(({ status }) => status === 'passed').length,
    failed: tests.filter(({ status }) => status === 'failed').length + broken.length,
    skipped: skipped.map(({ ancestorTitles, title }) => ancestorTitles[0] || title),
  };
}

/** Prints what was used and what was left out, and the numbers last. Returns the exit code. */
function report(runs, found) {
  const sum = (key) => runs.reduce((total, run) => total + run[key], 0);
  const skipped = runs.flatMap((run) => run.skipped);
  console.log();
  for (const [name, service] of Object.entries(found)) console.log(`${name}: ${describeService(service)}`);
  for (const [title, count] of countByTitle(skipped)) console.log(`skipped: ${title} (${count})`);
  const isIncomplete =
    skipped.length > 0 || Object.values(found).some(({ missing }) => missing !== undefined);
  if (mustHaveAll && isIncomplete) console.log('REQUIRE_SERVICES=1: a missing service or skipped test fails');
  console.log(`tests: ${sum('passed')} passed, ${sum('failed')} failed, ${skipped.length} skipped`);
  const exitCode = Math.max(...runs.map((run) => run.exitCode));
  return exitCode === 0 && mustHaveAll && isIncomplete ? 1 : exitCode;
}

function describeService({ url, missing, isPrivate = false }) {
  if (missing !== undefined) return `missing, its tests are skipped: ${missing}`;
  const address = new URL(url);
  return `${address.host}${address.pathname}${isPrivate ? ' (started for this run)' : ''}`;
}

function countByTitle(titles) {
  const counts = new Map();
  for (const title of titles) counts.set(title, (counts.get(title) ?? 0) + 1);
  return counts;
}

function setOrClear(env, name, value) {
  if (value === undefined) delete env[name];
  else env[name] = value;
}
