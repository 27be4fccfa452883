import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Compilations begun again because a source changed while it was being read. */
const COMPILATIONS_MAX = 5;

/** Digits of the content hash that name a build. */
const BUILD_NAME_LENGTH = 16;

/** The service alone, and the service with the programs that measure and crash it. */
const SERVICE = { config: 'tsconfig.json', sources: ['src'] };
const BENCH = { config: 'tsconfig.bench.json', sources: ['src', 'bench', 'test/crash', 'test/support'] };

/** Of `swagger-ui-dist`; a build has copies, so that programs which install the service do not install it. */
const PAGE_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE'];

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const buildsDir = join(root, '.build');
const linkPath = join(root, 'dist');

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    const folder = await build();
    if (process.argv.includes('--copy')) await copyOf(folder);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

/** Compiles the service, lets `dist` point at the outcome, and resolves with its folder. */
export async function build() {
  const folder = await buildService();
  await pointAt(folder);
  return folder;
}

/** Compiles the service, and resolves with the folder. */
export function buildService() {
  return compile(SERVICE);
}

/**
 * Compiles the service together with benches and crash tests, and resolves with the folder. They run plain
 * JavaScript of the same compiler as the service does: a loader that compiles in passing would be measured too.
 */
export function buildBench() {
  return compile(BENCH);
}

/**
 * Every build has a folder of its own, named after what it was made from and never changed afterwards, so a
 * running process keeps its files and several builds may run at once. Resolves with the folder's real path; does
 * nothing but that when it is there already.
 */
async function compile(target) {
  for (let attempt = 0; attempt < COMPILATIONS_MAX; attempt += 1) {
    const name = await contentName(target);
    const folder = join(buildsDir, name);
    if (existsSync(folder) || (await compileInto(folder, name, target))) return folder;
  }
  throw new Error('The sources keep changing while they are compiled');
}

/** False when the sources changed meanwhile: what was compiled then is not what its name says. */
async function compileInto(folder, name, target) {
  const startedMs = Date.now();
  console.error('Building…');
  const draft = join(buildsDir, `draft-${process.pid}-${randomUUID()}`);
  await mkdir(buildsDir, { recursive: true });
  try {
    await runCompiler(target.config, draft);
    await copyPageFiles(draft);
    if ((await contentName(target)) !== name) return false;
    await rename(draft, folder).catch((error) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  console.error(`Built ${relative(root, folder)} in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`);
  return true;
}

/** Translates only: types are checked by `npm run typecheck`, which takes longer than all of this. */
async function runCompiler(config, outDir) {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  if (!existsSync(compiler)) throw new Error('The compiler is not installed: run "npm ci" first');
  const args = [compiler, '-p', join(root, config), '--outDir', outDir, '--noCheck', '--noEmitOnError'];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const output = [];
  child.stdout.on('data', (chunk) => output.push(chunk));
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`${Buffer.concat(output).toString().trim()}\nThe build failed`);
}

/** The files of the page at /docs, with their licence. The bench has the service in a folder of its own. */
async function copyPageFiles(outDir) {
  const source = join(outDir, 'src');
  const service = existsSync(source) ? source : outDir;
  const folder = join(service, 'adapters', 'http', 'openapi', 'swagger-ui');
  await mkdir(folder, { recursive: true });
  for (const name of PAGE_FILES) {
    await cp(join(root, 'node_modules', 'swagger-ui-dist', name), join(folder, name));
  }
}

/** A symbolic link is replaced by renaming another over it, so it is never missing. A copy for `npm pack` is removed. */
async function pointAt(folder) {
  const draft = join(buildsDir, `link-${process.pid}-${randomUUID()}`);
  await symlink(relative(root, folder), draft, 'dir');
  const present = await lstat(linkPath).catch(() => null);
  const replaced = join(buildsDir, `replaced-${randomUUID()}`);
  if (present?.isDirectory()) await rename(linkPath, replaced);
  await rename(draft, linkPath);
  await rm(replaced, { recursive: true, force: true });
}

/** Lets `dist` be a copy of the build until the next one: `npm pack` leaves links out. */
async function copyOf(folder) {
  const draft = join(buildsDir, `copy-${process.pid}-${randomUUID()}`);
  await cp(folder, draft, { recursive: true });
  for (const file of await filesIn(relative(root, draft))) {
    if (file.endsWith('.js.map')) await correctSources(join(root, file));
  }
  await rm(linkPath);
  await rename(draft, linkPath);
}

/** A copy is one folder higher than its build: so are the sources, as a source map sees them. */
async function correctSources(mapFile) {
  const map = JSON.parse(await readFile(mapFile, 'utf8'));
  map.sources = map.sources.map((source) => source.replace('../', ''));
  await writeFile(mapFile, JSON.stringify(map));
}

/** The name of a build of what the checkout holds now. */
async function contentName({ config, sources }) {
  const configs = new Set(['package.json', 'package-lock.json', 'tsconfig.json', config]);
  const files = [...configs, ...(await Promise.all(sources.map(filesIn))).flat()];
  const hash = createHash('sha256');
  for (const file of files) {
    const content = await readFile(join(root, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, BUILD_NAME_LENGTH);
}

async function filesIn(folder) {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}
