import { expect, test } from 'vitest';
import { kindIn, workIn, workText } from '../../../src/adapters/knex/stores/work-column.ts';

const START = { kind: 'start-attempt', smsId: 'sms-1', attemptNumber: 0 };

test('a work is written with its kind first, and read again', () => {
  const text = '{"kind":"start-attempt","smsId":"sms-1","attemptNumber":0}';
  expect(workText(START)).toBe(text);
  expect(workIn(text)).toEqual(START);
});

test('a work whose kind does not come first is not written', () => {
  const { kind, ...rest } = START;
  expect(() => workText({ ...rest, kind })).toThrow('"kind" comes first');
});

test('a work is written when the name of its kind has 23 characters, and not with more', () => {
  const longest = { kind: 'k'.repeat(23) };
  expect(workText(longest)).toBe('{"kind":"kkkkkkkkkkkkkkkkkkkkkkk"}');
  expect(() => workText({ kind: 'k'.repeat(24) })).toThrow('has 23 characters at most');
});

test('the kind of a row ends at its quote', () => {
  expect(kindIn('sync-whatsapp"}')).toBe('sync-whatsapp');
  expect(kindIn('start-attempt","smsId":"')).toBe('start-attempt');
});
