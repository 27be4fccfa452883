import { z } from 'zod';
import { isJsonObject } from '../../../domain/shared/same-json.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

const NAMED = '#/components/schemas/';

type Override = NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override'];

/**
 * Turns zod schemas into JSON Schema 2020-12, as bodies stand on the wire. A schema with an `id` becomes a named one and is
 * referred to. Throws when two shapes have one name.
 */
export class SchemaWriter {
  readonly #named = new Map<string, JsonSchema>();
  readonly #replies = new Map<z.ZodType, JsonSchema>();

  /** The named schemas so far, in the order of their names. */
  get named(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#named].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** The schema of a reply or a parameter. */
  ofReply(schema: z.ZodType): JsonSchema {
    const known = this.#replies.get(schema) ?? this.#write(schema, (written) => written);
    this.#replies.set(schema, known);
    return known;
  }

  /** The schema of a request, whose optional fields may be null: null is the same as absent. */
  ofRequest(schema: z.ZodType): JsonSchema {
    return this.#write(schema, (written) => withNulls(written, Object(written).$defs));
  }

  /** What a reference to a named schema stands for, or the schema itself. What stands beside the reference comes first. */
  resolved(schema: JsonSchema): JsonSchema {
    const { $ref, ...beside } = schema;
    if (typeof $ref !== 'string') return schema;
    return { ...this.#named.get($ref.slice(NAMED.length)), ...beside };
  }

  #write(schema: z.ZodType, finish: (written: unknown) => unknown): JsonSchema {
    const raw = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12', override: keepSaid });
    const { $schema: _, $defs = {}, ...own } = finish(withPointers(raw)) as JsonSchema;
    for (const [name, written] of Object.entries($defs as Record<string, JsonSchema>))
      this.#name(name, written);
    return own;
  }

  #name(name: string, written: JsonSchema): void {
    const known = this.#named.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(written)) {
      throw new Error(`Two schemas have the name ${name}`);
    }
    this.#named.set(name, written);
  }
}

/** The library drops examples and defaults of a schema that transforms: they may be of what it becomes. Ours never are. */
function keepSaid({ zodSchema, jsonSchema }: Parameters<NonNullable<Override>>[0]): void {
  const { examples, default: preset } = z.globalRegistry.get(zodSchema) ?? {};
  const { def } = zodSchema._zod;
  const defaultValue =
    preset ?? (def.type === 'default' ? (def as z.core.$ZodDefaultDef).defaultValue : undefined);
  if (defaultValue !== undefined) jsonSchema.default = defaultValue as NonNullable<typeof jsonSchema.default>;
  if (examples !== undefined) jsonSchema.examples = examples as NonNullable<typeof jsonSchema.examples>;
}

/** The schema with references into the document. */
function withPointers(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withPointers);
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === '$ref' ? String(value).replace('#/$defs/', NAMED) : withPointers(value),
    ]),
  );
}

/**
 * A field that may be left out may be null. Its default is left to the description: generated clients would require the field.
 */
function withNulls(schema: unknown, named: Readonly<Record<string, JsonSchema>> = {}): unknown {
  if (Array.isArray(schema)) return schema.map((each) => withNulls(each, named));
  if (!isJsonObject(schema)) return schema;
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, withNulls(value, named)]),
  );
  const { properties, required = [] } = copy as { properties?: object; required?: readonly string[] };
  if (properties === undefined) return copy;
  const fields = Object.entries(properties).map(([name, field]) => [
    name,
    required.includes(name) ? field : orNull(field, named),
  ]);
  return { ...copy, properties: Object.fromEntries(fields) };
}

/** The schema, or null; what is said about the field stays outside. */
function orNull(
  { description, examples, default: _, ...schema }: JsonSchema,
  named: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  const reference = typeof schema.$ref === 'string' ? named[schema.$ref.slice(NAMED.length)] : undefined;
  const said = {
    ...((description ?? reference?.description) !== undefined && {
      description: description ?? reference?.description,
    }),
    ...(examples !== undefined && { examples }),
  };
  const isPlain = typeof schema.type === 'string' && schema.enum === undefined && schema.const === undefined;
  return isPlain
    ? { ...schema, type: [schema.type, 'null'], ...said }
    : { anyOf: [schema, { type: 'null' }], ...said };
}
