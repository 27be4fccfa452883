import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { SMALL_BODY_BYTES_MAX } from '../limits.ts';
import { invalid } from '../replies/http-error.ts';
import { issueText, pathInBody } from './issue-path.ts';
import { hasEscapes } from './request-body.ts';
import { textMistakes } from './text-mistakes.ts';

/** What the schema makes of the query of a request. Every database can store its texts. Rejects with a 400. */
export function checkedQuery<Schema extends z.ZodObject>(
  schema: Schema,
  request: IncomingMessage,
): z.output<Schema> {
  const fields = parsed(schema, queryValues(request, schema));
  rejectTextMistakes(fields);
  return fields;
}

/** The same for the JSON in a text. Most bodies hold no escape, and need no walk through what is in them. */
export function checkedBody<Schema extends z.ZodType>(
  schema: Schema,
  json: unknown,
  text: string,
): z.output<Schema> {
  const fields = text.length > SMALL_BODY_BYTES_MAX ? parsedOnce(schema, json) : parsed(schema, json);
  if (hasEscapes(text)) rejectTextMistakes(fields);
  return fields;
}

function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (!result.success) throw invalid(issueTextOf(schema, value));
  return result.data;
}

/** The same for a large value, which takes long to parse a second time. */
function parsedOnce<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value, { error: issueText });
  if (!result.success) throw invalid(textOf(result.error));
  return result.data;
}

function rejectTextMistakes(value: unknown): void {
  const [mistake] = textMistakes(value);
  if (mistake !== undefined) throw invalid(`${pathInBody(mistake.path)} ${mistake.message}`);
}

/**
 * What is wrong with a small value that the schema rejects. Only a rejected request is parsed with options: the library copies
 * them into an object of a new hidden class at each call, and all that reads it after that is slow.
 */
function issueTextOf(schema: z.ZodType, value: unknown): string {
  return textOf(schema.safeParse(value, { error: issueText }).error);
}

function textOf(error: z.ZodError | undefined): string {
  return error?.issues[0]?.message ?? 'The request is not valid';
}

/** The declared query parameters as given; a name that comes twice has no single value. */
function queryValues(request: IncomingMessage, schema: z.ZodObject): Readonly<Record<string, string>> {
  const url = request.url ?? '';
  const start = url.indexOf('?');
  if (start === -1) return {};
  const given = new URLSearchParams(url.slice(start + 1));
  const values: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const [value, ...more] = given.getAll(name);
    if (more.length > 0) throw invalid(`${name} must be given once`);
    if (value !== undefined) values[name] = value;
  }
  return values;
}
