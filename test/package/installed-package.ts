import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../support/markdown.ts';

/** How a program ended, and what it wrote. */
export interface Ended {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the project installs beside the tarball, in the versions of this one. */
const TOOLS = ['typescript', 'tsx', '@types/node'];
/** What `npm pack` reads, or what the build reads. */
const SOURCES = [
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'README.md', 'CHANGELOG.md'],
  ...['src', 'scripts', 'docs'],
];

/** An empty project of TypeScript, in a folder of its own, with the tarball of `npm pack` installed. */
export class InstalledPackage {
  readonly folder: string;
  /** The paths of the tarball. */
  readonly files: readonly string[];

  private constructor(folder: string, files: readonly string[]) {
    this.folder = folder;
    this.files = files;
  }

  static async create(): Promise<InstalledPackage> {
    const folder = mkdtempSync(join(tmpdir(), 'barid-package-'));
    const { filename, files } = await pack(folder);
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const tools = TOOLS.map((name) => `${name}@${devDependencies[name]}`);
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
    const installed = await run('npm', ['install', ...options, join(folder, filename), ...tools], folder);
    if (installed.code !== 0) throw new Error(`npm install failed: ${installed.stderr}`);
    // The native module takes a minute to compile; this project has compiled the same version.
    const native = 'node_modules/better-sqlite3/build';
    cpSync(join(ROOT, native), join(folder, native), { recursive: true });
    return new InstalledPackage(
      folder,
      files.map(({ path }) => path),
    );
  }

  /** Writes a file of the project. */
  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  /** Where a program that is installed is. */
  program(name: string): string {
    return join(this.folder, 'node_modules', '.bin', name);
  }

  /** Runs an installed program in the folder of the project. */
  run(name: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Ended> {
    return run(this.program(name), args, this.folder, environment);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** Packs a copy of the checkout: other tests may build in the checkout meanwhile. A build that is there is used. */
async function pack(destination: string): Promise<{ filename: string; files: readonly { path: string }[] }> {
  mkdirSync(join(ROOT, '.tmp'), { recursive: true });
  mkdirSync(join(ROOT, '.build'), { recursive: true });
  const copy = mkdtempSync(join(ROOT, '.tmp', 'package-'));
  try {
    for (const name of SOURCES) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    for (const name of ['node_modules', '.build']) symlinkSync(join(ROOT, name), join(copy, name), 'dir');
    const packed = await run('npm', ['pack', '--json', '--pack-destination', destination], copy);
    if (packed.code !== 0) throw new Error(`npm pack failed: ${packed.stderr}`);
    const [tarball] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf('[')));
    return tarball;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function run(
  file: string,
  args: readonly string[],
  cwd: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(file, args, { cwd, env: { ...ownEnvironment(), ...environment } }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });
}

/** The environment of a user's shell: without what the runner of this test and npm have put there. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  const names = /^(?:VITEST.*|NODE_TEST_CONTEXT|NODE_ENV|TEST_.*|HARNESS_.*|npm_(?:package|lifecycle)_.*)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !names.test(name)));
}
