import { type Refusal, Refused } from '../../application/refused.ts';
import { toIqd } from '../../domain/shared/money.ts';
import { BadRequest, type ErrorAnswer } from './answer.ts';

const SECONDS_PER_MINUTE = 60;

export const UNAUTHORIZED: ErrorAnswer = {
  status: 401,
  code: 'unauthorized',
  body: { message: 'Unauthorized, please use your project api key' },
  headers: ['WWW-Authenticate', 'Bearer'],
};
export const NOT_FOUND: ErrorAnswer = { status: 404, code: 'not-found', body: { message: 'Not found' } };
export const REQUEST_TIMEOUT: ErrorAnswer = {
  status: 408,
  code: 'request-timeout',
  body: { message: 'The request did not arrive in time' },
};
export const BODY_TOO_LARGE: ErrorAnswer = {
  status: 413,
  code: 'body-too-large',
  body: { message: 'The request body is too large' },
};
export const UNSUPPORTED_MEDIA_TYPE: ErrorAnswer = {
  status: 415,
  code: 'unsupported-media-type',
  body: { message: 'The request body must be application/json in UTF-8, without compression' },
};
export const EXPECTATION_FAILED: ErrorAnswer = {
  status: 417,
  code: 'expectation-failed',
  body: { message: 'Only the expectation 100-continue is supported' },
};
export const HEADERS_TOO_LARGE: ErrorAnswer = {
  status: 431,
  code: 'headers-too-large',
  body: { message: 'The request headers are too large' },
};
export const MALFORMED_REQUEST: ErrorAnswer = {
  status: 400,
  code: 'malformed-request',
  body: { error: 'The request is malformed' },
};
export const OVERLOADED: ErrorAnswer = {
  status: 503,
  code: 'overloaded',
  body: { message: 'Too many requests are being answered, try again shortly' },
  headers: ['Retry-After', '1'],
};
export const INTERNAL_ERROR: ErrorAnswer = {
  status: 500,
  code: 'internal-error',
  body: { message: 'Internal server error' },
};
export const RESOURCES_FAILED: ErrorAnswer = {
  status: 500,
  code: 'resources-failed',
  body: { success: false, message: 'Failed to fetch whatsapp resources' },
};

/** The answer on a known path to a method it does not have. */
export function methodNotAllowed(allow: string): ErrorAnswer {
  return {
    status: 405,
    code: 'method-not-allowed',
    body: { message: 'Method not allowed' },
    headers: ['Allow', allow],
  };
}

/** The answer to whatever a handler threw, or null when it is a fault and not a refusal. */
export function errorAnswer(error: unknown): ErrorAnswer | null {
  if (error instanceof BadRequest) return error.answer;
  if (error instanceof Refused) return refusalAnswer(error.refusal);
  return null;
}

/**
 * Specification 7. The texts hold the words that published clients tell the cases apart by, and no text
 * holds a word that belongs to another case.
 */
export function refusalAnswer(refusal: Refusal): ErrorAnswer {
  switch (refusal.kind) {
    case 'unauthorized':
      return UNAUTHORIZED;
    case 'overloaded':
      return OVERLOADED;
    case 'ip-not-allowed':
      return { status: 403, code: refusal.kind, body: { message: 'This IP address is not allowed' } };
    case 'message-not-found':
      return { status: 404, code: refusal.kind, body: { message: 'SMS not found' } };
    case 'idempotency-conflict':
      return {
        status: 409,
        code: refusal.kind,
        body: { error: 'This Idempotency-Key was already used with another request' },
      };
    case 'sender-id-not-found':
      return refused(refusal.kind, 'SenderID not found');
    case 'sender-id-not-accepted':
      return refused(refusal.kind, 'SenderID not yet accepted');
    case 'trial-mode':
      return refused(
        refusal.kind,
        'The account is in trial mode: until funds are added, only its own number may receive messages',
      );
    case 'webhook-url-refused':
      return refused(refusal.kind, 'deliveryReport.webhookUrl is an address that webhooks are not posted to');
    case 'unsupported-content':
      return refused(refusal.kind, 'The provider cannot carry this kind of message');
    case 'unsupported-destination':
      return refused(refusal.kind, 'Messages to this country are not supported');
    case 'test-number':
      return refused(refusal.kind, 'Test numbers work with sk_dev keys only');
    case 'whatsapp-account-not-found':
      return refused(refusal.kind, 'whatsappAccountId is not one of the project');
    case 'whatsapp-phone-not-found':
      return refused(refusal.kind, 'whatsappPhoneId is not one of the project');
    case 'template-not-found':
      return refused(refusal.kind, 'Template not found');
    case 'template-not-approved':
      return refused(refusal.kind, 'Template not yet approved');
    case 'template-parameter-missing':
      return refused(refusal.kind, `${refusal.path} is required by the template`);
    case 'rate-limited': {
      const { waitMinutes, maxRequests, timeWindowMinutes } = refusal;
      return {
        status: 429,
        code: refusal.kind,
        body: {
          message: `Rate limit exceeded, please wait ${waitMinutes} ${waitMinutes === 1 ? 'minute' : 'minutes'}`,
          waitMinutes,
          maxRequests,
          timeWindowMinutes,
        },
        headers: ['Retry-After', String(waitMinutes * SECONDS_PER_MINUTE)],
      };
    }
    case 'spending-threshold': {
      const spendingThreshold = toIqd(refusal.spendingThreshold);
      return refused(
        refusal.kind,
        `Project spending threshold of ${spendingThreshold} IQD would be exceeded`,
        { currentSpending: toIqd(refusal.currentSpending), spendingThreshold, cost: toIqd(refusal.cost) },
      );
    }
    case 'insufficient-credit':
      return refused(refusal.kind, 'Insufficient credit, please add more credit', {
        yourCredit: toIqd(refusal.yourCredit),
        requiredCredit: toIqd(refusal.requiredCredit),
        canCover: false,
      });
    default:
      return refusal satisfies never;
  }
}

function refused(code: string, error: string, numbers: Readonly<Record<string, unknown>> = {}): ErrorAnswer {
  return { status: 400, code, body: { error, ...numbers } };
}
