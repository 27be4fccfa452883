import type { z } from 'zod';

/** What is wrong with a body that is no JSON object. */
export const BODY_ERROR = 'The request body must be a JSON object';

/** Of an object that takes no field of an unknown name: such a field has the usual text, with its name. */
export const STRICT_BODY_ERROR = {
  error: ({ code }: z.core.$ZodRawIssue) => (code === 'invalid_type' ? BODY_ERROR : undefined),
};
