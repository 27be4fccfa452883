import { expect, it, test } from 'vitest';
import { startService } from '../support/running-service.ts';
import { accepted, creditOf, errorOf, NUMBER, post, startWith, text } from './world.ts';

test.each([
  [1, 80],
  [140, 80],
  [141, 160],
  [280, 160],
  [281, 240],
  [1_000, 640],
])('8 a text of %i characters is billed by units of 140: %i IQD', async (length, cost) => {
  const service = await startWith();
  await accepted(service, text(NUMBER, { provider: 'sms', customMessage: 'س'.repeat(length) }));
  expect(await creditOf(service)).toBe(15_000 - cost);
});

it('8 a project without a setting may send five times in ten minutes to one number', async () => {
  const service = await startService();
  for (let sends = 0; sends < 5; sends += 1) await accepted(service);
  expect(errorOf(await post(service, text(NUMBER)))).toMatchObject({
    status: 429,
    body: { maxRequests: 5, timeWindowMinutes: 10 },
  });
});

it('8 a sender ID has at most 11 characters', async () => {
  const error = errorOf(await post(await startWith(), text(NUMBER, { senderId: 'x'.repeat(12) })));
  expect(error).toMatchObject({ status: 400, code: 'validation-failed' });
});
