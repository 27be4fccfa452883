/** The vocabulary of docs/glossary.md, as functions over text, so that a test can plant violations. */
import ts from 'typescript';

/** A word that was given up: the standard term takes its place in names and prose. */
interface OldWord {
  /** Matches in text whose names are split into words. */
  readonly pattern: string;
  readonly say: string;
}

const OLD_WORDS: readonly OldWord[] = [
  { pattern: 'lanes?', say: 'destination' },
  { pattern: 'look(?:s|ed|ing)?(?! (?:up|like)\\b)', say: 'fetch, search or check' },
  { pattern: 'doorbells?', say: 'wake signal' },
  { pattern: 'news', say: 'message event or provider event' },
  { pattern: 'whoever', say: 'the thing itself' },
  { pattern: 'books?', say: 'ledger or price list' },
  { pattern: 'bur(?:y|ies|ied)', say: 'dead-letter' },
  { pattern: 'reviv\\w+', say: 'redrive' },
  { pattern: 'postings?', say: 'delivery attempt' },
  { pattern: 'posts|post results?', say: 'delivery attempts or requests' },
  { pattern: 'rests|rested|resting', say: 'the circuit breaker is open' },
  { pattern: '(?:brings?|brought|bringing)(?: (?:it|them))? forward', say: 'make due earlier' },
  { pattern: 'dearest', say: 'highest price' },
  { pattern: 'carriers?', say: 'channel provider or mobile operator' },
  { pattern: 'magic', say: 'test number' },
  { pattern: 'steps?(?! timeouts?\\b)', say: 'attempt' },
  { pattern: 'under way', say: 'in flight' },
  { pattern: 'rooms?', say: 'available capacity' },
  { pattern: 'complain\\w*', say: 'rejection or error' },
  { pattern: 'strangers?', say: 'unknown' },
  { pattern: 'sets? aside|setting aside', say: 'dead-letter or hold' },
  { pattern: 'fence[ds]?', say: 'fencing token' },
  { pattern: '(?:a|its|their|the|whose) turns?|turns of', say: 'lock or pipelining limit' },
  { pattern: 'refus(?:e|es|ed|al|als|ing)', say: 'reject' },
  { pattern: 'answer\\w*', say: 'reply, response or submit result' },
  { pattern: '(?:gives?|gave|given|giving) way', say: 'superseded' },
  { pattern: '(?:gives?|gave|given) back', say: 'release' },
  { pattern: 'pace', say: 'polling interval' },
];

/** The operating system's word for a connection, and two words that are public or stored. */
const STANDING_PHRASES = [
  /connections? (?:(?:is|are|was|were) )?refused/gi,
  // The slug of an error, in X-Error-Code.
  /webhook-url-refused/gi,
  // The error of a delivery attempt, as it is stored and shown to operators.
  /(?:address|name)-refused/gi,
] as const;

/** Every old word in the text of one file, one sentence each with its line. */
export function oldWordsIn(path: string, text: string): readonly string[] {
  const words = ` ${namesSplit(withoutPhrases(text))} `;
  return OLD_WORDS.flatMap(({ pattern, say }) =>
    [...words.matchAll(new RegExp(`(?<![a-z])(?:${spaced(pattern)})(?![a-z])`, 'gi'))].map(
      ({ 0: word, index }) => `${path}:${lineAt(words, index)} says "${word.toLowerCase()}": say ${say}`,
    ),
  );
}

/** The titles of the tests of one file that are no sentences, one sentence each. */
export function poorTitlesIn(path: string, text: string): readonly string[] {
  return titlesIn(path, text).flatMap((title) => {
    if (title.split(/\s+/).length < TITLE_WORDS_MIN) return [`${path} has a title of few words: ${title}`];
    if (WITHOUT_SUBJECT.test(title)) return [`${path} has a title without its subject: ${title}`];
    return [];
  });
}

const TITLE_WORDS_MIN = 3;
const WITHOUT_SUBJECT = /^(?:is|are|was|were|has been|have been)\b/;
const TEST_FUNCTIONS: ReadonlySet<string> = new Set(['it', 'test']);

/** The titles of every test, also of `it.each(table)` and `it.skipIf(condition)`. */
export function titlesIn(path: string, text: string): readonly string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    const title = ts.isCallExpression(node) ? titleOf(node) : null;
    if (title !== null) titles.push(title);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;

  function titleOf({ expression, arguments: [title, body] }: ts.CallExpression): string | null {
    if (title === undefined || body === undefined || !TEST_FUNCTIONS.has(calledName(expression))) return null;
    if (ts.isStringLiteralLike(title)) return title.text;
    return ts.isTemplateExpression(title) ? title.getText(source).slice(1, -1) : null;
  }
}

function calledName(callee: ts.Expression): string {
  if (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee))
    return calledName(callee.expression);
  return ts.isIdentifier(callee) ? callee.text : '';
}

function withoutPhrases(text: string): string {
  return STANDING_PHRASES.reduce((rest, phrase) => rest.replace(phrase, ''), text);
}

/** `lookForEvents` and `LOOK_AGAIN_MS` become words; the lines stay. */
function namesSplit(text: string): string {
  return text.replace(/(?<=[a-z0-9])(?=[A-Z])|[_-]/g, ' ');
}

/** Words of a phrase may stand on two lines of a comment. */
function spaced(pattern: string): string {
  return pattern.replaceAll(' ', '[\\s*/]+');
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
