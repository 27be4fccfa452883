import { z } from 'zod';
import { ADMIN_ERROR_CODE_MEANINGS } from './admin-error-codes.ts';
import { ERROR_CODE_MEANINGS } from './error-codes.ts';

/** A word of X-Error-Code, for the document with the meaning of each. */
export const errorCode = codeSchema(ERROR_CODE_MEANINGS, 'insufficient-credit');

/** The same for the document of the admin interface. */
export const adminErrorCode = codeSchema(ADMIN_ERROR_CODE_MEANINGS, 'project-not-found');

/** The text of an error under `error`. */
export const errorText = z.string().meta({
  description: 'What is wrong with the request and what to change, for people',
  examples: ['Invalid sms type, use one of verification, custom, whatsapp-template'],
});

/** The text of an error under `message`. */
export const messageText = z.string().meta({
  description: 'What happened, for people',
  examples: ['Unauthorized, please use your project api key'],
});

/** Specification 7: what the usual envelope makes of a 400 and a 409. */
export const errorBody = z.object({ error: errorText }).meta({
  id: 'ErrorBody',
  description: 'A request that has to be changed',
});

/** Specification 7: what the usual envelope makes of every other error. */
export const messageBody = z.object({ message: messageText }).meta({
  id: 'MessageBody',
  description: 'A request that was rejected for another reason than what it says',
});

function codeSchema<Code extends string>(meanings: Readonly<Record<Code, string>>, example: NoInfer<Code>) {
  const list = Object.entries(meanings).map(([code, meaning]) => `- \`${code}\`: ${meaning}`);
  return z.enum(Object.keys(meanings) as [Code, ...Code[]]).meta({
    id: 'ErrorCode',
    description: `Why a request was rejected, for programs. A word is never renamed; more may be added.\n\n${list.join('\n')}`,
    examples: [example],
    'x-enum-descriptions': Object.values(meanings),
  });
}
