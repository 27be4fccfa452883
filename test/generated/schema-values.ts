import fc from 'fast-check';
import type { OpenApi } from '../../src/adapters/http/openapi/open-api.ts';
import type { JsonSchema } from '../../src/adapters/http/openapi/schemas.ts';

/** Stands in a generated value for JSON that no JavaScript value has, such as 1e999; `toJson` writes it as it is. */
export const asWritten = (json: string): string => `@json:${Buffer.from(json).toString('base64')}@`;

/** Values that exist, for a field or parameter of this name; null leaves the value to the schema. */
export type ExistingValues = (name: string) => fc.Arbitrary<unknown> | null;

type Values = fc.Arbitrary<unknown>;

/** What this file understands. A document that uses more fails the run, which then has to learn it. */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...[
    '$ref',
    'type',
    'const',
    'enum',
    'anyOf',
    'oneOf',
    'discriminator',
    'default',
    'description',
    'title',
    'examples',
    'example',
  ],
  ...['properties', 'required', 'additionalProperties', 'propertyNames'],
  ...['items', 'minItems', 'maxItems', 'minLength', 'maxLength', 'pattern', 'format', 'minimum', 'maximum'],
]);

/** Of a text whose schema names no maximum. */
const LENGTH_MAX = 512;
const USUAL_LENGTH_MAX = 24;
const USUAL_ITEMS_MAX = 3;
/** How often of so many times each optional member is present: seldom, sometimes, mostly. */
const OFTEN_MAX = 10;
const HOW_OFTEN = [1, 5, 9];
/** Around the instant at which a harness starts. */
const INSTANTS = { min: new Date('2029-12-31T00:00:00Z'), max: new Date('2030-01-03T00:00:00Z') };
/** As deep as a body may be, one level more, and as deep as recursion does not go. */
const DEPTHS = [30, 31, 32, 33, 20_000];

const ANYTHING: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  '',
  '0',
  'null',
  [],
  {},
  [null],
  [[]],
  { toString: 1 },
  ...['1e999', '-1e999', '-0', '1E400', '9007199254740993', `${'9'.repeat(400)}`, '0.1e-400'].map(asWritten),
  ...['"\\ud800"', '"\\udc00\\ud800"', '"a\\u0000b"', '{"__proto__":{"x":1}}', '{"a":1,"a":2}'].map(
    asWritten,
  ),
  ...DEPTHS.map((depth) => asWritten('['.repeat(depth) + ']'.repeat(depth))),
];
/** Put into a text that is well formed. */
const TEXT_BREAKERS = [
  '\u0000',
  '\ud800',
  '\udfff',
  '\u0007',
  '\u0085',
  '\u202e',
  '\u2028',
  '😀',
  '٣',
  ' ',
  '\n',
  "'",
  '"',
  '<b>',
];

/** Arbitraries of fast-check from the JSON Schemas of a document: values that fit, and values just beside. */
export class SchemaValues {
  readonly #document: OpenApi;
  readonly #existing: ExistingValues;

  constructor(document: OpenApi, existing: ExistingValues) {
    this.#document = document;
    this.#existing = existing;
  }

  /** What a local reference points to, or the schema itself. Throws for a keyword that is not known here. */
  resolve(schema: JsonSchema): JsonSchema {
    const unknown = Object.keys(schema).find((keyword) => !KEYWORDS.has(keyword));
    if (unknown !== undefined)
      throw new Error(`The document uses the keyword ${unknown}: generate values for it`);
    if (typeof schema.$ref !== 'string') return schema;
    const parts = schema.$ref.replace('#/', '').split('/');
    const found = parts.reduce<unknown>((value, part) => Object(value)[part], this.#document);
    return this.resolve(found as JsonSchema);
  }

  /** Values that the schema allows, its limits more often than chance would. */
  fitting(given: JsonSchema, name = ''): Values {
    const schema = this.resolve(given);
    if ('const' in schema) return fc.constant(schema.const);
    if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
    const choices = choicesOf(schema);
    if (choices !== null) {
      const weighted = choices.map((choice) => ({
        weight: this.resolve(choice).type === 'null' ? 1 : 12,
        arbitrary: this.fitting(choice, name),
      }));
      return fc.oneof(...weighted);
    }
    const existing = this.#existing(name);
    const bySchema = this.#fittingType(schema);
    return existing === null
      ? bySchema
      : fc.oneof({ weight: 12, arbitrary: existing }, { weight: 1, arbitrary: bySchema });
  }

  /** Values that break one rule of the schema, or only seem to: just outside a limit, of another type, half a character. */
  breaking(given: JsonSchema, name = ''): Values {
    const schema = this.resolve(given);
    const anything = fc.constantFrom(...ANYTHING);
    const choices = choicesOf(schema);
    if (choices !== null) {
      const broken = choices
        .filter((choice) => this.resolve(choice).type !== 'null')
        .map((choice) => this.breaking(choice, name));
      return fc.oneof(anything, ...broken.map((arbitrary) => ({ weight: 4, arbitrary })));
    }
    const others = this.#breakingType(schema, name);
    return others === null
      ? anything
      : fc.oneof({ weight: 1, arbitrary: anything }, { weight: 3, arbitrary: others });
  }

  #fittingType(schema: JsonSchema): Values {
    switch (schema.type) {
      case 'string':
        return textsOf(schema);
      case 'integer':
      case 'number':
        return numbersOf(schema);
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      case 'array':
        return this.#listsOf(schema);
      case 'object':
        return this.#objectsOf(schema);
      default:
        return fc.constantFrom(...ANYTHING);
    }
  }

  #breakingType(schema: JsonSchema, name: string): Values | null {
    switch (schema.type) {
      case 'string':
        return brokenTextsOf(schema, this.fitting(schema, name));
      case 'integer':
      case 'number': {
        const { min, max } = boundsOf(schema);
        const beside = [min - 1, max + 1, min + 0.5, -max, String(min), asWritten('1e400')];
        return fc.constantFrom(...beside);
      }
      case 'array':
        return this.#brokenListsOf(schema);
      case 'object':
        return this.#brokenObjectsOf(schema);
      default:
        return null;
    }
  }

  #listsOf(schema: JsonSchema): Values {
    const { items, least, most } = listParts(schema);
    const usual = fc.array(this.fitting(items), {
      minLength: least,
      maxLength: Math.min(most, least + USUAL_ITEMS_MAX),
    });
    const full = this.fitting(items).map((item) => Array.from({ length: most }, () => item));
    return fc.oneof({ weight: 60, arbitrary: usual }, { weight: 1, arbitrary: full });
  }

  #brokenListsOf(schema: JsonSchema): Values {
    const { items, least, most } = listParts(schema);
    const item = this.fitting(items);
    const withBroken = fc
      .tuple(fc.array(item, { maxLength: USUAL_ITEMS_MAX }), this.breaking(items))
      .map(([before, broken]) => [...before, broken]);
    const lengths = [least - 1, most + 1].filter((length) => length >= 0);
    const outside = fc
      .tuple(item, fc.constantFrom(...lengths))
      .map(([each, length]) => Array.from({ length }, () => each));
    return fc.oneof({ weight: 12, arbitrary: withBroken }, { weight: 1, arbitrary: outside });
  }

  #objectsOf(schema: JsonSchema): Values {
    const { properties, required } = objectParts(schema);
    const members = Object.entries(properties).map(([name, member]) =>
      fc
        .tuple(this.fitting(member, name), fc.nat({ max: OFTEN_MAX - 1 }))
        .map(([value, rank]) => ({ name, value, rank: required.includes(name) ? -1 : rank })),
    );
    const named = fc
      .tuple(fc.constantFrom(...HOW_OFTEN), ...members)
      .map(([often, ...all]) =>
        Object.fromEntries(all.filter(({ rank }) => rank < often).map(({ name, value }) => [name, value])),
      );
    const { additionalProperties, propertyNames } = schema;
    if (typeof additionalProperties !== 'object' || additionalProperties === null) return named;
    const keys = this.fitting((propertyNames ?? { type: 'string' }) as JsonSchema) as fc.Arbitrary<string>;
    const more = fc.dictionary(keys, this.fitting(additionalProperties as JsonSchema), {
      maxKeys: USUAL_ITEMS_MAX,
    });
    return fc.tuple(named, more).map(([object, rest]) => ({ ...rest, ...object }));
  }

  #brokenObjectsOf(schema: JsonSchema): Values {
    const { properties, required } = objectParts(schema);
    const fitting = this.#objectsOf(schema) as fc.Arbitrary<Record<string, unknown>>;
    const replaced = Object.entries(properties).map(([name, member]) =>
      fc.tuple(fitting, this.breaking(member, name)).map(([object, value]) => ({ ...object, [name]: value })),
    );
    const missing = required.map((name) => fitting.map(({ [name]: _, ...rest }) => rest));
    const additional = schema.additionalProperties;
    const hasRest = typeof additional === 'object' && additional !== null;
    const odd = fc
      .tuple(
        fitting,
        fc.constantFrom('', '__proto__', 'a b', '\u0000', '\ud800', 'x'.repeat(65), '100', 'body.1'),
        this.#rest(schema),
      )
      .map(([object, key, value]) => ({ ...object, ...Object.fromEntries([[key, value]]) }));
    const all: Values[] = [...replaced, ...missing, ...(hasRest ? [odd] : [])];
    return all.length === 0 ? fitting : fc.oneof(...all);
  }

  #rest({ additionalProperties }: JsonSchema): Values {
    const hasSchema = typeof additionalProperties === 'object' && additionalProperties !== null;
    if (!hasSchema) return fc.constant(1);
    const schema = additionalProperties as JsonSchema;
    return fc.oneof(this.fitting(schema), this.breaking(schema));
  }
}

/** A generated value as JSON text; `asWritten` becomes what it stands for. */
export function toJson(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replaceAll(/"@json:([A-Za-z0-9+/=]*)@"/g, (_, base64: string) =>
    Buffer.from(base64, 'base64').toString('utf8'),
  );
}

function choicesOf(schema: JsonSchema): readonly JsonSchema[] | null {
  // An optional field of a body may be null too.
  if (Array.isArray(schema.type)) return schema.type.map((type) => ({ ...schema, type }));
  return (schema.anyOf ?? schema.oneOf ?? null) as readonly JsonSchema[] | null;
}

function textsOf(schema: JsonSchema): Values {
  const { least, most } = lengthsOf(schema);
  const fits = (text: string): boolean => text.length >= least && text.length <= most;
  if (schema.format === 'date-time') return dateTimes();
  // Few made-up addresses are ones that webhooks may go to.
  if (schema.format === 'uri' && Array.isArray(schema.examples)) return fc.constantFrom(...schema.examples);
  if (typeof schema.pattern === 'string') {
    const texts = fc.stringMatching(new RegExp(schema.pattern), { size: '-1' });
    return texts.filter(fits);
  }
  const exactly = (length: number) => fc.constant('x'.repeat(length));
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.string({ minLength: least, maxLength: Math.min(most, least + USUAL_LENGTH_MAX) }),
    },
    {
      weight: 4,
      arbitrary: fc
        .string({ unit: 'grapheme', minLength: least, maxLength: Math.min(most, least + USUAL_LENGTH_MAX) })
        .filter(fits),
    },
    { weight: 1, arbitrary: exactly(least) },
    { weight: 1, arbitrary: exactly(most) },
  );
}

function dateTimes(): fc.Arbitrary<string> {
  const near = fc.date({ ...INSTANTS, noInvalidDate: true });
  return fc.oneof(
    { weight: 8, arbitrary: near.map((date) => date.toISOString()) },
    { weight: 1, arbitrary: near.map((date) => date.toISOString().replace('Z', '+03:00')) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '2030-01-01T00:00:00Z',
        '2030-01-01T00:00:00.001Z',
        '0000-01-01T00:00:00Z',
        '9999-12-31T23:59:59.999Z',
        '9999-12-31T23:59:59.9999-23:59',
      ),
    },
  );
}

function brokenTextsOf(schema: JsonSchema, fitting: Values): Values {
  const { least, most } = lengthsOf(schema);
  const outside = [least - 1, most + 1].filter((length) => length >= 0);
  const changed = fc
    .tuple(fitting, fc.constantFrom(...TEXT_BREAKERS), fc.nat({ max: 2 }))
    .map(([text, breaker, place]) => insert(typeof text === 'string' ? text : '', breaker, place));
  return fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...outside.map((length) => '7'.repeat(length))) },
    { weight: 2, arbitrary: changed },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '',
        'NaN',
        '../..',
        '%00',
        'https://user:pass@localhost/',
        'x'.repeat(40_000),
      ),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: USUAL_LENGTH_MAX }) },
  );
}

/** At the beginning, in the middle or at the end. */
function insert(text: string, inserted: string, place: number): string {
  const index = Math.floor((text.length * place) / 2);
  return text.slice(0, index) + inserted + text.slice(index);
}

function numbersOf(schema: JsonSchema): Values {
  const { min, max } = boundsOf(schema);
  const limits = fc.constantFrom(min, max, min + 1, max - 1);
  const least = Math.ceil(min);
  const small = fc.integer({ min: least, max: Math.min(max, least + 5) });
  if (schema.type === 'integer') return fc.oneof(limits, small, fc.integer({ min, max }));
  return fc.oneof(limits, small, fc.double({ min, max, noNaN: true }));
}

function boundsOf({ minimum, maximum }: JsonSchema): { readonly min: number; readonly max: number } {
  return {
    min: typeof minimum === 'number' ? minimum : -2_147_483_648,
    max: typeof maximum === 'number' ? maximum : 2_147_483_647,
  };
}

function lengthsOf({ minLength, maxLength }: JsonSchema): { readonly least: number; readonly most: number } {
  return {
    least: typeof minLength === 'number' ? minLength : 0,
    most: typeof maxLength === 'number' ? maxLength : LENGTH_MAX,
  };
}

function listParts({ items, minItems, maxItems }: JsonSchema) {
  return {
    items: (items ?? {}) as JsonSchema,
    least: typeof minItems === 'number' ? minItems : 0,
    most: typeof maxItems === 'number' ? maxItems : USUAL_ITEMS_MAX,
  };
}

function objectParts({ properties, required }: JsonSchema) {
  return {
    properties: (properties ?? {}) as Readonly<Record<string, JsonSchema>>,
    required: (required ?? []) as readonly string[],
  };
}
