import { expect, it, test } from 'vitest';
import { cloudApiKind } from '../../../src/bootstrap/providers/cloud-api.ts';
import { secretIn } from '../../../src/bootstrap/providers/secret.ts';

const REQUIRED = {
  accessToken: { env: 'CLOUD_API_ACCESS_TOKEN' },
  appSecret: { env: 'CLOUD_API_APP_SECRET' },
  verifyToken: { env: 'CLOUD_API_VERIFY_TOKEN' },
};

const settings = cloudApiKind.settings(
  secretIn({
    CLOUD_API_ACCESS_TOKEN: 'token',
    CLOUD_API_APP_SECRET: 'secret',
    CLOUD_API_VERIFY_TOKEN: 'verify',
    BROKEN_TOKEN: 'to\nken',
    FOREIGN_TOKEN: 'token€',
    WRAPPED_TOKEN: ' token\n',
  }),
);

it('the kind cloud-api carries whatsapp, and needs three secrets and nothing else', () => {
  expect(cloudApiKind.channels).toEqual(['whatsapp']);
  expect(settings.parse(REQUIRED)).toEqual({
    accessToken: 'token',
    appSecret: 'secret',
    verifyToken: 'verify',
    version: 'v25.0',
    baseUrl: 'https://graph.facebook.com',
  });
});

it('the kind cloud-api takes a default number, a template for codes, a version and another address', () => {
  const given = {
    phoneNumberId: '106540352242922',
    verificationTemplate: { name: 'verify', language: 'ar' },
    version: 'v24.0',
  };
  expect(settings.parse({ ...REQUIRED, ...given, baseUrl: 'http://127.0.0.1:8080/' })).toMatchObject({
    ...given,
    baseUrl: 'http://127.0.0.1:8080',
  });
});

it('the kind cloud-api takes a token without the spaces around it', () => {
  expect(settings.parse({ ...REQUIRED, accessToken: { env: 'WRAPPED_TOKEN' } }).accessToken).toBe('token');
});

test.each<[title: string, change: object, message: string]>([
  ['a secret in plain text', { accessToken: 'EAAJB' }, 'must be { "env": "NAME" } or { "file": "PATH" }'],
  [
    'a token with a line end',
    { accessToken: { env: 'BROKEN_TOKEN' } },
    'must be printable characters without spaces, 1024 at most',
  ],
  [
    'a token that no header carries',
    { accessToken: { env: 'FOREIGN_TOKEN' } },
    'must be printable characters without spaces, 1024 at most',
  ],
  ['a variable that is not set', { appSecret: { env: 'NOT_SET' } }, 'the variable NOT_SET is not set'],
  [
    'a number as it is dialled',
    { phoneNumberId: '+964 770' },
    'must be the id that Meta gave the number, in digits',
  ],
  [
    'a template without a number',
    { verificationTemplate: { name: 'verify', language: 'ar' } },
    'needs phoneNumberId: the template belongs to the account of that number',
  ],
  ['a version without its letter', { version: '25.0' }, 'must be a version of the Graph API, such as v25.0'],
  [
    'an address that is none',
    { baseUrl: 'graph.facebook.com' },
    'must be https, or http to this machine, without credentials, query and fragment',
  ],
  [
    'credentials in clear',
    { baseUrl: 'http://graph.example.com' },
    'must be https, or http to this machine, without credentials, query and fragment',
  ],
  [
    'an address with credentials',
    { baseUrl: 'https://user:word@graph.example.com' },
    'must be https, or http to this machine, without credentials, query and fragment',
  ],
  [
    'an address with a query',
    { baseUrl: 'https://graph.example.com/?a=b' },
    'must be https, or http to this machine, without credentials, query and fragment',
  ],
])('the kind cloud-api rejects %s', (_, change, message) => {
  const read = settings.safeParse({ ...REQUIRED, ...change });
  expect(read.error?.issues.map((issue) => issue.message)).toEqual([message]);
});
