import { expect, it } from 'vitest';
import { codeOf, codeOrName, messageOf } from '../../../src/application/errors/error-text.ts';

const withCode = (message: string) => Object.assign(new Error(message), { code: 'ECONNRESET' });

it.each([
  ['is its message', new Error('no route'), 'no route'],
  ['is its name when it has no message', new AggregateError([], ''), 'AggregateError'],
  ['is the value itself when no error was thrown', 'no route', 'no route'],
])('the text of an error %s', (_, error, text) => {
  expect(messageOf(error)).toBe(text);
});

it('an error whose text is not for everybody is called by its code, or by its name', () => {
  expect(codeOrName(withCode('read ECONNRESET 10.0.0.1:25'))).toBe('ECONNRESET');
  expect(codeOrName(Object.assign(new TypeError('10.0.0.1'), { code: 5 }))).toBe('TypeError');
});

it('an operator is told the code of an error, or what the error says', () => {
  expect(codeOf(withCode('connect'))).toBe('ECONNRESET');
  expect(codeOf(new Error('no route'))).toBe('no route');
  expect(codeOf('no route')).toBe('no route');
});
