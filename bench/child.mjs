import { fork } from 'node:child_process';

/**
 * Starts one of bench/servers in a process of its own. Resolves once it said its port; `ask(name, value)`
 * sends it a question and resolves with the answer, or rejects when the process ends before. `output` is a file
 * descriptor for what it prints.
 */
export async function startChild(script, environment = {}, { execArgv = [], output = 'inherit' } = {}) {
  const child = fork(new URL(script, import.meta.url), {
    execArgv,
    env: { ...process.env, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', output, output, 'ipc'],
  });
  const end = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
  const waiting = new Map();
  let isOver = false;
  let count = 0;
  const ready = new Promise((resolve, reject) => {
    child.on('message', (message) => {
      if (message.ready) resolve(message.ready);
      else waiting.get(message.id)?.resolve(message.answer);
    });
    end.then((reason) => {
      isOver = true;
      const error = new Error(`${script} ended with ${reason}`);
      reject(error);
      for (const each of waiting.values()) each.reject(error);
    });
  });
  const kill = async (signal) => {
    child.kill(signal);
    await end;
  };
  const { port } = await ready;
  return {
    port,
    pid: child.pid,
    /** Resolves when it is over, with its exit code or the signal that ended it. */
    end,
    isOver: () => isOver,
    ask: (question, value) =>
      new Promise((resolve, reject) => {
        if (isOver) return reject(new Error(`${script} has ended`));
        count += 1;
        waiting.set(count, { resolve, reject });
        child.send({ id: count, question, value });
      }),
    /** Resolves when the process is gone. */
    kill,
    /** For signals that do not end it. */
    signal: (signal) => child.kill(signal),
    stop: () => kill('SIGTERM'),
  };
}

/** The other side: says the port and answers questions. */
export function serve(port, questions = {}) {
  process.on('message', async ({ id, question, value }) => {
    process.send({ id, answer: await questions[question](value) });
  });
  // A bench that ended by mistake leaves nobody behind.
  process.on('disconnect', () => process.exit());
  process.send({ ready: { port } });
}
