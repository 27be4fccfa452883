import { expect, it } from 'vitest';
import { verification } from '../support/seeds.ts';
import { accepted, NUMBER, startWith } from './world.ts';

it('4.7 the reply shows the name of the project and its credit less open holds', async () => {
  const service = await startWith({ name: 'Souq', credit: 1_000.5 });
  expect((await service.request('/info')).body).toEqual({ projectName: 'Souq', credit: 1_000.5 });
  await accepted(service, verification(NUMBER, { provider: 'sms' }));
  expect((await service.request('/info')).body).toEqual({ projectName: 'Souq', credit: 920.5 });
});

it('4.7 the reply never shows a credit below zero', async () => {
  const service = await startWith({ paymentType: 'postpaid', credit: 10 });
  await accepted(service, verification(NUMBER, { provider: 'sms' }));
  expect((await service.request('/info')).body).toMatchObject({ credit: 0 });
});
