import { fork } from 'node:child_process';

/**
 * Starts one of bench/servers in a process of its own. Resolves once it said its port; `ask(name, value)`
 * sends it a question and resolves with the answer.
 */
export async function startChild(script, environment = {}, execArgv = []) {
  const child = fork(new URL(script, import.meta.url), {
    execArgv,
    env: { ...process.env, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const answers = new Map();
  let count = 0;
  const ready = new Promise((resolve, reject) => {
    child.on('message', (message) => {
      if (message.ready) resolve(message.ready);
      else answers.get(message.id)?.(message.answer);
    });
    exited.then((code) => reject(new Error(`${script} ended with code ${code}`)));
  });
  const { port } = await ready;
  return {
    port,
    pid: child.pid,
    ask: (question, value) =>
      new Promise((resolve) => {
        count += 1;
        answers.set(count, resolve);
        child.send({ id: count, question, value });
      }),
    kill: async (signal) => {
      child.kill(signal);
      await exited;
    },
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** The other side: says the port and answers questions. */
export function serve(port, questions = {}) {
  process.on('message', async ({ id, question, value }) => {
    process.send({ id, answer: await questions[question](value) });
  });
  process.send({ ready: { port } });
}
