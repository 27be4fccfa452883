import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { SERVER_LIMITS } from '../../../../src/adapters/http/limits.ts';
import { KNOWN_KEYS_MAX, LoadShedder } from '../../../../src/adapters/http/server/load-shedder.ts';
import { RequestQueues } from '../../../../src/adapters/http/server/request-queues.ts';

it('a permit that ends twice takes nothing from the others of its address', () => {
  const shedder = new LoadShedder(
    { ...SERVER_LIMITS, requestsPerAddressMax: 2 },
    () => '127.0.0.1',
    new RequestQueues({ roundMs: (msMax) => msMax }),
  );
  const request = new IncomingMessage(new Socket());
  const first = shedder.begin(request);
  shedder.begin(request);
  first?.end();
  first?.end();
  expect(shedder.begin(request)).not.toBeNull();
  expect(shedder.begin(request)).toBeNull();
});

it('a request is known as one of a project by a key that was admitted before, and by no other', () => {
  const shedder = new LoadShedder(
    SERVER_LIMITS,
    () => '127.0.0.1',
    new RequestQueues({ roundMs: (msMax) => msMax }),
  );
  const withKey = (authorization?: string): IncomingMessage => {
    const request = new IncomingMessage(new Socket());
    if (authorization !== undefined) request.headers.authorization = authorization;
    return request;
  };
  const unknown = { key: '127.0.0.1', group: 'unknown' };
  expect([withKey('Bearer a'), withKey()].map((each) => shedder.callerOf(each))).toEqual([unknown, unknown]);
  const permit = shedder.begin(withKey('Bearer a'));
  expect(shedder.callerOf(withKey('Bearer a'))).toEqual(unknown);
  permit?.claimFor('project a');
  expect(shedder.callerOf(withKey('Bearer a'))).toEqual({ key: 'project a', group: 'project' });
  expect([withKey('Bearer b'), withKey()].map((each) => shedder.callerOf(each))).toEqual([unknown, unknown]);
});

it('so many keys are known, and the one that was shown first is forgotten for one more', () => {
  const shedder = new LoadShedder(
    SERVER_LIMITS,
    () => '127.0.0.1',
    new RequestQueues({ roundMs: (msMax) => msMax }),
  );
  const request = new IncomingMessage(new Socket());
  const groupOf = (key: number) => {
    request.headers.authorization = `Bearer ${key}`;
    return shedder.callerOf(request).group;
  };
  for (let key = 0; key <= KNOWN_KEYS_MAX; key += 1) {
    request.headers.authorization = `Bearer ${key}`;
    shedder.noteKey(request, 'a');
  }
  expect([0, 1, KNOWN_KEYS_MAX].map(groupOf)).toEqual(['unknown', 'project', 'project']);
});
