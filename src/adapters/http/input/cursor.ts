import type { z } from 'zod';
import { limitedJsonOf } from '../../../domain/shared/json-text.ts';
import { invalid } from '../replies/http-error.ts';
import { textMistakes } from './text-mistakes.ts';

type CursorPlace = readonly (string | number | null)[];

/** A place in a list as an opaque text. */
export function cursorOf(place: CursorPlace): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** The cursor of the page that begins behind `next`; null when there is none. */
export function nextCursor<Next>(next: Next | null, placeIn: (next: Next) => CursorPlace): string | null {
  return next === null ? null : cursorOf(placeIn(next));
}

/** Rejects a cursor that is not one of the list with 400. */
export function invalidCursor(): Error {
  return invalid('cursor is not one of a page');
}

/** The place that a cursor names; null without one. Rejects with 400 what is no cursor of such a list. */
export function placeOf<Place>(cursor: string | undefined, schema: z.ZodType<Place>): Place | null {
  if (cursor === undefined) return null;
  const place = schema.safeParse(limitedJsonOf(Buffer.from(cursor, 'base64url').toString('utf8')));
  if (!place.success || textMistakes(place.data).next().done !== true) throw invalidCursor();
  return place.data;
}
