import { describe, expect, it, test } from 'vitest';
import {
  missingField,
  requiredFields,
  type TemplateParameters,
} from '../../../src/domain/whatsapp/template-parameters.ts';
import type { TemplateComponent } from '../../../src/domain/whatsapp/whatsapp-resources.ts';
import { aWhatsappTemplate } from '../../support/builders.ts';

const template = (...components: TemplateComponent[]) => aWhatsappTemplate({ components });

describe('the fields of a template', () => {
  test.each<[string, TemplateComponent, readonly object[]]>([
    [
      'body, in order, each once',
      { type: 'BODY', text: '{{2}} and {{1}} and {{2}}' },
      [
        { key: '2', label: 'Body {{2}}', path: ['body', '2'] },
        { key: '1', label: 'Body {{1}}', path: ['body', '1'] },
      ],
    ],
    [
      'named placeholders',
      { type: 'BODY', text: 'Hi {{first_name}}' },
      [{ key: 'first_name', label: 'Body {{first_name}}', path: ['body', 'first_name'] }],
    ],
    [
      'header text',
      { type: 'HEADER', format: 'TEXT', text: 'For {{1}}' },
      [{ key: '1', label: 'Header {{1}}', path: ['header', '1'] }],
    ],
    [
      'header without a format',
      { type: 'HEADER', text: 'For {{1}}' },
      [{ key: '1', label: 'Header {{1}}', path: ['header', '1'] }],
    ],
    [
      'header image',
      { type: 'HEADER', format: 'IMAGE' },
      [{ key: 'imageUrl', label: 'Header image', path: ['header', 'imageUrl'] }],
    ],
    [
      'header video',
      { type: 'HEADER', format: 'VIDEO' },
      [{ key: 'videoUrl', label: 'Header video', path: ['header', 'videoUrl'] }],
    ],
    [
      'header document',
      { type: 'HEADER', format: 'DOCUMENT' },
      [{ key: 'documentUrl', label: 'Header document', path: ['header', 'documentUrl'] }],
    ],
    [
      'buttons by their place',
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Yes' },
          { type: 'URL', text: 'Track', url: 'https://x.example/{{1}}' },
        ],
      },
      [{ key: '1', label: 'Button 1 {{1}}', path: ['buttons', '1', '1'] }],
    ],
    ['a footer asks for nothing', { type: 'FOOTER', text: '{{1}}' }, []],
    ['no placeholder', { type: 'BODY', text: 'Hello { {1} } {{}} {{ 1 }} {1}' }, []],
    ['no text', { type: 'BODY' }, []],
    ['no buttons', { type: 'BUTTONS' }, []],
    ['a key of 64 characters', { type: 'BODY', text: `{{${'k'.repeat(65)}}}` }, []],
  ])('%s', (_, component, fields) => {
    expect(requiredFields(template(component))).toEqual(fields);
  });

  it('come in the order of the components', () => {
    const fields = requiredFields(
      template(
        { type: 'HEADER', format: 'IMAGE' },
        { type: 'BODY', text: '{{1}}' },
        { type: 'BUTTONS', buttons: [{ type: 'URL', url: 'https://x.example/{{1}}' }] },
      ),
    );
    expect(fields.map(({ path }) => path.join('.'))).toEqual(['header.imageUrl', 'body.1', 'buttons.0.1']);
  });
});

describe('the first missing value', () => {
  const asks = template(
    { type: 'HEADER', format: 'IMAGE' },
    { type: 'BODY', text: '{{1}} {{2}}' },
    { type: 'BUTTONS', buttons: [{ type: 'URL', url: 'https://x.example/{{1}}' }] },
  );
  const header = { imageUrl: 'https://x.example/a.png' };
  const body = { '1': 'a', '2': 'b' };
  const buttons = { '0': { '1': 'c' } };

  test.each<[string, TemplateParameters, string | null]>([
    ['everything given', { header, body, buttons }, null],
    ['more than asked for', { header, body: { ...body, '3': 'x' }, buttons }, null],
    ['a number zero', { header, body: { '1': 0, '2': 'b' }, buttons }, null],
    ['nothing given', {}, 'header.imageUrl'],
    ['an empty string', { header, body: { '1': 'a', '2': '' }, buttons }, 'body.2'],
    ['one of two', { header, body: { '2': 'b' }, buttons }, 'body.1'],
    ['another button', { header, body, buttons: { '1': { '1': 'c' } } }, 'buttons.0.1'],
    ['a button without its value', { header, body, buttons: { '0': {} } }, 'buttons.0.1'],
    ['the header in the body', { body: { ...body, ...header }, buttons }, 'header.imageUrl'],
  ])('%s', (_, given, path) => {
    expect(missingField(asks, given)?.path.join('.') ?? null).toBe(path);
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['a text, which has positions too', 'abc'],
    ['a number', 7],
  ])('is not found in %s where an object belongs', (_, body) => {
    expect(missingField(asks, { header, body, buttons } as TemplateParameters)?.path).toEqual(['body', '1']);
  });

  it('is not found among what every object inherits', () => {
    const asksForConstructor = template({ type: 'BODY', text: '{{constructor}}' });
    expect(missingField(asksForConstructor, { body: {} })?.key).toBe('constructor');
    expect(missingField(asksForConstructor, { body: { constructor: 'x' } })).toBeNull();
  });
});
