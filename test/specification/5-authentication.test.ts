import { expect, it, test } from 'vitest';
import { ask, REQUESTS, UNKNOWN_ID } from '../support/campaigns.ts';
import { errorOf, startWith } from './world.ts';

const PATHS = [
  '/sms/track/sms-000000000000000000000000',
  '/international-sms-pricing',
  '/sender-ids',
  '/info',
  '/whatsapp/resources',
  '/whatsapp/campaigns',
  '/whatsapp/campaigns/recipient-payload',
];

const WRONG: readonly [what: string, authorization: string | null][] = [
  ['no key', null],
  ['an unknown key', `Bearer sk_dev_${'0'.repeat(40)}`],
  ['a key of the wrong form', 'Bearer key'],
  ['another scheme', 'Basic c2tfZGV2'],
];

test.each(WRONG)(
  '5.3 %s gets 401 with the words of the specification, on every endpoint',
  async (_, authorization) => {
    const service = await startWith();
    const headers = authorization === null ? {} : { authorization };
    const replies = await Promise.all([
      service.request('/sms', { apiKey: null, headers, body: {} }),
      service.request('/whatsapp/campaigns', { apiKey: null, headers, body: {} }),
      ...PATHS.map((path) => service.request(path, { apiKey: null, headers })),
      ...REQUESTS.map(([method, path]) =>
        ask(service, `/${UNKNOWN_ID}${path}`, { method, apiKey: null, headers }),
      ),
    ]);
    for (const reply of replies) {
      expect(errorOf(reply)).toEqual({
        status: 401,
        code: 'unauthorized',
        body: { message: 'Unauthorized, please use your project api key' },
      });
    }
  },
);

it('5.1 a key works with a scheme in letters of any case', async () => {
  const service = await startWith();
  const headers = { authorization: `bearer ${service.apiKey}` };
  expect((await service.request('/info', { apiKey: null, headers })).status).toBe(200);
});

it('5.4 the resources endpoint rejects an address that is not on the list of the project', async () => {
  const service = await startWith({ allowedIps: ['203.0.113.7'] });
  expect(errorOf(await service.request('/whatsapp/resources'))).toEqual({
    status: 403,
    code: 'ip-not-allowed',
    body: { message: 'This IP address is not allowed' },
  });
  expect((await service.request('/info')).status).toBe(200);
});

it('5.4 a list may guard every endpoint', async () => {
  const service = await startWith({ allowedIps: ['203.0.113.0/24'], ipRuleScope: 'all' });
  expect((await service.request('/info')).status).toBe(403);
});

it('5.4 an address on the list is let in', async () => {
  const service = await startWith({ allowedIps: ['127.0.0.0/8'] });
  expect((await service.request('/whatsapp/resources')).status).toBe(200);
});
