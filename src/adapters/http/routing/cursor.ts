import type { z } from 'zod';
import { invalid } from './http-error.ts';

/** A place in a list as an opaque text. */
export function cursorOf(place: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** The place that a cursor names; null without one. Rejects with 400 what is no cursor of such a list. */
export function placeOf<Place>(cursor: string | undefined, schema: z.ZodType<Place>): Place | null {
  if (cursor === undefined) return null;
  const place = schema.safeParse(decoded(cursor));
  if (!place.success) throw invalid('cursor is not one of a page');
  return place.data;
}

function decoded(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}
