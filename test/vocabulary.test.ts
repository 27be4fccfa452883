import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './support/markdown.ts';
import { oldWordsIn, poorTitlesIn, titlesIn } from './support/vocabulary.ts';

/** A word that one file may say, or every file of a folder. */
interface Exception {
  readonly path: string;
  readonly word: string;
  readonly reason: string;
}

const EXCEPTIONS: readonly Exception[] = [
  ...['look', 'news', 'revive', 'rests', 'carrier', 'refused', 'answer'].map((word) => ({
    path: 'CHANGELOG.md',
    word,
    reason: 'It says what the old name was.',
  })),
  ...['lane', 'lanes', 'step', 'steps', 'fence', 'buried', 'refused', 'answers', 'answer', 'answered'].map(
    (word) => ({
      path: 'src/adapters/knex/migrations/',
      word,
      reason: 'A migration that has run keeps the old names of tables, columns and JSON keys.',
    }),
  ),
  ...['lane', 'lanes', 'step', 'steps', 'fence', 'buried', 'refused', 'answers'].map((word) => ({
    path: 'test/adapters/knex/migrations.test.ts',
    word,
    reason: 'It inserts rows as an earlier version stored them.',
  })),
];

/** The rules themselves name the words. */
const RULES: ReadonlySet<string> = new Set(['test/vocabulary.test.ts', 'test/support/vocabulary.ts']);
const PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];
const FOLDERS = ['src', 'docs', 'test', 'bench', 'scripts'];

const FILES = [...PAGES, ...FOLDERS.flatMap(filesIn)]
  .filter((path) => /\.(?:ts|mjs|md)$/.test(path) && !RULES.has(path))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

describe('the words of the repository', () => {
  it('has none of the words that the glossary gave up, in any file', () => {
    const found = FILES.flatMap(({ path, text }) =>
      oldWordsIn(path, text).filter((sentence) => !EXCEPTIONS.some((each) => isExcepted(sentence, each))),
    );
    expect(found).toEqual([]);
  });

  it('has no exception that no file needs any more', () => {
    const sentences = FILES.flatMap(({ path, text }) => oldWordsIn(path, text));
    const idle = EXCEPTIONS.filter((each) => !sentences.some((sentence) => isExcepted(sentence, each)));
    expect(idle).toEqual([]);
  });

  it('has a whole sentence as the title of every test', () => {
    const tests = FILES.filter(({ path }) => path.startsWith('test/'));
    expect(tests.flatMap(({ path, text }) => poorTitlesIn(path, text))).toEqual([]);
  });
});

describe('the check of words', () => {
  it.each([
    ['a comment', '/** Every lane has a lease. */', 'a.ts:1 says "lane": say destination'],
    ['a name', 'const lookAgain = 1;', 'a.ts:1 says "look": say fetch, search or check'],
    ['a constant', 'const MAGIC_MAX = 1;', 'a.ts:1 says "magic": say test number'],
    ['a log event', "log.warn('endpoint_rests');", 'a.ts:1 says "rests": say the circuit breaker is open'],
    ['the third line', '\n\n// The price book.', 'a.ts:3 says "book": say ledger or price list'],
    ['two lines', '/**\n * Attempts under\n * way.\n */', 'a.ts:2 says "under\n * way": say in flight'],
    ['an attempt', '// The second step failed.', 'a.ts:1 says "step": say attempt'],
    ['a rejection', '// Refused by the domain.', 'a.ts:1 says "refused": say reject'],
    [
      'a divided phrase',
      '// An event brings it forward.',
      'a.ts:1 says "brings it forward": say make due earlier',
    ],
  ])('finds a planted word in %s', (_, text, sentence) => {
    expect(oldWordsIn('a.ts', text)).toEqual([sentence]);
  });

  it.each([
    'Looks up the name, as it looks like one.',
    'The step timeout is 30 s.',
    'ECONNREFUSED says that the connection was refused.',
    'Fencing tokens only grow. The newspaper prints posters.',
  ])('accepts an ordinary sentence: %s', (text) => {
    expect(oldWordsIn('a.ts', text)).toEqual([]);
  });
});

describe('the check of titles', () => {
  it('reads the titles of plain, repeated and conditional tests', () => {
    const text = [
      "it('sends one message', () => {});",
      "test.each([1])('sends %i messages', () => {});",
      `it.skipIf(true)(\`sends \${count} messages\`, () => {});`,
      "it('sends', { timeout: 1 }, () => {});",
      "describe('a group', () => { it('sends two messages', () => {}); });",
    ].join('\n');
    expect(titlesIn('a.test.ts', text)).toEqual([
      'sends one message',
      'sends %i messages',
      `sends \${count} messages`,
      'sends',
      'sends two messages',
    ]);
  });

  it.each([
    ["it('%s', () => {});", 'a.test.ts has a title of few words: %s'],
    [
      "it.each([1])('is sent %i times', () => {});",
      'a.test.ts has a title without its subject: is sent %i times',
    ],
  ])('finds a planted title: %s', (text, sentence) => {
    expect(poorTitlesIn('a.test.ts', text)).toEqual([sentence]);
  });

  it('accepts a title that is a sentence', () => {
    expect(poorTitlesIn('a.test.ts', "it('sends a message once', () => {});")).toEqual([]);
  });
});

function filesIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(
    (name) => `${folder}/${name.replaceAll('\\', '/')}`,
  );
}

function isExcepted(sentence: string, { path, word }: Exception): boolean {
  return sentence.startsWith(path) && sentence.includes(` says "${word}"`);
}
