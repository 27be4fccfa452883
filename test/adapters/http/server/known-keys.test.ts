import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { beforeEach, expect, it } from 'vitest';
import { KNOWN_KEYS_MAX, KnownKeys } from '../../../../src/adapters/http/server/known-keys.ts';

const [KEY, OTHER_KEY] = ['a', 'b'].map((digit) => `sk_live_${digit.repeat(40)}`) as [string, string];

let keys: KnownKeys;

beforeEach(() => {
  keys = new KnownKeys(() => '127.0.0.1');
});

function requestWith(authorization?: string): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  if (authorization !== undefined) request.headers.authorization = authorization;
  return request;
}

it('a request is known as one of a project by a key that was admitted before, and by no other', () => {
  const queueKeysOf = (...headers: readonly (string | undefined)[]) =>
    headers.map((header) => keys.queueKeyOf(requestWith(header)));
  const unknown = { key: '127.0.0.1', group: 'unknown' };
  expect(queueKeysOf(`Bearer ${KEY}`, undefined)).toEqual([unknown, unknown]);
  keys.note(KEY, 'project a');
  expect(queueKeysOf(`Bearer ${KEY}`)).toEqual([{ key: 'project a', group: 'project' }]);
  expect(queueKeysOf(`Bearer ${OTHER_KEY}`, '', 'Bearer x', KEY, undefined)).toEqual(Array(5).fill(unknown));
});

it('a key is one however it is spelled, and the key that was shown first is forgotten for one too many', () => {
  const keyOf = (number: number) => `sk_dev_${number.toString(16).padStart(40, '0')}`;
  const groupOf = (key: string) => keys.queueKeyOf(requestWith(`Bearer ${key}`)).group;
  for (let number = 1; number < KNOWN_KEYS_MAX; number += 1) keys.note(keyOf(number), 'a');
  keys.note(KEY, 'a');
  const spellings = ['Bearer ', 'bearer ', 'BEARER    '].map((scheme) => requestWith(scheme + KEY));
  expect(spellings.map((each) => keys.queueKeyOf(each).group)).toEqual(Array(3).fill('project'));
  expect([keyOf(1), KEY].map(groupOf)).toEqual(['project', 'project']);
  keys.note(OTHER_KEY, 'a');
  expect([keyOf(1), keyOf(2), OTHER_KEY].map(groupOf)).toEqual(['unknown', 'project', 'project']);
});
