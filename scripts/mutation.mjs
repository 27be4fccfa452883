/**
 * Mutation tests of src/domain and src/application with Stryker. A mutant is one small change of the source; a mutant
 * that no test notices survives and is printed.
 *
 *   npm run mutation                  tests every file and records the scores in test/mutation/scores.json
 *   npm run mutation -- FILE...       tests these files and records their scores
 *   npm run mutation -- --changed     tests a few of the files that differ from what was recorded, those changed last, for a
 *                                     minute or so
 *
 * The exit code is 1 when a layer is below its floor. A mutant that behaves like the original is named in
 * test/mutation/equivalents.json with the reason, and does not count.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The layers, the tests that have to notice their mutants, and the least scores in percent. */
const LAYERS = [
  { name: 'domain', tests: ['test/domain/**/*.test.ts'], floor: 96 },
  { name: 'application', tests: ['test/application/**/*.test.ts', 'test/contracts/*.test.ts'], floor: 90 },
];

/** What Stryker says of a mutant that made the tests fail: a test, the time they take, or a file of tests. */
const DETECTED = ['Killed', 'Timeout', 'RuntimeError'];

/** A branch that the compiler proves to be unreachable: whatever stands in its place changes nothing. */
const UNREACHABLE = /^default: (return )?\w+(\.\w+)* satisfies never;$/;

/** The time for one layer with `--changed`, in milliseconds: both together stay near a minute. */
const CHANGED_TIME_LIMIT_MS = 20_000;

/** So many files of one layer with `--changed`: the first run of the tests takes longer the more there are. */
const CHANGED_FILES_MAX = 2;

/** The characters of a piece of code that name a mutant. */
const CODE_LENGTH = 60;

/** The digits of a hash that are recorded. */
const HASH_LENGTH = 16;

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join(root, 'test', 'mutation');
const scoresFile = join(folder, 'scores.json');

process.exitCode = await run(process.argv.slice(2));

async function run(args) {
  const onlyChanged = args.includes('--changed');
  const named = args.filter((arg) => !arg.startsWith('--'));
  const hashes = await hashSources();
  const recorded = await readJson(scoresFile);
  const equivalents = await readJson(join(folder, 'equivalents.json'));
  const isWanted = (file) =>
    onlyChanged ? recorded[file]?.sha256 !== hashes[file] : named.length === 0 || named.includes(file);
  let exitCode = 0;
  for (const layer of LAYERS) {
    const wanted = Object.keys(hashes).filter(
      (file) => file.startsWith(`src/${layer.name}/`) && isWanted(file),
    );
    const files = onlyChanged ? (await lastChangedFirst(wanted)).slice(0, CHANGED_FILES_MAX) : wanted;
    if (files.length === 0) {
      console.log(`${layer.name}: no file to test`);
      continue;
    }
    const limitMs = onlyChanged ? CHANGED_TIME_LIMIT_MS : undefined;
    const { results, unfinished } = await testMutants(layer, files, limitMs);
    const scores = {};
    for (const [file, mutants] of results) scores[file] = await scoreFile(file, mutants, equivalents);
    report(layer, scores, unfinished);
    const isStale = reportStale(equivalents, scores);
    const isRecorded = (file) =>
      file.startsWith(`src/${layer.name}/`) && recorded[file] !== undefined && scores[file] === undefined;
    const others = onlyChanged ? Object.keys(hashes).filter(isRecorded) : [];
    const counts = [...others.map((file) => recorded[file]), ...Object.values(scores).map(count)];
    if (isStale || isBelow(layer.floor, sum(counts))) exitCode = 1;
    for (const [file, score] of Object.entries(scores)) {
      recorded[file] = { sha256: hashes[file], ...count(score) };
    }
  }
  const current = Object.keys(hashes).map((file) => [file, recorded[file]]);
  if (!onlyChanged) await writeFile(scoresFile, `${JSON.stringify(Object.fromEntries(current), null, 2)}\n`);
  return exitCode;
}

/** The files by their last commits; those that none has changed come last. */
async function lastChangedFirst(files) {
  const { stdout } = await promisify(execFile)('git', ['log', '--format=', '--name-only', '--', 'src'], {
    cwd: root,
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  const places = new Map();
  for (const [place, file] of stdout.split('\n').entries()) if (!places.has(file)) places.set(file, place);
  const placeOf = (file) => places.get(file) ?? Number.POSITIVE_INFINITY;
  return files.toSorted((a, b) => placeOf(a) - placeOf(b) || 0);
}

/** Runs Stryker over `files`. When the time is over, the files that are not finished are left out. */
async function testMutants({ name, tests }, files, limitMs) {
  const scratch = await mkdtemp(join(tmpdir(), 'barid-mutation-'));
  const events = join(scratch, 'events');
  const config = {
    ...(await readJson(join(folder, 'stryker.config.json'))),
    mutate: files,
    reporters: ['event-recorder', process.stdout.isTTY ? 'progress' : 'progress-append-only'],
    eventReporter: { baseDir: events },
  };
  const configFile = join(scratch, 'stryker.json');
  await writeFile(configFile, JSON.stringify(config));
  try {
    console.log(`\n${name}: ${files.length} files to test`);
    await runStryker(configFile, { ...process.env, MUTATION_TESTS: tests.join(',') }, limitMs);
    return await readResults(events, files);
  } finally {
    await rm(scratch, { recursive: true, force: true });
    await rm(join(root, config.tempDirName), { recursive: true, force: true });
  }
}

/** Runs Stryker until it ends or its time is over. It and its workers are one process group and end together. */
async function runStryker(configFile, env, limitMs) {
  const stryker = join(root, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');
  const child = spawn(process.execPath, [stryker, 'run', configFile], {
    cwd: root,
    env,
    stdio: 'inherit',
    detached: true,
  });
  const endGroup = () => process.kill(-child.pid, 'SIGKILL');
  let isTimeOver = false;
  const endInTime = () => {
    isTimeOver = true;
    endGroup();
  };
  const timer = limitMs === undefined ? undefined : setTimeout(endInTime, limitMs);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, endGroup);
  const exitCode = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  clearTimeout(timer);
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, endGroup);
  if (exitCode !== 0 && !isTimeOver) throw new Error(`Stryker ended with exit code ${exitCode}`);
}

/** Reads what Stryker has recorded: its plan, and the result of each mutant that was tested. */
async function readResults(events, files) {
  const results = new Map(files.map((file) => [file, []]));
  let planned;
  for (const name of await readdir(events).catch(() => [])) {
    // The newest file may be half written when Stryker was ended.
    const event = await readJson(join(events, name)).catch(() => null);
    if (event === null) continue;
    if (name.endsWith('-onMutantTested.json')) results.get(sourceOf(event))?.push(event);
    if (name.endsWith('-onMutationTestingPlanReady.json')) {
      planned = event.mutantPlans.map(({ mutant }) => sourceOf(mutant));
    }
  }
  const isFinished = (file) =>
    planned !== undefined && results.get(file).length >= planned.filter((each) => each === file).length;
  return {
    results: new Map([...results].filter(([file]) => isFinished(file))),
    unfinished: files.filter((file) => !isFinished(file)),
  };
}

function sourceOf({ fileName }) {
  return relative(root, fileName);
}

async function scoreFile(file, results, equivalents) {
  const source = await readFile(join(root, file), 'utf8');
  const undetected = results
    .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    .map((result) => describe(file, source, result));
  const survivors = undetected.filter(
    (mutant) => !UNREACHABLE.test(mutant.from) && !equivalents.some((each) => isSame(each, mutant)),
  );
  return {
    detected: results.filter(({ status }) => DETECTED.includes(status)).length,
    equivalents: undetected.filter((mutant) => !survivors.includes(mutant)),
    survivors,
  };
}

/** Names a mutant by its code, because line numbers move. */
function describe(file, source, { location: { start, end }, replacement }) {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const code = [...lines];
  code.push(code.pop().slice(0, end.column - 1));
  code.unshift(code.shift().slice(start.column - 1));
  return {
    file,
    line: lines[0].trim(),
    from: shorten(code.join('\n')),
    to: shorten(replacement),
    lineNumber: start.line,
  };
}

function shorten(code) {
  return code.replace(/\s+/g, ' ').trim().slice(0, CODE_LENGTH);
}

function isSame(one, other) {
  return ['file', 'line', 'from', 'to'].every((key) => one[key] === other[key]);
}

/** Prints the survivors, a line for each folder and one for the layer. */
function report({ name }, scores, unfinished) {
  console.log();
  for (const { survivors } of Object.values(scores)) {
    for (const { file, lineNumber, line, from, to } of survivors) {
      console.log(`survived at ${file}:${lineNumber} ${JSON.stringify({ line, from, to })}`);
    }
  }
  const folders = [...new Set(Object.keys(scores).map(dirname))].sort();
  for (const each of folders) {
    const files = Object.entries(scores).filter(([file]) => dirname(file) === each);
    printScore(each, sum(files.map(([, score]) => count(score))));
  }
  printScore(name, sum(Object.values(scores).map(count)));
  if (unfinished.length > 0) console.log(`${name}: no time was left for ${unfinished.join(', ')}`);
}

function printScore(name, { detected, equivalent, undetected }) {
  const score = percentage({ detected, undetected }).toFixed(1);
  console.log(
    `${name.padEnd(32)} ${String(detected).padStart(5)} detected ${String(undetected).padStart(4)} survived ` +
      `${String(equivalent).padStart(4)} equivalent ${score.padStart(6)} %`,
  );
}

function count({ detected, equivalents, survivors }) {
  return { detected, equivalent: equivalents.length, undetected: survivors.length };
}

function sum(counts) {
  const total = { detected: 0, equivalent: 0, undetected: 0 };
  for (const each of counts) for (const key of Object.keys(total)) total[key] += each[key];
  return total;
}

function percentage({ detected, undetected }) {
  return detected + undetected === 0 ? 100 : (100 * detected) / (detected + undetected);
}

/**
 * Whether so many mutants score less than the floor. With `--changed` those of the other files count as they were recorded last: a
 * few mutants that the time was enough for do not decide by themselves.
 */
function isBelow(floor, counted) {
  const score = percentage(counted);
  if (score < floor) console.log(`below the floor: ${score.toFixed(1)} % of at least ${floor.toFixed(1)} %`);
  return score < floor;
}

/** Prints the entries of the files that name no survivor: they have to leave the list. */
function reportStale(equivalents, scores) {
  const stale = equivalents.filter(
    (entry) => scores[entry.file]?.equivalents.every((mutant) => !isSame(entry, mutant)) ?? false,
  );
  for (const entry of stale) console.log(`names no survivor: ${JSON.stringify(entry)}`);
  return stale.length > 0;
}

/** The sources of all layers, each with a hash of its content. */
async function hashSources() {
  const hashes = {};
  for (const { name } of LAYERS) {
    const names = await readdir(join(root, 'src', name), { recursive: true });
    for (const each of names.filter((path) => path.endsWith('.ts')).sort()) {
      const content = await readFile(join(root, 'src', name, each));
      hashes[join('src', name, each)] = createHash('sha256')
        .update(content)
        .digest('hex')
        .slice(0, HASH_LENGTH);
    }
  }
  return hashes;
}

async function readJson(file) {
  return JSON.parse(await readFile(file, 'utf8'));
}
