import {
  InsufficientCreditError,
  NotFoundError,
  OTPiqClient,
  RateLimitError,
  SenderIdError,
  SpendingThresholdError,
  TrialModeError,
  UnauthorizedError,
  ValidationError,
} from 'otpiq';
import { expect, it } from 'vitest';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import type { SeedFile } from '../../src/bootstrap/config/seed-file.ts';
import { startService } from '../support/running-service.ts';
import { seedWith } from '../support/seeds.ts';

const HOME_NUMBER = '9647701234567';

async function clientOf(seed?: SeedFile, apiKey = DEMO_API_KEY) {
  const service = await startService(seed === undefined ? {} : { seed });
  const client = new OTPiqClient({ apiKey });
  Object.assign(client, { baseUrl: `${await service.url}/api` });
  const send = (more: Record<string, unknown> = {}) =>
    client.sendSMS({
      phoneNumber: HOME_NUMBER,
      smsType: 'verification',
      verificationCode: '123456',
      ...more,
    });
  return { service, client, send };
}

it('the published client of the original service sends, tracks and reads credit and sender IDs', async () => {
  const { service, client, send } = await clientOf();
  const sent = await send();
  expect(sent).toMatchObject({
    smsId: expect.stringMatching(/^sms-[a-f0-9]{24}$/),
    remainingCredit: 14_920,
    cost: 80,
  });
  await service.advance(1_000);
  expect(await client.trackSMS(sent.smsId)).toMatchObject({
    smsId: sent.smsId,
    status: 'delivered',
    isFinalStatus: true,
  });
  expect(await client.getProjectInfo()).toEqual({ projectName: 'Demo', credit: 14_920 });
  expect(await client.getSenderIds()).toMatchObject({
    success: true,
    data: [{ senderId: 'Barid', status: 'accepted' }],
  });
});

it('the published client raises every error class it has', async () => {
  const demo = await clientOf();
  await expect(demo.client.trackSMS('sms-unknown')).rejects.toBeInstanceOf(NotFoundError);
  await expect(demo.send({ phoneNumber: '12' })).rejects.toBeInstanceOf(ValidationError);
  await expect(demo.send({ phoneNumber: '9990000000103' })).rejects.toBeInstanceOf(SenderIdError);
  await expect(demo.send({ phoneNumber: '9990000000104' })).rejects.toBeInstanceOf(SenderIdError);
  const limited = await demo.send({ phoneNumber: '9990000000106' }).catch((error: unknown) => error);
  expect(limited).toBeInstanceOf(RateLimitError);
  expect(limited).toMatchObject({ waitMinutes: 10, maxRequests: 5, timeWindowMinutes: 10 });

  const unknown = await clientOf(undefined, 'sk_dev_ffffffffffffffffffffffffffffffffffffffff');
  await expect(unknown.client.getProjectInfo()).rejects.toBeInstanceOf(UnauthorizedError);

  const poor = await clientOf(seedWith({ credit: 79 }));
  const insufficient = await poor.send({ provider: 'sms' }).catch((error: unknown) => error);
  expect(insufficient).toBeInstanceOf(InsufficientCreditError);
  expect(insufficient).toMatchObject({ yourCredit: 79, requiredCredit: 80, canCover: false });

  const capped = await clientOf(seedWith({ spendingThreshold: 79 }));
  const exceeded = await capped.send({ provider: 'sms' }).catch((error: unknown) => error);
  expect(exceeded).toBeInstanceOf(SpendingThresholdError);
  expect(exceeded).toMatchObject({ currentSpending: 0, spendingThreshold: 79, cost: 80 });

  const trial = await clientOf(seedWith({ trial: { ownPhoneNumber: '9647801234567' } }));
  await expect(trial.send()).rejects.toBeInstanceOf(TrialModeError);
});
