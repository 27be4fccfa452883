import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chownSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time for a server to start, a recovery included. */
const START_TIMEOUT_MS = 60_000;

/** Time for a server to stop by itself before it is killed. */
const STOP_TIMEOUT_MS = 10_000;

const POLL_MS = 50;

/** Lines of a server's log that are shown when it does not start. */
const LOG_LINES_SHOWN = 15;

/** The user a server runs as; empty for the present one. */
export type ServerUser = Pick<SpawnOptions, 'uid' | 'gid'>;

export interface PrivateServerOptions {
  /** Where clients find it. */
  readonly url: string;
  /** Its temporary folder. */
  readonly folder: string;
  readonly command: {
    readonly file: string;
    readonly args: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  };
  readonly user: ServerUser;
  /** Rejects while the server does not reply. */
  readonly probe: () => Promise<void>;
  /** Ends the server in good order. */
  readonly fastSignal: NodeJS.Signals;
  /** Ends the server at once, by its own hand. */
  readonly immediateSignal: NodeJS.Signals;
  /** Removes what else the server left. */
  readonly afterStop?: () => void;
}

/**
 * A server of this machine that runs for one program only: in a temporary folder, as an ordinary user, and gone
 * with the program. It can be killed and started again on the same data.
 */
export class PrivateServer {
  readonly #options: PrivateServerOptions;
  #child: ChildProcess | null = null;
  #exited: Promise<void> = Promise.resolve();
  #isStopped = false;
  readonly #killAtExit = (): void => {
    this.#signalAll('SIGKILL');
    this.#removeFolder();
  };

  constructor(options: PrivateServerOptions) {
    this.#options = options;
  }

  get url(): string {
    return this.#options.url;
  }

  /** The server's main process, or null when it does not run. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Starts the server on the data it has and resolves once it replies. */
  async start(): Promise<void> {
    if (this.#isStopped) throw new Error('The server was stopped for good');
    process.off('exit', this.#killAtExit).once('exit', this.#killAtExit);
    const deadlineMs = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      // A start fails while processes of a killed predecessor hold its memory or port: it is tried again.
      if (this.#child === null) this.#spawn();
      const problem: unknown = await this.#options.probe().then(
        () => null,
        (error) => error,
      );
      if (problem === null && this.pid !== null) return;
      if (Date.now() > deadlineMs) {
        await this.kill();
        throw new Error(`${this.#options.command.file} does not start:\n${this.#logTail()}`, {
          cause: problem,
        });
      }
      await sleep(POLL_MS);
    }
  }

  /** Kills every process of the server and resolves once they are gone. */
  async kill(): Promise<void> {
    this.#signalAll('SIGKILL');
    await this.#exited;
  }

  /** Sends a signal to the main process alone. */
  signalMain(signal: NodeJS.Signals): void {
    if (this.pid !== null) send(this.pid, signal);
  }

  /** Lets the server end at once, without a farewell to its clients. */
  async stopImmediate(): Promise<void> {
    await this.#end(this.#options.immediateSignal);
  }

  /** Ends the server for good and removes its folder. May be called twice. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#end(this.#options.fastSignal);
    process.off('exit', this.#killAtExit);
    this.#options.afterStop?.();
    this.#removeFolder();
  }

  #removeFolder(): void {
    rmSync(this.#options.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  #spawn(): void {
    const { command, user, folder } = this.#options;
    const log = openSync(join(folder, 'output.log'), 'a');
    const child = spawn(command.file, command.args, {
      cwd: folder,
      env: { ...process.env, ...command.env },
      stdio: ['ignore', log, log],
      ...user,
    });
    this.#child = child;
    this.#exited = new Promise((resolve) => {
      const gone = (): void => {
        if (this.#child === child) this.#child = null;
        resolve();
      };
      child.once('exit', gone);
      child.once('error', gone);
    });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.pid === null) return;
    // A paused process would not see any other signal.
    this.#signalAll('SIGCONT');
    send(this.pid, signal);
    const isOver = await Promise.race([
      this.#exited.then(() => true),
      sleep(STOP_TIMEOUT_MS, false, { ref: false }),
    ]);
    if (!isOver) await this.kill();
  }

  #signalAll(signal: NodeJS.Signals): void {
    if (this.pid === null) return;
    for (const pid of [this.pid, ...childrenOf(this.pid)]) send(pid, signal);
  }

  #logTail(): string {
    try {
      return readFileSync(join(this.#options.folder, 'output.log'), 'utf8')
        .trimEnd()
        .split('\n')
        .slice(-LOG_LINES_SHOWN)
        .join('\n');
    } catch {
      return '';
    }
  }
}

/** Below those that a system takes for the connections that it opens: one of those may take a free port before its server does. */
const PORTS = { min: 24_000, max: 32_000 };

/** A free port. */
export async function freePort(): Promise<number> {
  const port = randomInt(PORTS.min, PORTS.max);
  const server = createServer().listen(port, '127.0.0.1');
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('listening', () => resolve(true)).once('error', () => resolve(false));
  });
  if (!isFree) return freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** An empty folder that belongs to `user`. */
export function temporaryFolder(name: string, { uid, gid }: ServerUser): string {
  const folder = mkdtempSync(join(tmpdir(), `barid-${name}-`));
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  return folder;
}

/** Servers do not run as root: the first of these users that exists runs them instead. */
export function ordinaryUser(names: readonly string[]): ServerUser {
  if (process.getuid?.() !== 0) return {};
  for (const name of names) {
    try {
      const idOf = (flag: string): number => Number(execFileSync('id', [flag, name], QUIETLY));
      return { uid: idOf('-u'), gid: idOf('-g') };
    } catch {
      // No such user: the next one is tried.
    }
  }
  throw new Error(`None of these users exists to run it: ${names.join(', ')}`);
}

const QUIETLY = { encoding: 'utf8' as const, stdio: ['ignore' as const, 'pipe' as const, 'ignore' as const] };

function childrenOf(pid: number): readonly number[] {
  try {
    return execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], QUIETLY)
      .split('\n')
      .map(Number)
      .filter((child) => child > 0);
  } catch {
    return [];
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already.
  }
}
