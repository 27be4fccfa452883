import { expect, it } from 'vitest';
import {
  CAPACITY_RETRY_MS,
  SUBMISSIONS_IN_FLIGHT_MAX,
  SubmissionCapacity,
} from '../../../src/application/attempts/submission-capacity.ts';
import { beginAll } from '../../support/begin-all.ts';
import { NOW } from '../../support/builders.ts';

const LIMIT = 4;
const CODES = { priority: 'code', projectId: 'project-a' } as const;
const codes = (count: number) => Array.from({ length: count }, () => CODES);

it('the submission capacity lets attempts start until the limit of their provider is in flight', () => {
  const capacity = new SubmissionCapacity({ inFlightMax: LIMIT });
  beginAll(capacity, { channel: 'sms', environment: 'live', provider: 'one' }, codes(LIMIT - 1));
  expect(capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, CODES, NOW)).toBeNull();
  beginAll(capacity, { channel: 'sms', environment: 'live', provider: 'one' }, codes(1));
  expect(capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, CODES, NOW)).toBe(
    NOW + CAPACITY_RETRY_MS,
  );
});

it('a submission releases its capacity when it ends', () => {
  const capacity = new SubmissionCapacity({ inFlightMax: LIMIT });
  const end = beginAll(capacity, { channel: 'sms', environment: 'live', provider: 'one' }, codes(LIMIT));
  expect(
    capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, CODES, NOW),
  ).not.toBeNull();
  end();
  expect(capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, CODES, NOW)).toBeNull();
});

it('every other channel and environment stays free while one provider is at its limit', () => {
  const capacity = new SubmissionCapacity({ inFlightMax: LIMIT });
  beginAll(capacity, { channel: 'sms', environment: 'live', provider: 'one' }, codes(LIMIT));
  expect(
    capacity.retryAt({ channel: 'whatsapp', environment: 'live', provider: 'one' }, CODES, NOW),
  ).toBeNull();
  expect(
    capacity.retryAt({ channel: 'telegram', environment: 'live', provider: 'one' }, CODES, NOW),
  ).toBeNull();
  expect(capacity.retryAt({ channel: 'sms', environment: 'dev', provider: 'one' }, CODES, NOW)).toBeNull();
});

it('the submission capacity spreads a backlog as slowly as a hanging provider releases capacity', () => {
  const capacity = new SubmissionCapacity({ inFlightMax: LIMIT });
  beginAll(capacity, { channel: 'sms', environment: 'live', provider: 'one' }, codes(LIMIT));
  const retries = Array.from({ length: 4 }, () =>
    capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, CODES, NOW),
  );
  // Four submissions in the ten seconds of a submit timeout.
  expect(retries).toEqual([NOW + 1_000, NOW + 3_500, NOW + 6_000, NOW + 8_500]);
  expect(
    capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, CODES, NOW + 20_000),
  ).toBe(NOW + 21_000);
});

it('the submission capacity allows five thousand submissions in flight by default', () => {
  expect(SUBMISSIONS_IN_FLIGHT_MAX).toBe(5_000);
  const capacity = new SubmissionCapacity();
  const end = beginAll(capacity, { channel: 'sms', environment: 'live', provider: 'one' }, codes(4_999));
  expect(capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, CODES, NOW)).toBeNull();
  beginAll(capacity, { channel: 'sms', environment: 'live', provider: 'one' }, codes(1));
  expect(capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, CODES, NOW)).toBe(
    NOW + 1_000,
  );
  end();
  expect(capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, CODES, NOW)).toBeNull();
});

it('a campaign that fills its provider does not delay the codes of the same or another project', () => {
  const one = { channel: 'sms', environment: 'live', provider: 'one' } as const;
  const capacity = new SubmissionCapacity({ inFlightMax: 200 });
  const campaign = { priority: 'campaign', projectId: 'project-a' } as const;
  beginAll(
    capacity,
    one,
    Array.from({ length: 200 }, () => campaign),
  );
  expect(capacity.retryAt(one, campaign, NOW)).toBe(NOW + 1_000);
  expect(capacity.retryAt(one, CODES, NOW)).toBeNull();
  const end = beginAll(capacity, one, codes(2));
  // A hundredth of the limit is in flight.
  expect(capacity.retryAt(one, CODES, NOW)).toBe(NOW + 1_000);
  expect(capacity.retryAt(one, { ...CODES, projectId: 'project-b' }, NOW)).toBeNull();
  end();
  expect(capacity.retryAt(one, CODES, NOW)).toBeNull();
});

it('all backlogs of a provider together have twice its limit in flight at most', () => {
  const one = { channel: 'sms', environment: 'live', provider: 'one' } as const;
  const capacity = new SubmissionCapacity({ inFlightMax: LIMIT });
  for (let project = 0; project < 2 * LIMIT; project += 1) {
    const backlog = { priority: 'code', projectId: `project-${project}` } as const;
    expect(capacity.retryAt(one, backlog, NOW)).toBeNull();
    capacity.begin(one, backlog);
  }
  expect(capacity.retryAt(one, { priority: 'code', projectId: 'project-new' }, NOW)).toBe(NOW + 1_000);
});
