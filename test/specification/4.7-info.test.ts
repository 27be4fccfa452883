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

it('4.7 the reply shows a name of unusual characters as the seed has it, on every database', async () => {
  const name = '\u0001\t\r\n\u007f\u0085 باريد \ud83d\ude00\ufffe\uffff';
  const service = await startWith({ name });
  expect((await service.request('/info')).body).toMatchObject({ projectName: name });
});

it('4.7 a name that not every database can keep is rejected with its path, on every database', async () => {
  for (const name of ['De\0mo', 'De\ud83dmo']) {
    await expect(startWith({ name })).rejects.toThrow('→ at projects[0].name');
  }
});
