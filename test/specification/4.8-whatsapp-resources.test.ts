import { expect, it, test } from 'vitest';
import { ACCOUNT_ID, errorOf, PHONE_ID, startWith } from './world.ts';

interface Tree {
  readonly data: {
    readonly summary: object;
    readonly businesses: readonly {
      readonly whatsappAccounts: readonly {
        readonly id: string;
        readonly phoneNumbers: readonly { readonly id: string }[];
        readonly templates: readonly { readonly name: string; readonly components?: readonly object[] }[];
      }[];
    }[];
  };
}

it('4.8 the reply shows the whole tree of 2.7 and counts it', async () => {
  const { status, body } = await (await startWith()).request('/whatsapp/resources');
  expect(status).toBe(200);
  const { data } = body as Tree;
  expect(body).toMatchObject({ success: true, data: { project: { slug: 'demo', name: 'Demo' } } });
  expect(data.summary).toEqual({ businessCount: 1, accountCount: 1, phoneNumberCount: 1, templateCount: 2 });
  const [account] = data.businesses[0]?.whatsappAccounts ?? [];
  expect(account).toMatchObject({ id: ACCOUNT_ID, phoneNumbers: [{ id: PHONE_ID }] });
});

test.each([
  ['', false],
  ['?includeTemplateComponents=false', false],
  ['?includeTemplateComponents=0', false],
  ['?includeTemplateComponents=true', true],
  ['?includeTemplateComponents=TRUE', true],
  ['?includeTemplateComponents=1', true],
])('4.8 the query "%s" shows components of templates: %s', async (query, shown) => {
  const { body } = await (await startWith()).request(`/whatsapp/resources${query}`);
  const templates = (body as Tree).data.businesses[0]?.whatsappAccounts[0]?.templates ?? [];
  expect(templates).toHaveLength(2);
  for (const template of templates) expect('components' in template).toBe(shown);
});

it('4.8 another value of includeTemplateComponents is an error', async () => {
  const error = errorOf(
    await (await startWith()).request('/whatsapp/resources?includeTemplateComponents=yes'),
  );
  expect(error).toMatchObject({ status: 400, code: 'validation-failed' });
});
