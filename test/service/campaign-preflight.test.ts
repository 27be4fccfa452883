import { expect, it } from 'vitest';
import { created, dataOf, numbersFrom, post, started, startWithCampaigns } from '../support/campaigns.ts';

/** In IQD. */
const MUCH_CREDIT = 1_000_000;
const NEW_NUMBER = '9647719999999';

it('a preflight counts the messages that the number has to send before', async () => {
  const service = await startWithCampaigns();
  await started(service, numbersFrom(0, 200));
  const id = await created(service, numbersFrom(0, 8));
  expect(dataOf(await post(service, `/${id}/preflight`))).toMatchObject({ durationSeconds: 2.5 });
});

it('a preflight counts whole days when the daily limit does not suffice', async () => {
  const service = await startWithCampaigns(MUCH_CREDIT);
  await started(service, numbersFrom(0, 900));
  await service.advance(60_000);
  const again = await created(service, numbersFrom(0, 1_000));
  // 900 of them have a conversation, and 100 more may be opened.
  expect(dataOf(await post(service, `/${again}/preflight`))).toMatchObject({ durationSeconds: 12.4 });
  await post(service, `/${again}/start`);
  await service.advance(60_000);
  const more = await created(service, [NEW_NUMBER]);
  expect(dataOf(await post(service, `/${more}/preflight`))).toMatchObject({ durationSeconds: 86_400 });
});
