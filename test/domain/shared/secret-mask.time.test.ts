import { expect, it } from 'vitest';
import { secretMask } from '../../../src/domain/shared/secret-mask.ts';

const CHARACTERS = 65_536;
const repeated = (text: string) => text.repeat(CHARACTERS / text.length);

it.each([
  ['backslashes', '\\'.repeat(200), repeated('\\')],
  ['percent signs', '%'.repeat(200), repeated('%25')],
  ['a letter and an end', `${'a'.repeat(199)}b`, repeated('a')],
  ['ampersands', '&'.repeat(200), repeated('&amp;')],
  ['beginnings of entities', '&#'.repeat(100), repeated('&#')],
  ['the secret itself', 'abab', repeated('abab')],
])('a text of 64 KiB is masked in a limited time: %s', (_, secret, text) => {
  const masked = secretMask([secret]);
  const before = process.cpuUsage();
  masked(text);
  const { user } = process.cpuUsage(before);
  expect(user / 1_000, 'processor time, in milliseconds').toBeLessThan(500);
});
