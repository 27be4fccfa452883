import { parameterPath, requiredFields, type TemplateParameters } from '../whatsapp/template-parameters.ts';
import type { WhatsappTemplate } from '../whatsapp/whatsapp-resources.ts';

/** Specification 4.17: one value that a recipient has to give. */
export interface PayloadField {
  readonly key: string;
  readonly label: string;
  readonly required: boolean;
  readonly example: string;
  readonly templateParametersPath: string;
}

export interface RecipientPayload {
  readonly fields: readonly PayloadField[];
  readonly exampleRecipient: {
    readonly phoneNumber: string;
    readonly templateParameters: Required<TemplateParameters>;
  };
}

const EXAMPLE_PHONE_NUMBER = '9647701234567';
const EXAMPLE_MEDIA: ReadonlyMap<string, string> = new Map([
  ['imageUrl', 'https://example.com/image.jpg'],
  ['videoUrl', 'https://example.com/video.mp4'],
  ['documentUrl', 'https://example.com/document.pdf'],
]);

/** The values a template asks for, and a recipient that has them all. */
export function recipientPayload(template: WhatsappTemplate): RecipientPayload {
  const fields = requiredFields(template).map(({ key, label, path }) => ({
    path,
    field: {
      key,
      label,
      required: true,
      example: exampleOf(path, key),
      templateParametersPath: parameterPath(path),
    },
  }));
  // A placeholder may have the name of something that every object has: maps keep them apart.
  const body = new Map<string, string>();
  const header = new Map<string, string>();
  const buttons = new Map<string, Record<string, string>>();
  for (const { path, field } of fields) {
    const [part, first = '', second = ''] = path;
    if (part === 'body') body.set(first, field.example);
    else if (part === 'header') header.set(first, field.example);
    else buttons.set(first, { ...buttons.get(first), [second]: field.example });
  }
  return {
    fields: fields.map(({ field }) => field),
    exampleRecipient: {
      phoneNumber: EXAMPLE_PHONE_NUMBER,
      templateParameters: {
        body: Object.fromEntries(body),
        header: Object.fromEntries(header),
        buttons: Object.fromEntries(buttons),
      },
    },
  };
}

function exampleOf([part]: readonly string[], key: string): string {
  const media = part === 'header' ? EXAMPLE_MEDIA.get(key) : undefined;
  return media ?? `Value ${key}`;
}
