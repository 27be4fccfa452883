import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { ObservedReply } from '../../../../src/adapters/http/server/writing/observed-reply.ts';
import { documentedReplies } from '../../../support/documented-replies.ts';
import { HttpWorld } from '../http-world.ts';

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-request-id': 'request-1',
};
const REJECTED = { ...HEADERS, 'x-error-code': 'validation-failed' };

const INFO: ObservedReply = {
  method: 'GET',
  route: '/info',
  status: 200,
  headers: HEADERS,
  body: '{"projectName":"Demo","credit":5}',
};
const LIMITED: ObservedReply = {
  method: 'POST',
  route: '/sms',
  status: 429,
  headers: { ...REJECTED, 'retry-after': '60' },
  body: '{"message":"Rate limit exceeded","waitMinutes":1,"maxRequests":5,"timeWindowMinutes":10}',
};
const TRACKED = '/sms/track/:smsId';

let world: HttpWorld;
let check: (seen: ObservedReply) => void;
beforeAll(() => {
  world = new HttpWorld();
  check = documentedReplies(world.http.openApi);
});
afterAll(() => world.close());

describe('documented replies', () => {
  test.each<[string, ObservedReply]>([
    ['a 200', INFO],
    ['HEAD', { ...INFO, method: 'HEAD', body: '' }],
    ['a limit', LIMITED],
    [
      'a 404 of a route',
      { ...INFO, route: TRACKED, status: 404, headers: REJECTED, body: '{"message":"SMS not found"}' },
    ],
    [
      'a 404 of no route',
      { ...INFO, route: null, status: 404, headers: REJECTED, body: '{"message":"Not found"}' },
    ],
    [
      'a 405',
      {
        ...INFO,
        method: 'PUT',
        status: 405,
        headers: { ...REJECTED, allow: 'GET' },
        body: '{"message":"no"}',
      },
    ],
  ])('a documented reply passes the check: %s', (_name, seen) => {
    expect(() => check(seen)).not.toThrow();
  });
});

describe('planted violations', () => {
  test.each<[string, ObservedReply, string]>([
    ['a status', { ...INFO, status: 201 }, 'not documented'],
    [
      'a status of another route',
      { ...INFO, status: 429, headers: LIMITED.headers, body: LIMITED.body },
      'not documented',
    ],
    ['a status without a route', { ...INFO, route: null }, 'not documented'],
    ['a method', { ...INFO, method: 'PUT' }, 'not documented'],
    [
      'another type',
      { ...INFO, headers: { ...HEADERS, 'content-type': 'text/html' } },
      'content type text/html',
    ],
    [
      'a cacheable reply',
      { ...INFO, headers: { ...HEADERS, 'cache-control': 'public' } },
      'stored by caches',
    ],
    [
      'no error code',
      { ...LIMITED, headers: { ...HEADERS, 'retry-after': '60' } },
      'X-Error-Code does not fit',
    ],
    ['an error code on success', { ...INFO, headers: REJECTED }, 'X-Error-Code does not fit'],
    ['a missing header', { ...LIMITED, headers: REJECTED }, 'Retry-After is missing'],
    [
      'a header of the wrong form',
      { ...LIMITED, headers: { ...REJECTED, 'retry-after': 'soon' } },
      'Retry-After: soon',
    ],
    ['a missing field', { ...INFO, body: '{"projectName":"Demo"}' }, "must have required property 'credit'"],
    [
      'a field too many',
      { ...INFO, body: '{"projectName":"Demo","credit":5,"key":"x"}' },
      'additional properties',
    ],
    ['a field of the wrong type', { ...INFO, body: '{"projectName":"Demo","credit":"5"}' }, 'must be number'],
    ['a negative credit', { ...INFO, body: '{"projectName":"Demo","credit":-1}' }, 'must be >= 0'],
    ['HEAD with a body', { ...INFO, method: 'HEAD' }, 'HEAD with a body'],
  ])('a planted violation is found: %s', (_name, seen, reason) => {
    expect(() => check(seen)).toThrow(reason);
  });

  it('a planted body that is not JSON is found', () => {
    expect(() => check({ ...INFO, body: '<html>' })).toThrow(SyntaxError);
  });
});
