import { expect, it, test } from 'vitest';
import {
  ask,
  attach,
  created,
  dataOf,
  errorOf,
  SALE_TEMPLATE_ID,
  startWithCampaigns,
  TEMPLATE_ID,
  UNKNOWN_ID,
} from '../support/campaigns.ts';

/** What the demo has for its template. */
const ORDER = {
  template: { id: TEMPLATE_ID, name: 'order_update', language: 'en', category: 'UTILITY' },
  fields: [
    {
      key: '1',
      label: 'Body {{1}}',
      required: true,
      example: 'Value 1',
      templateParametersPath: 'templateParameters.body.1',
    },
    {
      key: '2',
      label: 'Body {{2}}',
      required: true,
      example: 'Value 2',
      templateParametersPath: 'templateParameters.body.2',
    },
    {
      key: '1',
      label: 'Button 0 {{1}}',
      required: true,
      example: 'Value 1',
      templateParametersPath: 'templateParameters.buttons.0.1',
    },
  ],
  exampleRecipient: {
    phoneNumber: '9647701234567',
    templateParameters: {
      body: { 1: 'Value 1', 2: 'Value 2' },
      header: {},
      buttons: { 0: { 1: 'Value 1' } },
    },
  },
};

it('4.17 the payload has the fields of a template, by its id and by a campaign under two names', async () => {
  const service = await startWithCampaigns();
  const id = await created(service);
  const queries = [
    `templateId=${TEMPLATE_ID}`,
    `_id=${id}`,
    `campaignId=${id.toUpperCase()}`,
    `templateId=${TEMPLATE_ID}&_id=${UNKNOWN_ID}`,
  ];
  for (const query of queries) {
    const { status, body } = await ask(service, `/recipient-payload?${query}`);
    expect({ status, body }).toEqual({ status: 200, body: { success: true, data: ORDER } });
  }
});

it('4.17 the payload of a template with an image asks for its URL', async () => {
  const service = await startWithCampaigns();
  expect((await ask(service, `/recipient-payload?templateId=${SALE_TEMPLATE_ID}`)).body).toMatchObject({
    data: {
      template: { category: 'MARKETING' },
      fields: [
        {
          key: 'imageUrl',
          label: 'Header image',
          required: true,
          templateParametersPath: 'templateParameters.header.imageUrl',
        },
        { key: '1', templateParametersPath: 'templateParameters.body.1' },
      ],
      exampleRecipient: {
        templateParameters: { header: { imageUrl: expect.stringMatching(/^https:/) }, buttons: {} },
      },
    },
  });
});

test.each([TEMPLATE_ID, SALE_TEMPLATE_ID])(
  '4.17 the example of template %s can be attached',
  async (templateId) => {
    const service = await startWithCampaigns();
    const id = await created(service, [], { templateId });
    const { exampleRecipient } = dataOf<{ exampleRecipient: unknown }>(
      await ask(service, `/recipient-payload?_id=${id}`),
    );
    expect(dataOf(await attach(service, id, [exampleRecipient]))).toMatchObject({ totalRecipients: 1 });
  },
);

test.each([
  ['', 400, /templateId, _id or campaignId/],
  ['?templateId=abc', 400, /templateId/],
  ['?_id=abc', 400, /_id/],
  ['?campaignId=abc', 400, /campaignId/],
  [`?templateId=${UNKNOWN_ID}`, 404, /^Template not found$/],
  [`?_id=${UNKNOWN_ID}`, 404, /^Campaign not found$/],
])('4.17 the payload with the query "%s" is an error', async (query, status, error) => {
  const service = await startWithCampaigns();
  expect(errorOf(await ask(service, `/recipient-payload${query}`))).toMatchObject({
    status,
    body: { success: false, error: expect.stringMatching(error) },
  });
});
