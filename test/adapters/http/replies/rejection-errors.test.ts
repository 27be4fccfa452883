import { describe, expect, it, test } from 'vitest';
import { errorReply, usualEnvelope } from '../../../../src/adapters/http/replies/http-error.ts';
import { rejectionError } from '../../../../src/adapters/http/replies/rejection-errors.ts';
import type { Rejection } from '../../../../src/application/errors/rejected.ts';
import { iqd, ZERO } from '../../../../src/domain/shared/money.ts';

type Row = [rejection: Rejection, status: number, body: object];

const text = (rejection: Rejection, error: string): Row => [rejection, 400, { error }];

const REJECTIONS: readonly Row[] = [
  [{ kind: 'unauthorized' }, 401, { message: 'Unauthorized, please use your project api key' }],
  [{ kind: 'ip-not-allowed' }, 403, { message: 'This IP address is not allowed' }],
  [{ kind: 'overloaded' }, 503, { message: 'Too many requests are being served, try again shortly' }],
  [
    { kind: 'too-many-untried' },
    429,
    { message: 'Too many messages of this project have not been tried yet, try again shortly' },
  ],
  [{ kind: 'message-not-found' }, 404, { message: 'SMS not found' }],
  [
    { kind: 'idempotency-conflict' },
    409,
    { error: 'This Idempotency-Key was already used with another request' },
  ],
  [
    { kind: 'rate-limited', waitMinutes: 4, maxRequests: 5, timeWindowMinutes: 10 },
    429,
    {
      message: 'Rate limit exceeded, please wait 4 minutes',
      waitMinutes: 4,
      maxRequests: 5,
      timeWindowMinutes: 10,
    },
  ],
  [
    {
      kind: 'spending-threshold',
      currentSpending: iqd(900),
      spendingThreshold: iqd(1_000.5),
      cost: iqd(200),
    },
    400,
    {
      error: 'Project spending threshold of 1000.5 IQD would be exceeded',
      currentSpending: 900,
      spendingThreshold: 1_000.5,
      cost: 200,
    },
  ],
  [
    { kind: 'insufficient-credit', yourCredit: ZERO, requiredCredit: iqd(200) },
    400,
    {
      error: 'Insufficient credit, please add more credit',
      yourCredit: 0,
      requiredCredit: 200,
      canCover: false,
    },
  ],
  text({ kind: 'sender-id-not-found' }, 'SenderID not found'),
  text({ kind: 'sender-id-not-accepted' }, 'SenderID not yet accepted'),
  text(
    { kind: 'trial-mode' },
    'The account is in trial mode: until funds are added, only its own number may receive messages',
  ),
  text(
    { kind: 'unsupported-content', channels: ['telegram'] },
    'The provider cannot carry this message: telegram carries codes of 4 to 8 digits',
  ),
  text(
    { kind: 'unsupported-content', channels: ['telegram', 'sms'] },
    'The provider cannot carry this message: telegram carries codes of 4 to 8 digits, sms carries codes and texts',
  ),
  text(
    { kind: 'channel-not-available', channel: 'telegram' },
    'The channel telegram is not available to this project',
  ),
  text({ kind: 'unsupported-destination', missing: 'price' }, 'Messages to this country are not supported'),
  text(
    { kind: 'unsupported-destination', missing: 'channel' },
    'No channel that carries this message is available to this project',
  ),
  text({ kind: 'test-number' }, 'Test numbers work with sk_dev keys only'),
  text({ kind: 'whatsapp-account-not-found' }, 'whatsappAccountId is not one of the project'),
  text({ kind: 'whatsapp-phone-not-found', within: 'project' }, 'whatsappPhoneId is not one of the project'),
  text(
    { kind: 'whatsapp-phone-not-found', within: 'account' },
    'whatsappPhoneId is not a number of whatsappAccountId',
  ),
  text({ kind: 'template-not-found' }, 'Template not found'),
  text({ kind: 'template-not-approved' }, 'Template not yet approved'),
  text(
    { kind: 'template-parameter-missing', path: 'templateParameters.body.1' },
    'templateParameters.body.1 is required by the template',
  ),
  text(
    { kind: 'template-parameter-unknown', path: 'templateParameters.body.3' },
    'templateParameters.body.3 is not a parameter of the template',
  ),
  text(
    { kind: 'template-parameter-no-url', path: 'templateParameters.header.imageUrl' },
    'templateParameters.header.imageUrl must be an http or https URL',
  ),
];

/** How published clients tell the cases apart, and to which case each word belongs. */
const WORDS: readonly [word: RegExp, kind: Rejection['kind'] | RegExp][] = [
  [/credit/i, 'insufficient-credit'],
  [/threshold/i, 'spending-threshold'],
  [/trial mode/i, 'trial-mode'],
  [/senderid/i, /^sender-id/],
  [/balance|owner|whitelist/i, /^$/],
];

describe('the error of a rejection', () => {
  test.each(REJECTIONS)('a rejection has its status, code and body: %j', (rejection, status, body) => {
    const reply = errorReply(rejectionError(rejection), usualEnvelope);
    expect(reply.status).toBe(status);
    expect(reply.code).toBe(rejection.kind);
    expect(reply.body).toEqual(body);
  });

  it('the error of a rejection holds no word by which clients tell another error apart', () => {
    for (const [rejection, , body] of REJECTIONS) {
      const said = Object.values(body).filter((value) => typeof value === 'string');
      for (const [word, kind] of WORDS) {
        const belongs = typeof kind === 'string' ? rejection.kind === kind : kind.test(rejection.kind);
        expect([rejection.kind, word.test(said.join(' '))]).toEqual([rejection.kind, belongs]);
      }
    }
  });

  it('the error of a rate limit says in seconds when the client may come back', () => {
    const limited = { kind: 'rate-limited', waitMinutes: 1, maxRequests: 5, timeWindowMinutes: 10 } as const;
    const reply = errorReply(rejectionError(limited), usualEnvelope);
    expect(reply.headers).toEqual(['Retry-After', '60']);
    expect(reply.body.message).toBe('Rate limit exceeded, please wait 1 minute');
  });
});
