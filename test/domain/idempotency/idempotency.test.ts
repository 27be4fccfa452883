import { describe, expect, it } from 'vitest';
import { decideIdempotency, newIdempotencyRecord } from '../../../src/domain/idempotency/idempotency.ts';
import { HOUR_MS, NOW, PROJECT_ID } from '../../support/builders.ts';

const REQUEST = { route: 'POST /sms', key: 'order-1', requestHash: 'hash' };
const RECORD = newIdempotencyRecord(PROJECT_ID, REQUEST, '{"smsId":"sms-1"}', NOW);

describe('the record of a request', () => {
  it('the record of a request holds its result for a day', () => {
    expect(RECORD).toEqual({
      projectId: PROJECT_ID,
      route: 'POST /sms',
      key: 'order-1',
      requestHash: 'hash',
      result: '{"smsId":"sms-1"}',
      expiresAt: NOW + 24 * HOUR_MS,
    });
  });

  it('the record of a request makes an equal request a repetition until the record expires', () => {
    const replay = { kind: 'replay', result: '{"smsId":"sms-1"}' };
    expect(decideIdempotency(RECORD, REQUEST, NOW)).toEqual(replay);
    expect(decideIdempotency(RECORD, REQUEST, NOW + 24 * HOUR_MS - 1)).toEqual(replay);
    expect(decideIdempotency(RECORD, REQUEST, NOW + 24 * HOUR_MS)).toEqual({ kind: 'first' });
  });

  it('the record of a request makes another request with its key a conflict until the record expires', () => {
    const other = { ...REQUEST, requestHash: 'other' };
    expect(decideIdempotency(RECORD, other, NOW)).toEqual({ kind: 'idempotency-conflict' });
    expect(decideIdempotency(RECORD, other, NOW + 24 * HOUR_MS)).toEqual({ kind: 'first' });
  });
});

it('a request whose key has no record is the first one', () => {
  expect(decideIdempotency(undefined, REQUEST, NOW)).toEqual({ kind: 'first' });
});
