import { describe, expect, it } from 'vitest';
import { recipientPayload } from '../../../src/domain/campaigns/recipient-payload.ts';
import { parameterCheck } from '../../../src/domain/whatsapp/template-parameters.ts';
import type { TemplateComponent } from '../../../src/domain/whatsapp/whatsapp-resources.ts';
import { aWhatsappTemplate } from '../../support/builders.ts';

const payloadOf = (...components: readonly TemplateComponent[]) =>
  recipientPayload(aWhatsappTemplate({ components }));

describe('the payload of a recipient', () => {
  it('the payload of a template without placeholders has no fields, and an example with every part empty', () => {
    expect(payloadOf({ type: 'BODY', text: 'Hello' })).toEqual({
      fields: [],
      exampleRecipient: {
        phoneNumber: '9647701234567',
        templateParameters: { body: {}, header: {}, buttons: {} },
      },
    });
  });

  it('the payload has a field for each placeholder, with its path and an example', () => {
    const payload = payloadOf(
      { type: 'HEADER', format: 'TEXT', text: 'Order {{number}}' },
      { type: 'BODY', text: 'Hello {{1}} and {{2}} and {{1}}' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Stop' },
          { type: 'URL', text: 'Track', url: 'https://a.example/{{1}}/{{2}}' },
          { type: 'URL', text: 'Pay', url: 'https://a.example/{{1}}' },
        ],
      },
    );
    const field = (key: string, label: string, path: string) => ({
      key,
      label,
      required: true,
      example: `Value ${key}`,
      templateParametersPath: `templateParameters.${path}`,
    });
    expect(payload.fields).toEqual([
      field('number', 'Header {{number}}', 'header.number'),
      field('1', 'Body {{1}}', 'body.1'),
      field('2', 'Body {{2}}', 'body.2'),
      field('1', 'Button 1 {{1}}', 'buttons.1.1'),
      field('2', 'Button 1 {{2}}', 'buttons.1.2'),
      field('1', 'Button 2 {{1}}', 'buttons.2.1'),
    ]);
    expect(payload.exampleRecipient.templateParameters).toEqual({
      header: { number: 'Value number' },
      body: { '1': 'Value 1', '2': 'Value 2' },
      buttons: { '1': { '1': 'Value 1', '2': 'Value 2' }, '2': { '1': 'Value 1' } },
    });
  });

  it.each(['constructor', '__proto__', 'toString'])(
    'a placeholder named %s is one like any other',
    (name) => {
      const payload = payloadOf(
        { type: 'HEADER', format: 'TEXT', text: `{{${name}}}` },
        { type: 'BODY', text: `{{${name}}}` },
        { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Pay', url: `https://a.example/{{${name}}}` }] },
      );
      const example = `Value ${name}`;
      expect(payload.fields.map((field) => field.example)).toEqual([example, example, example]);
      const { header, body, buttons } = payload.exampleRecipient.templateParameters;
      const own = [[name, example]];
      expect([header, body, buttons['0'] ?? {}].map((part) => Object.entries(part))).toEqual([own, own, own]);
    },
  );

  it.each([
    ['IMAGE', 'imageUrl', 'image', 'https://example.com/image.jpg'],
    ['VIDEO', 'videoUrl', 'video', 'https://example.com/video.mp4'],
    ['DOCUMENT', 'documentUrl', 'document', 'https://example.com/document.pdf'],
  ])('the payload of a header of format %s asks for %s', (format, key, word, example) => {
    const components = [
      { type: 'HEADER', format },
      { type: 'BODY', text: `Hello {{${key}}}` },
    ];
    const { fields, exampleRecipient } = payloadOf(...components);
    expect(fields).toEqual([
      {
        key,
        label: `Header ${word}`,
        required: true,
        example,
        templateParametersPath: `templateParameters.header.${key}`,
      },
      // The same word in the body is no media.
      expect.objectContaining({ example: `Value ${key}` }),
    ]);
    const { templateParameters } = exampleRecipient;
    expect(templateParameters).toEqual({
      header: { [key]: example },
      body: { [key]: `Value ${key}` },
      buttons: {},
    });
    expect(parameterCheck(aWhatsappTemplate({ components }))(templateParameters)).toBeNull();
  });
});
