import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { anchorOf, codeBlocks, Page, ROOT } from '../support/markdown.ts';

const PATHS = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const README_LINES_MAX = 150;
const SOURCES = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(ROOT, 'src', name), 'utf8'))
  .join('\n');

describe('the pages of the documentation', () => {
  test.each(PATHS)('%s links only to files and headings that exist', (path) => {
    const targets = new Page(path).links().filter((target) => !/^https?:/.test(target));
    expect(targets.filter((target) => !exists(path, target))).toEqual([]);
  });

  test.each(PATHS)('%s names only files of the repository that exist', (path) => {
    const named = [...new Page(path).text.matchAll(/(?<![\w./-])((?:src|test|bench|scripts)\/[\w./-]*\w)/g)];
    const files = named.map(([, file]) => file ?? '');
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  test.each(PATHS)('%s draws only classes that exist', (path) => {
    const drawings = codeBlocks(new Page(path).text, '').join('\n');
    const drawn = [...drawings.matchAll(/\b(?:[A-Z][a-z]+){2,}\b/g)].map(([name]) => name);
    expect(drawn.filter((name) => !SOURCES.includes(`export class ${name} `))).toEqual([]);
  });

  test.each(PATHS)('%s has no two headings with one anchor', (path) => {
    const anchors = new Page(path).headings().map(anchorOf);
    expect(anchors.filter((anchor, index) => anchors.indexOf(anchor) !== index)).toEqual([]);
  });

  it('README.md links every other page', () => {
    const linked = new Page('README.md').links();
    expect(PATHS.slice(1).filter((path) => !linked.includes(path))).toEqual([]);
  });

  it('README.md is short enough to read', () => {
    expect(new Page('README.md').text.trimEnd().split('\n').length).toBeLessThanOrEqual(README_LINES_MAX);
  });

  it('the check of links finds a link to nothing', () => {
    expect(exists('docs/api.md', 'nothing.md')).toBe(false);
    expect(exists('docs/api.md', '#no-such-heading')).toBe(false);
    expect(exists('docs/api.md', 'money.md#the-ledger')).toBe(true);
  });
});

function exists(from: string, target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? from : normalize(join(dirname(from), file));
  if (!existsSync(join(ROOT, path))) return false;
  return anchor === undefined || new Page(path).headings().map(anchorOf).includes(anchor);
}
