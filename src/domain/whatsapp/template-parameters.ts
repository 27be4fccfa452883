import type { WhatsappTemplate } from './whatsapp-resources.ts';

export type ParameterValue = string | number;

/** Specification 4.1 and 2.3: values for the placeholders of a template, each part optional. */
export interface TemplateParameters {
  readonly body?: Readonly<Record<string, ParameterValue>>;
  readonly header?: Readonly<Record<string, ParameterValue>>;
  readonly buttons?: Readonly<Record<string, Readonly<Record<string, ParameterValue>>>>;
}

/** Of one message, as JSON in UTF-8: the longest value in Arabic and what else a template takes. Batches count messages. */
export const TEMPLATE_PARAMETERS_BYTES_MAX = 10 * 1_024;

const toUtf8 = new TextEncoder();

/** How many bytes the values take where they are stored: JSON in UTF-8. */
export function parametersBytes(parameters: TemplateParameters): number {
  return toUtf8.encode(JSON.stringify(parameters)).length;
}

/** One parameter of a template, and its place in `templateParameters`. */
export interface TemplateField {
  readonly key: string;
  readonly label: string;
  readonly path: readonly string[];
}

const MEDIA_KEY: Readonly<Record<string, string>> = {
  IMAGE: 'imageUrl',
  VIDEO: 'videoUrl',
  DOCUMENT: 'documentUrl',
};

const HTTP_URL_PATTERN = /^https?:\/\/\S+$/i;

/** Every parameter of the template, in the order of its components. */
export function requiredFields(template: WhatsappTemplate): readonly TemplateField[] {
  const fields: TemplateField[] = [];
  for (const component of template.components) {
    if (component.type === 'HEADER') {
      const mediaKey = MEDIA_KEY[component.format ?? 'TEXT'];
      if (mediaKey !== undefined) {
        fields.push({
          key: mediaKey,
          label: `Header ${component.format?.toLowerCase()}`,
          path: ['header', mediaKey],
        });
      } else {
        for (const key of placeholders(component.text)) {
          fields.push({ key, label: `Header {{${key}}}`, path: ['header', key] });
        }
      }
    }
    if (component.type === 'BODY') {
      for (const key of placeholders(component.text)) {
        fields.push({ key, label: `Body {{${key}}}`, path: ['body', key] });
      }
    }
    for (const [index, button] of (component.buttons ?? []).entries()) {
      for (const key of placeholders(button.url ?? button.text)) {
        fields.push({ key, label: `Button ${index} {{${key}}}`, path: ['buttons', String(index), key] });
      }
    }
  }
  return fields;
}

/** The first part of the parameters that does not fit the template, as a path such as `templateParameters.body.1`. */
export type ParameterRejection =
  | { readonly kind: 'template-parameter-missing'; readonly path: string }
  | { readonly kind: 'template-parameter-unknown'; readonly path: string }
  /** Header media that is no http or https URL. */
  | { readonly kind: 'template-parameter-no-url'; readonly path: string };

/** Null when the parameters are exactly those of a template, and its header media is a URL. */
export type ParameterCheck = (given: TemplateParameters) => ParameterRejection | null;

/** Reads the template once: it may be checked for the parameters of a thousand recipients. */
export function parameterCheck(template: WhatsappTemplate): ParameterCheck {
  const fields = requiredFields(template);
  const known = new Set(fields.map((field) => parameterPath(field.path)));
  const media = mediaKeyOf(template);
  return (given) => {
    const missing = fields.find((field) => valueAt(given, field.path) === undefined);
    if (missing !== undefined)
      return { kind: 'template-parameter-missing', path: parameterPath(missing.path) };
    const unknown = givenPaths(given).find((path) => !known.has(path));
    if (unknown !== undefined) return { kind: 'template-parameter-unknown', path: unknown };
    return media !== undefined && !isHttpUrl(given.header?.[media])
      ? { kind: 'template-parameter-no-url', path: parameterPath(['header', media]) }
      : null;
  };
}

function mediaKeyOf({ components }: WhatsappTemplate): string | undefined {
  const header = components.find(({ type }) => type === 'HEADER');
  return header === undefined ? undefined : MEDIA_KEY[header.format ?? 'TEXT'];
}

/** Spelled out: a parser would put white space and missing slashes right, and the channel provider may not. */
function isHttpUrl(value: ParameterValue | undefined): boolean {
  return typeof value === 'string' && HTTP_URL_PATTERN.test(value) && URL.canParse(value);
}

function givenPaths({ header = {}, body = {}, buttons = {} }: TemplateParameters): readonly string[] {
  return [
    ...Object.keys(header).map((key) => parameterPath(['header', key])),
    ...Object.keys(body).map((key) => parameterPath(['body', key])),
    ...Object.entries(buttons).flatMap(([index, values]) =>
      Object.keys(values).map((key) => parameterPath(['buttons', index, key])),
    ),
  ];
}

/** Where a request has the parameter, for people. */
export function parameterPath(path: readonly string[]): string {
  return ['templateParameters', ...path].join('.');
}

function placeholders(text: string | undefined): readonly string[] {
  const keys = new Set<string>();
  for (const match of (text ?? '').matchAll(/\{\{([A-Za-z0-9_]{1,64})\}\}/g)) {
    if (match[1] !== undefined) keys.add(match[1]);
  }
  return [...keys];
}

function valueAt(given: unknown, path: readonly string[]): unknown {
  let value = given;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value === '' ? undefined : value;
}
