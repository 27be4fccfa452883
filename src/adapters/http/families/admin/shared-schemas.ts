import { z } from 'zod';
import { IQD_MAX, isIqdAmount } from '../../../../domain/shared/money.ts';
import { wholeNumber } from '../../input/query-fields.ts';
import { nameField } from '../../input/text-fields.ts';
import {
  ADMIN_CURSOR_CHARACTERS_MAX,
  ADMIN_LIMIT_DEFAULT,
  ADMIN_LIMIT_MAX,
  REASON_CHARACTERS_MAX,
} from '../../limits.ts';

/** Switches a limit off; null would be the same as absent. */
export const OFF = 'off';

export const ID_EXAMPLE = '01b8dac69e60278320fd635c';
export const INSTANT_EXAMPLE = '2030-01-01T00:00:00.000Z';

/** An instant in a reply, ISO 8601. */
export const instant = z.iso.datetime();
/** An amount in a reply, in IQD. */
export const iqdAmount = z.number();

/** Our id of what a reply shows. */
export const id = z.string().meta({ description: '24 hex characters', examples: [ID_EXAMPLE] });
export const projectId = z.string().meta({ description: 'The id of the project', examples: [ID_EXAMPLE] });

export const oneOf = <const Values extends readonly [string, ...string[]]>(name: string, values: Values) =>
  z.enum(values, { error: `${name} must be one of ${values.join(', ')}` });

export function whole(name: string, min: number, max: number) {
  const error = `${name} must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** An IQD amount from `min` on with at most three decimals. */
export function amountField(name: string, min: number) {
  const error = `${name} must be an IQD amount from ${min} to ${IQD_MAX} with at most three decimals`;
  return z.number({ error }).min(min, { error }).max(IQD_MAX, { error }).refine(isIqdAmount, { error });
}

/** The smallest amount that there is, in IQD. */
export const SMALLEST_IQD = 0.001;

export const reason = nameField('reason', 1, REASON_CHARACTERS_MAX);

/** Where a list goes on. */
export const next = z
  .string()
  .nullable()
  .meta({ description: '`cursor` of the next page; null on the last one', examples: [null] });

/** The same in a list of which not every row is shown. */
export const nextOfShort = z
  .string()
  .nullable()
  .meta({
    description: '`cursor` of the next page; null on the last one. A short page may have a next one.',
    examples: [null],
  });

export const limit = wholeNumber('limit', 1, ADMIN_LIMIT_MAX)
  .default(ADMIN_LIMIT_DEFAULT)
  .meta({ description: 'Entries of a page', examples: [ADMIN_LIMIT_DEFAULT] });
export const cursor = z
  .string()
  .max(ADMIN_CURSOR_CHARACTERS_MAX, { error: 'cursor is not one of a page' })
  .meta({ description: '`next` of the page before', examples: ['WyIwMWI4ZGFjNjllNjAyNzgzMjBmZDYzNWMiXQ'] });

/** The query of every list. */
export const pageQuery = z.object({ limit, cursor: cursor.optional() });

export const project = z
  .string()
  .meta({ description: 'The id or the slug of a project', examples: ['souq'] });
export const projectParams = z.object({ project });
