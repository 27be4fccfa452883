import type { WhatsappTemplate } from './whatsapp-resources.ts';

export type ParameterValue = string | number;

/** Specification 4.1 and 2.3: values for the placeholders of a template, each part optional. */
export interface TemplateParameters {
  readonly body?: Readonly<Record<string, ParameterValue>>;
  readonly header?: Readonly<Record<string, ParameterValue>>;
  readonly buttons?: Readonly<Record<string, Readonly<Record<string, ParameterValue>>>>;
}

/** One value a template asks for, and where in `templateParameters` it is given. */
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

/** Every value the template cannot be sent without, in the order header, body, buttons. */
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

/** The first required field without a value, or null when the parameters fit the template. */
export function missingField(template: WhatsappTemplate, given: TemplateParameters): TemplateField | null {
  return requiredFields(template).find((field) => valueAt(given, field.path) === undefined) ?? null;
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
