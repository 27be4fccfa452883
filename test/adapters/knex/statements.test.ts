import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';

const STORES = join(import.meta.dirname, '../../../src/adapters/knex/stores');
const files = readdirSync(STORES);

/** The `*` that stands for columns: not that of COUNT(*), and not in '*' and 'projects.*', which knex takes. */
const EVERY_COLUMN = /(?<!\(|'(?:\w+\.)?)\*(?=\s*(?:,|FROM\b|['"`]))/g;

/** The places of such a `*` in a source, as `file:line`. */
function everyColumnIn(file: string, source: string): readonly string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '));
  return [...code.matchAll(EVERY_COLUMN)].map(
    ({ index }) => `${file}:${code.slice(0, index).split('\n').length}`,
  );
}

describe('a statement of a store names its columns', () => {
  it('the test finds the stores', () => {
    expect(files).toContain('message-store.ts');
  });

  test.each(files)('the statements of the store name their columns: %s', (file) => {
    expect(everyColumnIn(file, readFileSync(join(STORES, file), 'utf8'))).toEqual([]);
  });
});

describe('the check of the statements', () => {
  test.each([
    "query('SELECT * FROM messages WHERE sms_id = ?')",
    'query(`\n  SELECT *\n  FROM messages`)',
    'query(`SELECT campaigns.*, 1 AS one FROM campaigns`)',
    'query(`SELECT 1 AS one, campaigns.* FROM campaigns`)',
    "query('DELETE FROM jobs WHERE id = ? RETURNING *')",
    'const SELECT = `SELECT projects.*`;',
  ])('a statement that reads every column is found with its line: %s', (statement) => {
    const line = statement.slice(0, statement.indexOf('*')).split('\n').length + 1;
    expect(everyColumnIn('a-store.ts', `\n${statement}`)).toEqual([`a-store.ts:${line}`]);
  });

  test.each([
    "query('SELECT COUNT(*) AS total FROM messages')",
    "knex('messages').select('*')",
    "knex('messages').select('messages.*', 'reason')",
    "knex('messages').count({ total: '*' })",
    '/** `*` stands for `SELECT *` here. */',
    '/**\n * `SELECT *` with a key\n */',
    'const limit = unknown.length * PER_INSERTED;',
  ])('another use of the character is not found: %s', (source) => {
    expect(everyColumnIn('a-store.ts', source)).toEqual([]);
  });
});
