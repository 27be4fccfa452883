import { expect, it } from 'vitest';
import { templateParametersField } from '../../../../../src/adapters/http/families/messages/send-body.ts';

const many = (value: unknown) =>
  Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`p${at}`, value]));

it.each([
  ['values of another type', { body: many(true) }],
  ['texts with control characters', { header: many('\u0001') }],
  ['bad names', { body: Object.fromEntries(Object.keys(many(1)).map((name) => [`-${name}`, 'x'])) }],
])('the library meets one of many mistakes: %s', (_, parameters) => {
  expect(templateParametersField.safeParse(parameters).error?.issues).toHaveLength(1);
});

it('parameters without a mistake are all kept, also the longest with line ends of two characters', () => {
  const longest = '\r\n'.repeat(4_096);
  const parsed = templateParametersField.parse({
    body: { a: 1, b: longest, c: 'x' },
    buttons: { 0: { 1: 'y' }, 1: { 1: 2.5 } },
  });
  expect(parsed).toEqual({
    body: { a: 1, b: '\n'.repeat(4_096), c: 'x' },
    buttons: { 0: { 1: 'y' }, 1: { 1: 2.5 } },
  });
});
