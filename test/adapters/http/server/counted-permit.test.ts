import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import type { KnownKeys } from '../../../../src/adapters/http/server/known-keys.ts';
import { LoadShedder } from '../../../../src/adapters/http/server/load-shedder.ts';
import { RequestQueues } from '../../../../src/adapters/http/server/request-queues.ts';
import { SERVER_LIMITS } from '../../../../src/adapters/http/server-limits.ts';

function shedderWith(knownKeys: Pick<KnownKeys, 'note'>): LoadShedder {
  return new LoadShedder({ ...SERVER_LIMITS, requestsPerAddressMax: 2 }, () => '127.0.0.1', {
    queues: new RequestQueues({ roundMs: (msMax) => msMax }),
    knownKeys,
  });
}

const request = new IncomingMessage(new Socket());

it('a permit that ends twice takes nothing from the others of its address', () => {
  const shedder = shedderWith({ note: () => {} });
  const first = shedder.begin(request);
  shedder.begin(request);
  first?.end();
  first?.end();
  expect(shedder.begin(request)).not.toBeNull();
  expect(shedder.begin(request)).toBeNull();
});

it('a permit that is claimed for a project tells whose key the request had, when it had one', () => {
  const noted: string[] = [];
  const shedder = shedderWith({ note: (apiKey, projectId) => noted.push(`${apiKey} of ${projectId}`) });
  shedder.begin(request)?.claimFor('project a', 'key a');
  shedder.begin(request)?.claimFor('project b', null);
  expect(noted).toEqual(['key a of project a']);
});
