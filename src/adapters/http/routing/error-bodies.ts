import { Rejected, type Rejection } from '../../../application/rejected.ts';
import { toIqd } from '../../../domain/shared/money.ts';
import type { ErrorCode } from './error-codes.ts';
import { BadRequest, type ErrorReply } from './http-reply.ts';

const SECONDS_PER_MINUTE = 60;

export const UNAUTHORIZED: ErrorReply = {
  status: 401,
  code: 'unauthorized',
  body: { message: 'Unauthorized, please use your project api key' },
  headers: ['WWW-Authenticate', 'Bearer'],
};
export const NOT_FOUND: ErrorReply = { status: 404, code: 'not-found', body: { message: 'Not found' } };
export const REQUEST_TIMEOUT: ErrorReply = {
  status: 408,
  code: 'request-timeout',
  body: { message: 'The request did not arrive in time' },
};
export const BODY_TOO_LARGE: ErrorReply = {
  status: 413,
  code: 'body-too-large',
  body: { message: 'The request body is too large' },
};
export const UNSUPPORTED_MEDIA_TYPE: ErrorReply = {
  status: 415,
  code: 'unsupported-media-type',
  body: { message: 'The request body must be application/json in UTF-8, without compression' },
};
export const EXPECTATION_FAILED: ErrorReply = {
  status: 417,
  code: 'expectation-failed',
  body: { message: 'Only the expectation 100-continue is supported' },
};
export const HEADERS_TOO_LARGE: ErrorReply = {
  status: 431,
  code: 'headers-too-large',
  body: { message: 'The request headers are too large' },
};
export const MALFORMED_REQUEST: ErrorReply = {
  status: 400,
  code: 'malformed-request',
  body: { error: 'The request is malformed' },
};
export const OVERLOADED: ErrorReply = {
  status: 503,
  code: 'overloaded',
  body: { message: 'Too many requests are being answered, try again shortly' },
  headers: ['Retry-After', '1'],
};
export const INTERNAL_ERROR: ErrorReply = {
  status: 500,
  code: 'internal-error',
  body: { message: 'Internal server error' },
};
export const RESOURCES_FAILED: ErrorReply = {
  status: 500,
  code: 'resources-failed',
  body: { success: false, message: 'Failed to fetch whatsapp resources' },
};

/** The answer on a known path to a method it does not have. */
export function methodNotAllowed(allow: string): ErrorReply {
  return {
    status: 405,
    code: 'method-not-allowed',
    body: { message: 'Method not allowed' },
    headers: ['Allow', allow],
  };
}

/** The answer to whatever a handler threw, or null when it is a fault and not a rejection. */
export function errorReply(error: unknown): ErrorReply | null {
  if (error instanceof BadRequest) return error.answer;
  if (error instanceof Rejected) return rejectionReply(error.rejection);
  return null;
}

/**
 * Specification 7. The texts hold the words that published clients tell the cases apart by, and no text
 * holds a word that belongs to another case.
 */
export function rejectionReply(rejection: Rejection): ErrorReply {
  switch (rejection.kind) {
    case 'unauthorized':
      return UNAUTHORIZED;
    case 'overloaded':
      return OVERLOADED;
    case 'ip-not-allowed':
      return { status: 403, code: rejection.kind, body: { message: 'This IP address is not allowed' } };
    case 'message-not-found':
      return { status: 404, code: rejection.kind, body: { message: 'SMS not found' } };
    case 'idempotency-conflict':
      return {
        status: 409,
        code: rejection.kind,
        body: { error: 'This Idempotency-Key was already used with another request' },
      };
    case 'sender-id-not-found':
      return refused(rejection.kind, 'SenderID not found');
    case 'sender-id-not-accepted':
      return refused(rejection.kind, 'SenderID not yet accepted');
    case 'trial-mode':
      return refused(
        rejection.kind,
        'The account is in trial mode: until funds are added, only its own number may receive messages',
      );
    case 'webhook-url-refused':
      return refused(
        rejection.kind,
        'deliveryReport.webhookUrl is an address that webhooks are not posted to',
      );
    case 'unsupported-content':
      return refused(rejection.kind, 'The provider cannot carry this kind of message');
    case 'unsupported-destination':
      return refused(rejection.kind, 'Messages to this country are not supported');
    case 'test-number':
      return refused(rejection.kind, 'Test numbers work with sk_dev keys only');
    case 'whatsapp-account-not-found':
      return refused(rejection.kind, 'whatsappAccountId is not one of the project');
    case 'whatsapp-phone-not-found':
      return refused(rejection.kind, 'whatsappPhoneId is not one of the project');
    case 'template-not-found':
      return refused(rejection.kind, 'Template not found');
    case 'template-not-approved':
      return refused(rejection.kind, 'Template not yet approved');
    case 'template-parameter-missing':
      return refused(rejection.kind, `${rejection.path} is required by the template`);
    case 'rate-limited': {
      const { waitMinutes, maxRequests, timeWindowMinutes } = rejection;
      return {
        status: 429,
        code: rejection.kind,
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
      const spendingThreshold = toIqd(rejection.spendingThreshold);
      return refused(
        rejection.kind,
        `Project spending threshold of ${spendingThreshold} IQD would be exceeded`,
        { currentSpending: toIqd(rejection.currentSpending), spendingThreshold, cost: toIqd(rejection.cost) },
      );
    }
    case 'insufficient-credit':
      return refused(rejection.kind, 'Insufficient credit, please add more credit', {
        yourCredit: toIqd(rejection.yourCredit),
        requiredCredit: toIqd(rejection.requiredCredit),
        canCover: false,
      });
    default:
      return rejection satisfies never;
  }
}

function refused(
  code: ErrorCode,
  error: string,
  numbers: Readonly<Record<string, unknown>> = {},
): ErrorReply {
  return { status: 400, code, body: { error, ...numbers } };
}
