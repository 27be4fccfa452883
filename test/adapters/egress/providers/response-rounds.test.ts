import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { setImmediate as eventLoopRound } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import {
  PROVIDER_RESPONSES_MS_MAX,
  ResponseRounds,
} from '../../../../src/adapters/egress/providers/response-rounds.ts';
import { UndiciProviderHttp } from '../../../../src/adapters/egress/providers/undici-provider-http.ts';
import { PROVIDER_RESPONSE_BYTES_MAX } from '../../../../src/application/ports/provider-http.ts';
import { portOf } from '../../../support/port-of.ts';

/** Rounds whose clock is moved by hand, and what was handed on: by round of the event loop. */
function aWorld() {
  const clock = { ms: 0 };
  const byRound = new Map<number, string[]>();
  let round = 0;
  let isOver = false;
  const count = async (): Promise<void> => {
    while (!isOver) {
      await eventLoopRound();
      round += 1;
    }
  };
  void count();
  onTestFinished(() => {
    isOver = true;
  });
  return {
    responses: new ResponseRounds(() => clock.ms),
    handed: () => [...byRound.values()],
    /** Takes so many milliseconds, as the reading of a response does. */
    read(name: string, ms: number): void {
      clock.ms += ms;
      byRound.set(round, [...(byRound.get(round) ?? []), name]);
    },
    /** Resolves when so many were read. */
    async done(count: number): Promise<void> {
      while ([...byRound.values()].flat().length < count) await eventLoopRound();
    },
  };
}

it('responses that take no time are handed on at once', () => {
  const world = aWorld();
  for (let index = 0; index < 500; index += 1) world.responses.add('a', () => world.read('a', 0));
  expect(world.handed()[0]).toHaveLength(500);
});

it('a round of the event loop has a bounded time of responses, what follows their hand-over included', async () => {
  const world = aWorld();
  const ms = 2;
  for (let index = 0; index < 100; index += 1) {
    world.responses.add(
      'a',
      () =>
        void Promise.resolve()
          .then(() => Promise.resolve())
          .then(() => world.read('a', ms)),
    );
    // A socket at a time has its response: what it led to is done before the next.
    await Promise.resolve().then(() => Promise.resolve());
  }
  await world.done(100);
  const perRound = world.handed().map(({ length }) => length);
  expect(Math.max(...perRound)).toBeLessThanOrEqual(Math.ceil(PROVIDER_RESPONSES_MS_MAX / ms));
});

it('a provider whose responses wait holds up no other for longer than one of them takes', async () => {
  const world = aWorld();
  const add = (name: string): void =>
    world.responses.add(name, () => world.read(name, PROVIDER_RESPONSES_MS_MAX));
  for (let index = 0; index < 50; index += 1) add('a');
  add('b');
  await world.done(51);
  expect(world.handed().flat().indexOf('b')).toBe(2);
  expect(world.handed()).toHaveLength(51);
});

it('large responses that a provider completes together are handed on in many rounds', async () => {
  const COUNT = 40;
  const world = aWorld();
  const held: ServerResponse[] = [];
  const peer = createServer((_, response) => {
    response.write('x'.repeat(PROVIDER_RESPONSE_BYTES_MAX - 1));
    held.push(response);
    if (held.length === COUNT) for (const each of held) each.end('x');
  }).listen(0, '127.0.0.1');
  await once(peer, 'listening');
  const http = new UndiciProviderHttp({ responses: world.responses });
  onTestFinished(async () => {
    await http.close();
    peer.close();
  });
  const url = `http://127.0.0.1:${portOf(peer)}/`;
  const sent = Array.from({ length: COUNT }, async () => {
    const response = await http.send({ method: 'GET', url });
    world.read(response.kind, PROVIDER_RESPONSES_MS_MAX);
  });
  await Promise.all(sent);
  expect(world.handed()).toEqual(Array.from({ length: COUNT }, () => ['responded']));
});
