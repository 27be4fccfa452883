import { beforeEach, expect, it } from 'vitest';
import type { CallbackContent } from '../../../src/application/ports/provider-callback.ts';
import { ReceiveCallbacks } from '../../../src/application/receipts/receive-callbacks.ts';
import { NOW } from '../../support/builders.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const REQUEST = { method: 'POST', query: new URLSearchParams(), headers: {}, body: Buffer.of() } as const;

let content: CallbackContent;
let logger: RecordingLogger;
let receiveCallbacks: ReceiveCallbacks;

beforeEach(() => {
  logger = new RecordingLogger();
  receiveCallbacks = new ReceiveCallbacks({
    providerCallbacks: { of: (name) => (name === 'meta' ? { read: async () => content } : null) },
    recordProviderEvents: { execute: async () => {} },
    clock: { now: () => NOW },
    logger,
  });
});

it('a callback that is not from its provider is logged once a minute', async () => {
  content = { kind: 'forged' };
  expect(await receiveCallbacks.execute('meta', REQUEST)).toEqual({ kind: 'forged' });
  await receiveCallbacks.execute('meta', REQUEST);
  expect(logger.entries).toEqual([
    { level: 'warn', event: 'provider_callback_rejected', fields: { provider: 'meta', count: 1 } },
  ]);
});

it('a callback to an unknown provider is not logged', async () => {
  expect(await receiveCallbacks.execute('other', REQUEST)).toEqual({ kind: 'unknown-provider' });
  expect(logger.entries).toEqual([]);
});

it.each<[string, CallbackContent, number]>([
  ['makes no sense', { kind: 'unreadable', problem: 'no JSON' }, 1],
  ['has three malformed items', { kind: 'events', events: [], malformed: 3 }, 3],
])('a callback that %s is logged as malformed', async (_, given, count) => {
  content = given;
  await receiveCallbacks.execute('meta', REQUEST);
  expect(logger.entries).toEqual([
    { level: 'warn', event: 'provider_callback_malformed', fields: { provider: 'meta', count } },
  ]);
});
