import type { JsonSchema, SchemaWriter } from './schemas.ts';

/**
 * An example of a schema: its own, else one that is made of those of its fields. Of alternatives it is that of the first.
 * Undefined when a field has none.
 */
export function exampleOf(schema: JsonSchema, writer: SchemaWriter): unknown {
  const { examples, default: preset, properties, items, ...rest } = writer.resolved(schema);
  if (Array.isArray(examples)) return examples[0];
  if ('const' in rest) return rest.const;
  if (preset !== undefined) return preset;
  const [first] = alternativesOf(rest);
  if (first !== undefined) return exampleOf(first, writer);
  if (items !== undefined) return [exampleOf(items as JsonSchema, writer)];
  if (properties === undefined) return undefined;
  const fields = Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(([name, field]) => [
    name,
    exampleOf(field, writer),
  ]);
  return fields.some(([, example]) => example === undefined) ? undefined : Object.fromEntries(fields);
}

/** `example` or `examples` of a body: one for each alternative that has a name. */
export function bodyExamples(schema: JsonSchema, writer: SchemaWriter): JsonSchema {
  const alternatives = alternativesOf(writer.resolved(schema)).filter(({ $ref }) => typeof $ref === 'string');
  if (alternatives.length < 2) return { example: exampleOf(schema, writer) };
  const examples = alternatives.map((alternative) => [
    nameOf(alternative),
    { summary: writer.resolved(alternative).description, value: exampleOf(alternative, writer) },
  ]);
  return { examples: Object.fromEntries(examples) };
}

function alternativesOf({ anyOf, oneOf }: JsonSchema): readonly JsonSchema[] {
  return (anyOf ?? oneOf ?? []) as readonly JsonSchema[];
}

function nameOf({ $ref }: JsonSchema): string {
  return String($ref).split('/').at(-1) ?? '';
}
