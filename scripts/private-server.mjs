import { execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time for a server to answer after it was started, also when it must recover first. */
const START_TIMEOUT_MS = 60_000;

/** Time for a server to stop by itself before it is killed. */
const STOP_TIMEOUT_MS = 10_000;

const POLL_MS = 50;

/** Lines of a server's log that are shown when it does not start. */
const LOG_LINES_SHOWN = 15;

/**
 * A server of this machine that runs for one program only: in a temporary folder, as an ordinary user, and gone
 * with the program. It can be killed and started again on the same data.
 */
export class PrivateServer {
  #options;
  #child = null;
  #exited = Promise.resolve();
  #isStopped = false;
  #killAtExit = () => {
    this.#signalAll('SIGKILL');
    this.#removeFolder();
  };

  /**
   * @param {object} options
   * @param {string} options.url where clients find it
   * @param {string} options.folder its temporary folder
   * @param {{ file: string, args: string[], env?: Record<string, string> }} options.command
   * @param {{ uid?: number, gid?: number }} options.user
   * @param {() => Promise<void>} options.probe rejects while it does not answer
   * @param {NodeJS.Signals} options.fastSignal ends it in good order
   * @param {NodeJS.Signals} options.immediateSignal ends it at once, by its own hand
   * @param {() => void} [options.afterStop] removes what else it left
   */
  constructor(options) {
    this.#options = options;
  }

  get url() {
    return this.#options.url;
  }

  /** The server's main process, or null when it does not run. */
  get pid() {
    return this.#child?.pid ?? null;
  }

  /** Every process of the server, the main one first. */
  pids() {
    return this.pid === null ? [] : [this.pid, ...childrenOf(this.pid)];
  }

  /** Starts the server on the data it has and resolves once it answers. */
  async start() {
    if (this.#isStopped) throw new Error('The server was stopped for good');
    process.off('exit', this.#killAtExit).once('exit', this.#killAtExit);
    const deadlineMs = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      // A start fails while processes of a killed predecessor hold its memory or port: it is tried again.
      if (this.#child === null) this.#spawn();
      const problem = await this.#options.probe().then(
        () => null,
        (error) => error,
      );
      if (problem === null && this.#child !== null) return;
      if (Date.now() > deadlineMs) {
        await this.kill('SIGKILL');
        throw new Error(`${this.#options.command.file} does not start:\n${this.#logTail()}`, {
          cause: problem,
        });
      }
      await sleep(POLL_MS);
    }
  }

  /** Sends a signal to every process of the server; SIGKILL resolves once they are gone. */
  async kill(signal = 'SIGKILL') {
    this.#signalAll(signal);
    if (signal === 'SIGKILL') await this.#exited;
  }

  /** Lets the server end at once, without saying goodbye to its clients. */
  async stopImmediate() {
    await this.#end(this.#options.immediateSignal);
  }

  /** Ends the server if it runs and starts it again on the same data and address. */
  async restart() {
    await this.#end(this.#options.fastSignal);
    await this.start();
  }

  /** Ends the server for good and removes its folder. May be called twice. */
  async stop() {
    this.#isStopped = true;
    await this.#end(this.#options.fastSignal);
    process.off('exit', this.#killAtExit);
    this.#options.afterStop?.();
    this.#removeFolder();
  }

  #removeFolder() {
    rmSync(this.#options.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  #spawn() {
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
      const gone = () => {
        if (this.#child === child) this.#child = null;
        resolve();
      };
      child.once('exit', gone);
      child.once('error', gone);
    });
  }

  async #end(signal) {
    if (this.pid === null) return;
    // A paused process would not see any other signal.
    this.#signalAll('SIGCONT');
    send(this.pid, signal);
    const isOver = await Promise.race([
      this.#exited.then(() => true),
      sleep(STOP_TIMEOUT_MS, false, { ref: false }),
    ]);
    if (!isOver) await this.kill('SIGKILL');
  }

  #signalAll(signal) {
    for (const pid of this.pids()) send(pid, signal);
  }

  #logTail() {
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

/** A port nobody listens on at the moment. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** An empty folder that belongs to `user`. */
export function temporaryFolder(name, { uid, gid }) {
  const folder = mkdtempSync(join(tmpdir(), `barid-${name}-`));
  if (uid !== undefined) chownSync(folder, uid, gid);
  return folder;
}

/** Servers refuse to run as root: then the first of these users that exists stands in. */
export function ordinaryUser(names) {
  if (process.getuid?.() !== 0) return {};
  for (const name of names) {
    try {
      const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, name], quietly)));
      return { uid, gid };
    } catch {
      // No such user: the next one is tried.
    }
  }
  throw new Error(`None of these users exists to run it: ${names.join(', ')}`);
}

const quietly = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };

function childrenOf(pid) {
  try {
    return execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], quietly)
      .split('\n')
      .map(Number)
      .filter((child) => child > 0);
  } catch {
    return [];
  }
}

function send(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already.
  }
}
