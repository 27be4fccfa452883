import { describe, expect, it, test } from 'vitest';
import {
  parameterCheck,
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
  ])('a template has the parameters of its components: %s', (_, component, fields) => {
    expect(requiredFields(template(component))).toEqual(fields);
  });

  it('the parameters of a template are in the order of its components', () => {
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

describe('the parameters of a template', () => {
  const asks = template(
    { type: 'HEADER', format: 'IMAGE' },
    { type: 'BODY', text: '{{1}} {{2}}' },
    { type: 'BUTTONS', buttons: [{ type: 'URL', url: 'https://x.example/{{1}}' }] },
  );
  const header = { imageUrl: 'https://x.example/a.png' };
  const body = { '1': 'a', '2': 'b' };
  const buttons = { '0': { '1': 'c' } };

  test.each<[string, TemplateParameters]>([
    ['all given', { header, body, buttons }],
    ['a number zero', { header, body: { '1': 0, '2': 'b' }, buttons }],
    ['an http URL', { header: { imageUrl: 'http://x.example/a.png' }, body, buttons }],
    ['a button without parameters', { header, body, buttons: { ...buttons, '1': {} } }],
  ])('the parameters fit the template: %s', (_, given) => {
    expect(parameterCheck(asks)(given)).toBeNull();
  });

  test.each<[string, TemplateParameters, path: string]>([
    ['nothing is given', {}, 'header.imageUrl'],
    ['a value is empty', { header, body: { '1': 'a', '2': '' }, buttons }, 'body.2'],
    ['one of two is given', { header, body: { '2': 'b' }, buttons }, 'body.1'],
    ['another button has it', { header, body, buttons: { '1': { '1': 'c' } } }, 'buttons.0.1'],
    ['the button has no value', { header, body, buttons: { '0': {} } }, 'buttons.0.1'],
    ['it stands in another part', { body: { ...body, ...header }, buttons }, 'header.imageUrl'],
    ['the part is null', { header, body: null, buttons } as never, 'body.1'],
    ['the part is a text, which has positions too', { header, body: 'abc', buttons } as never, 'body.1'],
    ['the part is a number', { header, body: 7, buttons } as never, 'body.1'],
  ])('the first parameter without a value is named: %s', (_, given, path) => {
    expect(parameterCheck(asks)(given)).toEqual({
      kind: 'template-parameter-missing',
      path: `templateParameters.${path}`,
    });
  });

  test.each<[TemplateParameters, path: string]>([
    [{ header, body: { ...body, '3': 'x' }, buttons }, 'body.3'],
    [{ header: { ...header, videoUrl: 'https://x.example/a.mp4' }, body, buttons }, 'header.videoUrl'],
    [{ header, body, buttons: { '0': { '1': 'c', '2': 'd' } } }, 'buttons.0.2'],
    [{ header, body, buttons: { ...buttons, '1': { '1': 'c' } } }, 'buttons.1.1'],
    [{ header, body: { ...body, '3': '' }, buttons }, 'body.3'],
  ])('a parameter that the template does not have is named: %j', (given, path) => {
    expect(parameterCheck(asks)(given)).toEqual({
      kind: 'template-parameter-unknown',
      path: `templateParameters.${path}`,
    });
  });

  test.each([
    'a.png',
    '//x.example/a.png',
    'ftp://x.example/a.png',
    'javascript:alert(1)',
    'https://',
    'https:x.example/a.png',
    ' https://x.example/a.png',
    'https://x.example\n/a.png',
    7,
  ])('header media that is no http or https URL is named: %s', (imageUrl) => {
    expect(parameterCheck(asks)({ header: { imageUrl }, body, buttons })).toEqual({
      kind: 'template-parameter-no-url',
      path: 'templateParameters.header.imageUrl',
    });
  });

  it('header media that is no URL is named wherever the header stands in the template', () => {
    const asksForImage = template({ type: 'BODY', text: '{{1}}' }, { type: 'HEADER', format: 'IMAGE' });
    const given = { header: { imageUrl: 'a.png' }, body: { '1': 'a' } };
    expect(parameterCheck(asksForImage)(given)).toEqual({
      kind: 'template-parameter-no-url',
      path: 'templateParameters.header.imageUrl',
    });
  });

  it('a header of text needs no URL', () => {
    const asksForText = template({ type: 'HEADER', format: 'TEXT', text: '{{imageUrl}}' });
    expect(parameterCheck(asksForText)({ header: { imageUrl: 'no URL' } })).toBeNull();
  });

  it('a parameter is not found among the members that every object inherits', () => {
    const asksForConstructor = template({ type: 'BODY', text: '{{constructor}}' });
    expect(parameterCheck(asksForConstructor)({ body: {} })?.kind).toBe('template-parameter-missing');
    expect(parameterCheck(asksForConstructor)({ body: { constructor: 'x' } })).toBeNull();
  });
});
