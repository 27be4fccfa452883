import { describe, expect, it, test } from 'vitest';
import { type Content, canCarry, maskContent } from '../../../src/domain/messages/send-request.ts';
import type { Channel } from '../../../src/domain/shared/channel.ts';
import { WEBHOOK_SECRET_PATTERN } from '../../../src/domain/webhooks/webhook-limits.ts';
import { aCode, aTemplateContent, aText } from '../../support/builders.ts';

describe('what a channel can carry', () => {
  test.each<[Channel, string, Content, boolean]>([
    ['telegram', 'a code of 3 digits', aCode('123'), false],
    ['telegram', 'a code of 4 digits', aCode('1234'), true],
    ['telegram', 'a code of 8 digits', aCode('12345678'), true],
    ['telegram', 'a code of 9 digits', aCode('123456789'), false],
    ['telegram', 'a code with a letter', aCode('12a4'), false],
    ['telegram', 'a code with a line feed', aCode('1234\n'), false],
    ['telegram', 'a code in digits of another script', aCode('١٢٣٤'), false],
    ['telegram', 'a text', aText('1234'), false],
    ['telegram', 'a template', aTemplateContent(), false],
    ['sms', 'any code', aCode('AB-1'), true],
    ['sms', 'a text', aText(), true],
    ['sms', 'a template', aTemplateContent(), false],
    ['whatsapp', 'any code', aCode('AB-1'), true],
    ['whatsapp', 'a text', aText(), true],
    ['whatsapp', 'a template', aTemplateContent(), true],
  ])('the rule of what %s can carry holds for %s', (channel, _, content, expected) => {
    expect(canCarry(channel, content)).toBe(expected);
  });
});

describe('the content of a final message', () => {
  test.each<[Content, Content]>([
    [aCode('123456'), { smsType: 'verification', verificationCode: '******' }],
    [aText('Hi!'), { smsType: 'custom', customMessage: '***' }],
    [
      aTemplateContent({ templateParameters: { body: { '1': 'Layla' }, header: { imageUrl: 'https://x' } } }),
      { smsType: 'whatsapp-template', templateName: 'order_update', templateParameters: {} },
    ],
  ])('the content of a final message is masked: %j becomes %j', (content, masked) => {
    expect(maskContent(content)).toEqual(masked);
    expect(maskContent(maskContent(content))).toEqual(masked);
  });
});

describe('a webhook secret', () => {
  it('a webhook secret may have every character of the specification', () => {
    expect(WEBHOOK_SECRET_PATTERN.test("aZ09_!#$%&'*+-.^_`|~")).toBe(true);
  });

  test.each(['', ' ', 'a b', 'a,b', 'a/b', 'a"b', 'a\n', 'ü', 'a:b', 'a=b', '(a)', '@'])(
    'a webhook secret may not be %j',
    (secret) => {
      expect(WEBHOOK_SECRET_PATTERN.test(secret)).toBe(false);
    },
  );
});
