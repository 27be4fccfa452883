import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** One page of the documentation, by its path in the repository. */
export class Page {
  readonly path: string;
  readonly text: string;

  constructor(path: string) {
    this.path = path;
    this.text = readFileSync(join(ROOT, path), 'utf8');
  }

  /** The text under a heading, up to the next heading of its level or above. Throws without such a heading. */
  section(heading: string): string {
    const start = this.text.indexOf(`\n${heading}\n`);
    if (start === -1) throw new Error(`${this.path} has no heading ${heading}`);
    const body = this.text.slice(start + heading.length + 2);
    const level = heading.indexOf(' ');
    const end = withoutCode(body).search(new RegExp(`^#{1,${level}} `, 'm'));
    return end === -1 ? body : body.slice(0, end);
  }

  /** Every heading outside of code blocks. */
  headings(): readonly string[] {
    return [...withoutCode(this.text).matchAll(/^#{1,6} (.+)$/gm)].map(([, title]) => title ?? '');
  }

  /** The targets of every link outside of code. */
  links(): readonly string[] {
    const prose = withoutCode(this.text).replaceAll(/`[^`\n]*`/g, '');
    return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? '');
  }
}

/** The contents of the code blocks of one language, in order; a block without a language has the empty one. */
export function codeBlocks(markdown: string, language: string): readonly string[] {
  return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, own]) => own === language)
    .map(([, , code]) => code ?? '');
}

/** The cells of every row of every table, without the heads of the tables. */
export function tables(markdown: string): readonly (readonly (readonly string[])[])[] {
  return [...markdown.matchAll(/^\|.*\|\n\|(?:[ -]+\|)+\n((?:\|.*\|\n)*)/gm)].map(([, rows]) =>
    (rows ?? '').trimEnd().split('\n').map(cellsOf),
  );
}

/** A cell without the backticks around it. */
export function unquoted(cell = ''): string {
  return cell.replace(/^`(.*)`$/, '$1');
}

/** The fragment under which a heading can be linked to. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

function cellsOf(row: string): readonly string[] {
  return row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
}

/** The same text, of the same length, with code blocks blanked. */
function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^```.*?^```$/gms, (block) => block.replaceAll(/[^\n]/g, ' '));
}
