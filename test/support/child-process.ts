import { fork } from 'node:child_process';

/** What a child process can be asked for, by name: the type of the handlers it serves. */
export type Handlers = Readonly<Record<string, (value: never) => unknown>>;

type Asked<Served extends Handlers, Name extends keyof Served> = Promise<Awaited<ReturnType<Served[Name]>>>;

/** A program in a process of its own that listens on a port and can be asked for things. */
export interface Child<Served extends Handlers = Handlers> {
  /** 0 when the program does not listen. */
  readonly port: number;
  /** Resolves when the process is gone, with its exit code or the signal that ended it. */
  readonly end: Promise<number | NodeJS.Signals | null>;
  isOver(): boolean;
  /** Resolves with the result of the child's handler; rejects when the process ends before. */
  ask<Name extends keyof Served & string>(
    name: Name,
    ...value: Parameters<Served[Name]>
  ): Asked<Served, Name>;
  /** Resolves when the process is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** For signals that do not end the process. */
  signal(signal: NodeJS.Signals): void;
  /** Ends the process in good order and resolves when it is gone. */
  stop(): Promise<void>;
}

export interface ChildOptions {
  readonly execArgv?: readonly string[];
  /** A file descriptor for what the process prints; the present output when absent. */
  readonly output?: number;
}

interface Request {
  readonly id: number;
  readonly name: string;
  readonly value: unknown;
}

type Message =
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown };

/** Starts a compiled program that calls `serve`, and resolves once it has. */
export async function startChild<Served extends Handlers>(
  file: URL,
  environment: NodeJS.ProcessEnv = {},
  { execArgv = [], output }: ChildOptions = {},
): Promise<Child<Served>> {
  const printed = output ?? 'inherit';
  const child = fork(file, {
    execArgv: [...execArgv],
    env: { ...process.env, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', printed, printed, 'ipc'],
  });
  const end = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? code));
  });
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  let isOver = false;
  let requests = 0;
  const ready = new Promise<number>((resolve, reject) => {
    child.on('message', (message: Message) => {
      if (message.kind === 'ready') return resolve(message.port);
      waiting.get(message.id)?.resolve(message.result);
      waiting.delete(message.id);
    });
    end.then((reason) => {
      isOver = true;
      const error = new Error(`${file.pathname} ended with ${reason}`);
      reject(error);
      for (const each of waiting.values()) each.reject(error);
    });
  });
  const ask = (name: string, value?: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (isOver) return reject(new Error(`${file.pathname} has ended`));
      requests += 1;
      waiting.set(requests, { resolve, reject });
      child.send({ id: requests, name, value } satisfies Request);
    });
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await end;
  };
  return {
    port: await ready,
    end,
    isOver: () => isOver,
    ask: ask as Child<Served>['ask'],
    kill,
    signal: (signal) => {
      child.kill(signal);
    },
    stop: () => kill('SIGTERM'),
  };
}

/** The child's side: tells the parent the port, and runs a handler for each request. */
export function serve(port: number, handlers: Handlers = {}): void {
  const tell = (message: Message): void => {
    process.send?.(message);
  };
  process.on('message', async ({ id, name, value }: Request) => {
    const handler = handlers[name];
    if (handler === undefined) throw new Error(`Nothing is served as ${name}`);
    tell({ kind: 'result', id, result: await handler(value as never) });
  });
  // A parent that ended by mistake leaves no process behind.
  process.on('disconnect', () => process.exit());
  tell({ kind: 'ready', port });
}
