import { describe, expect, it } from 'vitest';
import { secretMask } from '../../../src/domain/shared/secret-mask.ts';

const SECRET = "p&ss'w/rd+<x>`98";
const hexOf = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');
const each = (text: string, form: (character: string) => string) => [...text].map(form).join('');
const base64 = (text: string) => Buffer.from(text).toString('base64');

const FORMS: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'percent-encoded': encodeURIComponent,
  'percent-encoded in lower case': (text) =>
    encodeURIComponent(text).replace(/%../g, (octet) => octet.toLowerCase()),
  'percent-encoded sign by sign': (text) => each(text, (character) => `%${hexOf(character)}`),
  'percent-encoded twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  'as a form has it': (text) => new URLSearchParams({ a: text }).toString().slice(2),
  'in JSON': (text) => JSON.stringify(text).slice(1, -1),
  'in JSON that escapes slashes': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  'in JSON with escapes of code units': (text) =>
    text.replace(/[^a-z0-9]/g, (character) => `\\u00${hexOf(character)}`),
  'in JSON with escapes in upper case': (text) =>
    text.replace(/[^a-z0-9]/g, (character) => `\\u00${hexOf(character).toUpperCase()}`),
  'in JSON in JSON': (text) => JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1),
  'in JavaScript': (text) => each(text, (character) => `\\x${hexOf(character)}`),
  'in HTML with names': (text) =>
    text
      .replaceAll('&', '&amp;')
      .replaceAll("'", '&apos;')
      .replaceAll('/', '&sol;')
      .replaceAll('<', '&LT;')
      .replaceAll('`', '&grave;'),
  'in HTML with numbers': (text) => each(text, (character) => `&#${character.charCodeAt(0)};`),
  'in HTML with hex numbers': (text) => each(text, (character) => `&#x${hexOf(character)};`),
  'in HTML with hex numbers in upper case': (text) =>
    each(text, (character) => `&#X000${hexOf(character).toUpperCase()};`),
};

describe('a secret in a text', () => {
  it.each(Object.entries(FORMS))('a mask is in place of a secret %s', (_, form) => {
    const masked = secretMask([SECRET]);
    const text = masked(`before ${form(SECRET)} between ${form(SECRET)} after`);
    expect(text).toBe('before *** between *** after');
  });

  it.each([SECRET, `${SECRET}1`, `${SECRET}12`, 'بغداد-1'])(
    'a mask is in place of a secret in base64, whatever stands around it: %s',
    (secret) => {
      const masked = secretMask([secret]);
      for (const before of ['', 'u', 'us', 'user:', 'é:']) {
        for (const after of ['', '.', '..', '...']) {
          const text = base64(before + secret + after);
          const forUrls = text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
          for (const form of [text, forUrls, encodeURIComponent(text), text.replaceAll('/', '\\/')]) {
            const [beginning = '', end = ''] = masked(form).split('***');
            expect(base64(before).startsWith(beginning), form).toBe(true);
            expect(end.replace(/=|%3D/g, '').length, form).toBeLessThanOrEqual(base64(after).length);
          }
        }
      }
    },
  );

  it('a secret in other scripts is masked in each form', () => {
    const masked = secretMask(['كلمة😀é']);
    const units = 'كلمة😀é'
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');
    const points = [...'كلمة😀é'].map((point) => `&#${point.codePointAt(0)};`).join('');
    expect(masked(`كلمة😀é ${encodeURIComponent('كلمة😀é')} ${units} ${points} بعد`)).toBe(
      '*** *** *** *** بعد',
    );
  });

  it.each([
    'a%2Fb/c%41',
    'dom\\name/x',
    'a&amp;b/c',
    '100%/x',
    'a+b/c d',
    'key\\u0041/x',
    '%%%%/',
    'key/\\\\\\\\',
  ])('a secret that looks like escapes is masked as it is and escaped: %s', (secret) => {
    const masked = secretMask([secret]);
    const json = JSON.stringify(secret).slice(1, -1);
    expect(masked(`<${secret}> <${encodeURIComponent(secret)}> <${json}>`)).toBe('<***> <***> <***>');
    expect(masked(`<${secret.replaceAll('/', '\\/')}>`)).toBe('<***>');
  });

  it.each(['.*', '(a+)+$', '$&$1', '[', 'a|', '^', '***'])(
    'a secret is no pattern and no template of a replacement: %s',
    (secret) => {
      expect(secretMask([secret])(`x${secret}y`)).toBe('x***y');
      expect(secretMask([secret])('other words')).toBe('other words');
    },
  );

  it('each of several secrets is masked, also one in another and one that overlaps another', () => {
    const masked = secretMask(['', 'abcdef', 'abcdefgh', 'ghij/', '1']);
    expect(masked('abcdef, abcdefgh, abcdefghij/, 1, %31')).toBe('***, ***, ***, ***, ***');
  });

  it('a text without a secret stays as it is, with its escapes', () => {
    const text = 'a%2Fb \\u0041 &amp; &nosuch; &#99999999; 100% بعد 😀 \ud800';
    expect(secretMask([SECRET])(text)).toBe(text);
    expect(secretMask([])(text)).toBe(text);
  });
});

describe('a secret that is cut', () => {
  it.each(Object.entries(FORMS))(
    'no half of a secret %s shows at the end or the beginning of a text',
    (_, form) => {
      const secret = 'first/half&second/half';
      const masked = secretMask([secret]);
      const text = form(secret);
      for (let length = 0; length <= text.length; length += 1) {
        expect(masked(`x ${text.slice(0, length)}`)).not.toMatch(/half|%68%61%6c|\\x68\\x61|&#104;&#97/);
      }
      expect(masked(`${form('half&second/half')} x`)).toMatch(/^\\?"?[^a-z]*\*\*\*/);
    },
  );

  it('no half of a secret in base64 shows at the end of a text', () => {
    const text = base64('user:first/half&second/half');
    const masked = secretMask(['first/half&second/half']);
    for (let length = 16; length <= text.length; length += 1) {
      expect(masked(text.slice(0, length))).toMatch(/^dXNlcj(?:\*\*\*|p\*\*\*)=*$/);
    }
  });

  it('fewer than four bytes of a secret are not masked', () => {
    expect(secretMask(['s3cret-1'])('s3c')).toBe('s3c');
    expect(secretMask(['s3cret-1'])('t-1 is the end of s3c')).toBe('t-1 is the end of s3c');
    expect(secretMask(['s3cret-1'])('et-1 is the end of s3cr')).toBe('*** is the end of ***');
  });
});
