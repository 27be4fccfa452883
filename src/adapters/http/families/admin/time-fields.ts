import { z } from 'zod';
import { LATEST_INSTANT_MS } from '../../limits.ts';

const EARLIEST_MS = 0;

/** An instant of a query, in milliseconds since 1970. */
function instantField(name: string) {
  const error = `${name} must be an instant in ISO 8601, such as 2026-01-31T09:00:00Z`;
  return z.iso
    .datetime({ offset: true, error })
    .refine((text) => Date.parse(text) >= EARLIEST_MS && Date.parse(text) <= LATEST_INSTANT_MS, { error })
    .meta({ examples: ['2030-01-01T00:00:00Z'] });
}

export const fromField = instantField('from')
  .meta({ description: 'The first instant, ISO 8601' })
  .transform((text) => Date.parse(text))
  .optional();
export const toField = instantField('to')
  .meta({ description: 'The last instant, ISO 8601' })
  .transform((text) => Date.parse(text))
  .optional();

/** Both ends of a query: all of time without them. */
export function rangeOf({
  from = EARLIEST_MS,
  to = LATEST_INSTANT_MS,
}: {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}): { readonly from: number; readonly to: number } {
  return { from, to };
}
