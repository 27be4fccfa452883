import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ClientDisconnected } from '../../../../src/adapters/http/replies/http-error.ts';
import { ok } from '../../../../src/adapters/http/replies/http-reply.ts';
import { behind, type Gate } from '../../../../src/adapters/http/routing/gate.ts';
import type { RequestPermit } from '../../../../src/adapters/http/routing/request-permit.ts';

const open: Gate<null> = (_caller, work) => work();

/** A request that the gate lets through at once, and what begins the round that it waits for. */
function requestAtGate({ hasLeft } = { hasLeft: false }) {
  const events: string[] = [];
  const socket = { destroyed: hasLeft };
  let beginRound = (): void => undefined;
  const permit = {
    suspend: () => void events.push('suspend'),
    resume: () => void events.push('resume'),
    waitForRound: () => {
      events.push('wait');
      return new Promise<void>((resolve) => {
        beginRound = resolve;
      });
    },
  };
  const admitted = { caller: null, request: { socket }, permit: permit as unknown as RequestPermit };
  const reply = behind(open, admitted as never, async () => {
    events.push('work');
    return ok({});
  });
  return { events, socket, reply, beginRound: () => beginRound() };
}

it('a request that a gate lets through works in a round that has time for it, and takes no place before', async () => {
  const { events, reply, beginRound } = requestAtGate();
  await setImmediate();
  expect(events).toEqual(['suspend', 'wait']);
  beginRound();
  expect(await reply).toMatchObject({ status: 200 });
  expect(events).toEqual(['suspend', 'wait', 'resume', 'work']);
});

it('nothing is done for a caller who leaves while its request waits for a round', async () => {
  const { events, socket, reply, beginRound } = requestAtGate();
  await setImmediate();
  socket.destroyed = true;
  beginRound();
  await expect(reply).rejects.toThrow(ClientDisconnected);
  expect(events).toEqual(['suspend', 'wait']);
});

it('a caller who left while its request was at the gate takes no time of a round', async () => {
  const { events, reply } = requestAtGate({ hasLeft: true });
  await expect(reply).rejects.toThrow(ClientDisconnected);
  expect(events).toEqual(['suspend']);
});
