import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const API = readFileSync(join(import.meta.dirname, '../../docs/api.md'), 'utf8');
const FILES = readdirSync(import.meta.dirname).filter(
  (name) => name.endsWith('.test.ts') && /^[0-9]/.test(name),
);

/** Sections that hold rules of their own; the others only say what fields or pages there are. */
const WITHOUT_RULES = new Set(['1', '2', '3', '4', '6', '9']);

/** The sections of docs/api.md that are built and hold rules, by number. */
function sectionsOf(page: string): readonly string[] {
  const headings = [...page.matchAll(/^#{2,3} ([0-9]+(?:\.[0-9]+)?)[. ]/gm)];
  return headings.flatMap((heading, index) => {
    const number = heading[1] ?? '';
    const text = page.slice(heading.index, headings[index + 1]?.index);
    const isField = number.startsWith('2.');
    return WITHOUT_RULES.has(number) || isField || text.includes('Not built yet') ? [] : [number];
  });
}

it('every built section of docs/api.md has a file of tests here, and every file has its section', () => {
  const wanted = sectionsOf(API).map((number) => /^(?:5|10)\b/.exec(number)?.[0] ?? number);
  const there = FILES.map((name) => name.slice(0, name.indexOf('-')));
  expect([...new Set(there)].sort()).toEqual([...new Set(wanted)].sort());
});

it('every title here begins with the number of the section it proves', () => {
  for (const name of FILES) {
    const section = name.slice(0, name.indexOf('-'));
    const source = readFileSync(join(import.meta.dirname, name), 'utf8');
    const titles = [
      ...source.matchAll(
        /^(?:describe|it|test)(?:\.\w+(?:\([^)]*\))?)*\((?:\[[\s\S]*?\]\)\()?\s*['"`]([^'"`]+)/gm,
      ),
    ];
    for (const [, title = ''] of titles)
      expect(`${name}: ${title}`).toMatch(new RegExp(`: (?:${section})\\b`));
  }
});
