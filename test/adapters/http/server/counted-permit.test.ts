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

const [KEY, OTHER_KEY] = ['a', 'b'].map((digit) => `sk_live_${digit.repeat(40)}`) as [string, string];

const anyShedder = () =>
  new LoadShedder(SERVER_LIMITS, () => '127.0.0.1', new RequestQueues({ roundMs: (msMax) => msMax }));

function requestWith(authorization?: string): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  if (authorization !== undefined) request.headers.authorization = authorization;
  return request;
}

it('a request is known as one of a project by a key that was admitted before, and by no other', () => {
  const shedder = anyShedder();
  const keysOf = (...headers: readonly (string | undefined)[]) =>
    headers.map((header) => shedder.queueKeyOf(requestWith(header)));
  const unknown = { key: '127.0.0.1', group: 'unknown' };
  const permit = shedder.begin(requestWith(`Bearer ${KEY}`));
  expect(keysOf(`Bearer ${KEY}`, undefined)).toEqual([unknown, unknown]);
  permit?.claimFor('project a', KEY);
  shedder.begin(requestWith())?.claimFor('project b', null);
  expect(keysOf(`Bearer ${KEY}`)).toEqual([{ key: 'project a', group: 'project' }]);
  expect(keysOf(`Bearer ${OTHER_KEY}`, '', 'Bearer x', KEY, undefined)).toEqual(Array(5).fill(unknown));
});

it('a key is one however it is spelled, and the key that was shown first is forgotten for one too many', () => {
  const shedder = anyShedder();
  const keyOf = (number: number) => `sk_dev_${number.toString(16).padStart(40, '0')}`;
  const groupOf = (key: string) => shedder.queueKeyOf(requestWith(`Bearer ${key}`)).group;
  for (let number = 1; number < KNOWN_KEYS_MAX; number += 1) shedder.noteKey(keyOf(number), 'a');
  shedder.noteKey(KEY, 'a');
  const spellings = ['Bearer ', 'bearer ', 'BEARER    '].map((scheme) => requestWith(scheme + KEY));
  expect(spellings.map((each) => shedder.queueKeyOf(each).group)).toEqual(Array(3).fill('project'));
  expect([keyOf(1), KEY].map(groupOf)).toEqual(['project', 'project']);
  shedder.noteKey(OTHER_KEY, 'a');
  expect([keyOf(1), keyOf(2), OTHER_KEY].map(groupOf)).toEqual(['unknown', 'project', 'project']);
});
