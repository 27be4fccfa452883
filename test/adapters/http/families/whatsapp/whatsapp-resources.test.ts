import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import {
  aProject,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  aWhatsappTemplate,
} from '../../../../support/builders.ts';
import { HttpWorld } from '../../http-world.ts';

const COMPONENTS = [
  { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['https://example.com/a.png'] } },
  { type: 'BODY', text: 'Hello {{1}}' },
];

let world: HttpWorld;
beforeEach(async () => {
  world = await new HttpWorld().open();
  world.api.businesses = [
    aWhatsappBusiness({
      whatsappAccounts: [
        aWhatsappAccount({
          phoneNumbers: [aWhatsappPhoneNumber()],
          templates: [aWhatsappTemplate({ components: COMPONENTS })],
        }),
      ],
    }),
  ];
});
afterEach(() => world.close());

const tree = (components: object) => {
  const { components: _, ...template } = aWhatsappTemplate();
  return {
    success: true,
    data: {
      project: { id: '664abc000000000000000001', slug: 'demo', name: 'Demo' },
      summary: { businessCount: 1, accountCount: 1, phoneNumberCount: 1, templateCount: 1 },
      businesses: [
        {
          ...aWhatsappBusiness(),
          whatsappAccounts: [
            {
              ...aWhatsappAccount(),
              phoneNumbers: [aWhatsappPhoneNumber()],
              templates: [{ ...template, ...components }],
            },
          ],
        },
      ],
    },
  };
};

describe('GET /whatsapp/resources', () => {
  test.each([
    '',
    '?includeTemplateComponents=false',
    '?includeTemplateComponents=0',
    '?includeTemplateComponents=FALSE',
  ])('replies with the resources without the components of templates: %s', async (query) => {
    const reply = await world.call('GET', `/whatsapp/resources${query}`);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual(tree({}));
  });

  test.each(['true', 'True', '1'])('replies with the components of templates: %s', async (value) => {
    const reply = await world.call('GET', `/whatsapp/resources?includeTemplateComponents=${value}`);
    expect(reply.body).toEqual(tree({ components: COMPONENTS }));
  });

  test.each(['yes', '', '2', 'true&includeTemplateComponents=true'])(
    'rejects the query includeTemplateComponents=%s',
    async (value) => {
      const reply = await world.call('GET', `/whatsapp/resources?includeTemplateComponents=${value}`);
      expect(reply.status).toBe(400);
      expect(reply.body).toEqual({ error: expect.stringContaining('includeTemplateComponents must be') });
    },
  );

  it('replies to a fault with success false and a text of its own', async () => {
    world.api.fault = new Error('down');
    const reply = await world.call('GET', '/whatsapp/resources');
    expect(reply.status).toBe(500);
    expect(reply.body).toEqual({ success: false, message: 'Failed to fetch whatsapp resources' });
    expect(reply.headers['x-error-code']).toBe('resources-failed');
    expect(world.logger.count('request_failed')).toBe(1);
  });
});

describe('the allow list of the project', () => {
  const NOT_ALLOWED = { message: 'This IP address is not allowed' };
  const callFrom = (allowedIps: readonly string[], ipRuleScope: 'resources' | 'all', path: string) => {
    world.api.project = aProject({ settings: { allowedIps, ipRuleScope } });
    return world.call('GET', path, {
      headers: { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' },
    });
  };

  it('rejects another address, and believes no header', async () => {
    const reply = await callFrom(['203.0.113.9'], 'resources', '/whatsapp/resources');
    expect(reply.status).toBe(403);
    expect(reply.body).toEqual(NOT_ALLOWED);
    expect(reply.headers['x-error-code']).toBe('ip-not-allowed');
  });

  it('admits the addresses of the allow list', async () => {
    expect((await callFrom(['127.0.0.0/8'], 'resources', '/whatsapp/resources')).status).toBe(200);
  });

  it('checks the address on other endpoints only when the project says so', async () => {
    expect((await callFrom(['203.0.113.9'], 'resources', '/info')).status).toBe(200);
    const reply = await callFrom(['203.0.113.9'], 'all', '/info');
    expect(reply.status).toBe(403);
    expect(reply.body).toEqual(NOT_ALLOWED);
    expect((await callFrom(['127.0.0.1'], 'all', '/info')).status).toBe(200);
  });
});
