import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const START_TIMEOUT_MS = 60_000;

/** How a program ended, and what it printed. */
export interface Ended {
  readonly code: number | null;
  readonly text: string;
}

/** A commit of this repository in a temporary folder, compiled, with the packages of this checkout. */
export class OlderVersion {
  readonly folder: string;
  readonly #build: string;

  private constructor(folder: string, build: string) {
    this.folder = folder;
    this.#build = build;
  }

  /** Rejects when the commit is not there, or does not compile with the packages of this checkout. */
  static async of(commit: string): Promise<OlderVersion> {
    const folder = mkdtempSync(join(tmpdir(), 'barid-older-'));
    try {
      return new OlderVersion(folder, await buildIn(folder, commit));
    } catch (error) {
      rmSync(folder, { recursive: true });
      throw error;
    }
  }

  /** Its program for `Installation`. */
  get serviceProcess(): URL {
    return pathToFileURL(join(this.#build, 'test', 'crash', 'support', 'service-process.js'));
  }

  /** The names of its migrations. */
  migrationNames(): readonly string[] {
    const names = readdirSync(join(this.folder, 'src', 'adapters', 'knex', 'migrations'));
    return names.filter((name) => /^\d/.test(name)).map((name) => name.replace('.ts', ''));
  }

  /** Starts the service as an operator does, and resolves when it has ended. It is killed after a minute. */
  async runMain(environment: NodeJS.ProcessEnv): Promise<Ended> {
    const child = spawn(process.execPath, [join(this.#build, 'src', 'bootstrap', 'main.js')], {
      env: { ...process.env, NODE_ENV: 'production', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: START_TIMEOUT_MS,
    });
    const printed: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(chunk));
    const [code] = await once(child, 'close');
    return { code, text: Buffer.concat(printed).toString().trim() };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Checks the commit out into the folder, and compiles it there. Returns the folder of the compiled files. */
async function buildIn(folder: string, commit: string): Promise<string> {
  const checkout = checkoutOf(import.meta.dirname);
  const archive = join(folder, 'archive.tar');
  execFileSync('git', ['archive', '--output', archive, commit], { cwd: checkout });
  execFileSync('tar', ['xf', archive, '-C', folder]);
  rmSync(archive);
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'), 'dir');
  const { buildBench } = await import(pathToFileURL(join(folder, 'scripts', 'build.mjs')).href);
  return await buildBench();
}

/** The folder above `folder` that has the packages. */
function checkoutOf(folder: string): string {
  return existsSync(join(folder, 'package-lock.json')) ? folder : checkoutOf(dirname(folder));
}
