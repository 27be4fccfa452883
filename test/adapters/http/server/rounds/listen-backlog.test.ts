import { createServer, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ListenBacklog } from '../../../../../src/adapters/http/server/rounds/listen-backlog.ts';
import {
  ACCEPTING_MS,
  BACKLOG_ROUND_MS,
  BACKLOG_WORK_MS,
} from '../../../../../src/adapters/http/server-limits.ts';

const FULL_MS = 10;
let now: number;

beforeEach(() => {
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});

afterEach(() => {
  vi.restoreAllMocks();
});

function aBacklog() {
  const server = createServer();
  const backlog = new ListenBacklog(server);
  return { backlog, accept: () => server.emit('connection', new Socket()) };
}

it('rounds are short in the round in which a connection was accepted and in the next, and not after', async () => {
  const { backlog, accept } = aBacklog();
  expect(backlog.roundMs(FULL_MS)).toBe(FULL_MS);
  accept();
  expect(backlog.roundMs(FULL_MS)).toBe(BACKLOG_ROUND_MS);
  expect(backlog.roundMs(0.1)).toBe(0.1);
  await setImmediate();
  expect(backlog.roundMs(FULL_MS)).toBe(BACKLOG_ROUND_MS);
  await setImmediate();
  expect(backlog.roundMs(FULL_MS)).toBe(FULL_MS);
});

it('rounds that only accept and rounds with other work alternate while each round accepts a connection', async () => {
  const { backlog, accept } = aBacklog();
  const nextRound = async (ms: number) => {
    await setImmediate();
    now += ms;
    accept();
  };
  accept();
  await nextRound(0);
  expect(backlog.roundMs(FULL_MS)).toBe(0);
  await nextRound(ACCEPTING_MS - 0.1);
  expect(backlog.roundMs(FULL_MS)).toBe(0);
  await nextRound(0.1);
  expect(backlog.roundMs(FULL_MS)).toBe(BACKLOG_ROUND_MS);
  await nextRound(BACKLOG_WORK_MS - 0.1);
  expect(backlog.roundMs(FULL_MS)).toBe(BACKLOG_ROUND_MS);
  await nextRound(0.1);
  expect(backlog.roundMs(FULL_MS)).toBe(0);
  await setImmediate();
  await setImmediate();
  expect(backlog.roundMs(FULL_MS)).toBe(FULL_MS);
});

it('new connections come fast when more than twenty come in a tenth of a second, and for a tenth of a second after it', () => {
  const { backlog, accept } = aBacklog();
  for (let count = 0; count < 20; count += 1) accept();
  expect(backlog.connectionsComeFast).toBe(false);
  accept();
  expect(backlog.connectionsComeFast).toBe(true);
  now = 199;
  expect(backlog.connectionsComeFast).toBe(true);
  now = 200;
  expect(backlog.connectionsComeFast).toBe(false);
});
