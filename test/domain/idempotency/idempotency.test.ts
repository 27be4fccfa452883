import { describe, expect, it } from 'vitest';
import { decideIdempotency, newIdempotencyRecord } from '../../../src/domain/idempotency/idempotency.ts';
import { HOUR_MS, NOW, PROJECT_ID } from '../../support/builders.ts';

const REQUEST = { projectId: PROJECT_ID, route: 'POST /sms', key: 'order-1', requestDigest: 'digest' };
const RECORD = newIdempotencyRecord(REQUEST, '{"smsId":"sms-1"}', NOW);

describe('the record of a request', () => {
  it('the record of a request holds its result for a day', () => {
    expect(RECORD).toEqual({
      projectId: PROJECT_ID,
      route: 'POST /sms',
      key: 'order-1',
      requestDigest: 'digest',
      result: '{"smsId":"sms-1"}',
      expiresAt: NOW + 24 * HOUR_MS,
    });
  });

  it('the record of a request makes an equal request a repetition until the record expires', () => {
    const replay = { kind: 'replay', result: '{"smsId":"sms-1"}' };
    expect(decideIdempotency(RECORD, 'digest', NOW)).toEqual(replay);
    expect(decideIdempotency(RECORD, 'digest', NOW + 24 * HOUR_MS - 1)).toEqual(replay);
    expect(decideIdempotency(RECORD, 'digest', NOW + 24 * HOUR_MS)).toEqual({ kind: 'first' });
  });

  it('the record of a request makes another request with its key a conflict until the record expires', () => {
    expect(decideIdempotency(RECORD, 'other', NOW)).toEqual({ kind: 'idempotency-conflict' });
    expect(decideIdempotency(RECORD, 'other', NOW + 24 * HOUR_MS)).toEqual({ kind: 'first' });
  });
});
