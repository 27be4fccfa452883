import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * Does what the README tells a newcomer to do: `npm start`, the printed curl line, tracking, a number that
 * falls back, and SIGTERM. On a database and a port of its own; ends with code 1 at the first surprise.
 */
const READY_MS = 120_000;
const DELIVERED_MS = 20_000;
const STOPPED_MS = 20_000;
const POLL_MS = 100;

/** whatsapp and telegram not available, sms delivers. */
const FALLBACK_NUMBER = '9990000000009';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = await mkdtemp(join(tmpdir(), 'barid-smoke-'));
const npm = spawn('npm', ['start', '--silent'], {
  cwd: root,
  env: { ...process.env, PORT: '0', DATABASE_URL: `sqlite:${join(folder, 'barid.db')}` },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const exited = once(npm, 'exit').then(([code, signal]) => code ?? signal);

try {
  const { url, key, curl } = await within(READY_MS, 'the printed lines', readBanner(npm.stdout));

  const { stdout } = await promisify(execFile)('bash', ['-c', `${curl} -w '\\n%{http_code}'`]);
  const [body, status] = stdout.trimEnd().split('\n');
  expect(status, '200', 'the printed curl line');
  const { channelFlow } = await delivered(url, key, JSON.parse(body).smsId);
  expect(flowOf(channelFlow), 'whatsapp+', 'the channel of the first message');

  const response = await fetch(`${url}/sms`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      phoneNumber: FALLBACK_NUMBER,
      smsType: 'verification',
      verificationCode: '123456',
      provider: 'whatsapp-telegram-sms',
    }),
  });
  expect(response.status, 200, 'a send to a number that falls back');
  const fallen = await delivered(url, key, (await response.json()).smsId);
  expect(flowOf(fallen.channelFlow), 'whatsapp- telegram- sms+', 'the fallback');

  process.kill(await programOf(npm.pid), 'SIGTERM');
  expect(await within(STOPPED_MS, 'the end after SIGTERM', exited), 0, 'the exit code after SIGTERM');
  console.log('smoke: started, sent, fell back and stopped');
} catch (error) {
  console.error(`smoke: ${error.message}`);
  process.exitCode = 1;
  const program = await programOf(npm.pid).catch(() => null);
  if (npm.exitCode === null && program !== null) process.kill(program, 'SIGKILL');
} finally {
  await exited;
  await rm(folder, { recursive: true, force: true });
}

/** The three lines a demo start prints. */
async function readBanner(stdout) {
  const found = {};
  for await (const line of createInterface({ input: stdout })) {
    console.log(line);
    found.url ??= /^Barid listens on (\S+)/.exec(line)?.[1];
    found.key ??= /^key: (\S+)/.exec(line)?.[1];
    found.curl ??= /^curl .*/.exec(line)?.[0];
    if (found.url && found.key && found.curl) break;
  }
  stdout.resume();
  if (!found.curl) throw new Error('the service ended before it printed a curl line');
  return found;
}

async function delivered(url, key, smsId) {
  const deadline = performance.now() + DELIVERED_MS;
  for (;;) {
    const response = await fetch(`${url}/sms/track/${smsId}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const message = await response.json();
    if (message.status === 'delivered') return message;
    if (performance.now() > deadline) throw new Error(`${smsId} is still ${message.status}`);
    await sleep(POLL_MS);
  }
}

function flowOf(channelFlow) {
  return channelFlow
    .filter(({ tried }) => tried)
    .map(({ channel, success }) => `${channel}${success ? '+' : '-'}`)
    .join(' ');
}

/** npm runs a shell that runs the program: the last of the line is the one that takes the signal. */
async function programOf(pid) {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim();
  const [child] = children.split(' ');
  return child === undefined || child === '' ? pid : programOf(Number(child));
}

async function within(ms, what, promise) {
  const timer = new AbortController();
  const late = sleep(ms, null, { signal: timer.signal }).then(() => {
    throw new Error(`${what} did not come in ${ms / 1000} s`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer.abort();
    late.catch(() => {});
  }
}

function expect(actual, expected, what) {
  if (actual !== expected) throw new Error(`${what}: expected ${expected}, got ${actual}`);
  console.log(`ok  ${what}: ${actual}`);
}
