import { expect, it } from 'vitest';
import {
  CAPACITY_RETRY_MS,
  SUBMISSIONS_IN_FLIGHT_MAX,
  SubmissionCapacity,
} from '../../../src/application/messages/submission-capacity.ts';
import { NOW } from '../../support/builders.ts';

const LIMIT = 4;

it('the submission capacity lets attempts start until the limit of their provider is in flight', () => {
  const capacity = new SubmissionCapacity({ inFlightMax: LIMIT });
  capacity.begin({ channel: 'sms', environment: 'live', provider: 'one' }, LIMIT - 1);
  expect(capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, NOW)).toBeNull();
  capacity.begin({ channel: 'sms', environment: 'live', provider: 'one' }, 1);
  expect(capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, NOW)).toBe(
    NOW + CAPACITY_RETRY_MS,
  );
});

it('a submission releases its capacity when it ends', () => {
  const capacity = new SubmissionCapacity({ inFlightMax: LIMIT });
  const end = capacity.begin({ channel: 'sms', environment: 'live', provider: 'one' }, LIMIT);
  expect(capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, NOW)).not.toBeNull();
  end();
  expect(capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, NOW)).toBeNull();
});

it('every other channel and environment stays free while one provider is at its limit', () => {
  const capacity = new SubmissionCapacity({ inFlightMax: LIMIT });
  capacity.begin({ channel: 'sms', environment: 'live', provider: 'one' }, LIMIT);
  expect(capacity.retryAt({ channel: 'whatsapp', environment: 'live', provider: 'one' }, NOW)).toBeNull();
  expect(capacity.retryAt({ channel: 'telegram', environment: 'live', provider: 'one' }, NOW)).toBeNull();
  expect(capacity.retryAt({ channel: 'sms', environment: 'dev', provider: 'one' }, NOW)).toBeNull();
});

it('the submission capacity spreads a backlog as slowly as a hanging provider releases capacity', () => {
  const capacity = new SubmissionCapacity({ inFlightMax: LIMIT });
  capacity.begin({ channel: 'sms', environment: 'live', provider: 'one' }, LIMIT);
  const retries = Array.from({ length: 4 }, () =>
    capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, NOW),
  );
  // Four submissions in the ten seconds of a submit timeout.
  expect(retries).toEqual([NOW + 1_000, NOW + 3_500, NOW + 6_000, NOW + 8_500]);
  expect(capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, NOW + 20_000)).toBe(
    NOW + 21_000,
  );
});

it('the submission capacity allows five thousand submissions in flight by default', () => {
  expect(SUBMISSIONS_IN_FLIGHT_MAX).toBe(5_000);
  const capacity = new SubmissionCapacity();
  const end = capacity.begin({ channel: 'sms', environment: 'live', provider: 'one' }, 4_999);
  expect(capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, NOW)).toBeNull();
  capacity.begin({ channel: 'sms', environment: 'live', provider: 'one' }, 1);
  expect(capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, NOW)).toBe(NOW + 1_000);
  end();
  expect(capacity.retryAt({ channel: 'sms', environment: 'live', provider: 'one' }, NOW)).toBeNull();
});
