/** What a template may name in braces, beside `secret:NAME`. */
export const PLACEHOLDERS = [
  'to',
  '+to',
  'text',
  'from',
  'id',
  'parts',
  'encoding',
  'validitySeconds',
] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

/** What the placeholders stand for in one message; null when the message has no such value. */
export type PlaceholderValues = Readonly<Record<Placeholder, string | number | boolean | null>>;

/** For a template that is filled without a message. */
export const NO_MESSAGE: PlaceholderValues = {
  to: null,
  '+to': null,
  text: null,
  from: null,
  id: null,
  parts: null,
  encoding: null,
  validitySeconds: null,
};

/** The credentials that templates name, by name. */
export type Secrets = ReadonlyMap<string, string>;

type Piece =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'secret'; readonly text: string }
  | { readonly kind: 'placeholder'; readonly name: Placeholder };

/** What one template may name. */
export interface TemplateScope {
  readonly placeholders: readonly Placeholder[];
  readonly secrets: Secrets;
}

const TOKENS = /\{\{|\}\}|\{[^{}]*\}|[{}]|[^{}]+/g;
const SECRET_PREFIX = 'secret:';

/** A text with placeholders in braces, as `Bearer {secret:TOKEN}`. A brace itself is written twice. */
export class Template {
  readonly #pieces: readonly Piece[];

  /** Throws an error whose text says what is wrong with the template. */
  constructor(text: string, scope: TemplateScope) {
    this.#pieces = (text.match(TOKENS) ?? []).map((token) => pieceOf(token, scope));
  }

  /** Whether it names a credential. */
  get hasSecret(): boolean {
    return this.#pieces.some(({ kind }) => kind === 'secret');
  }

  /**
   * The text with its placeholders replaced by what `encode` makes of their values; literal text stays as it is. Null when
   * the template is one placeholder alone and the message has no such value.
   */
  fill(values: PlaceholderValues, encode: (value: string) => string = (value) => value): string | null {
    const [only] = this.#pieces;
    if (this.#pieces.length === 1 && only?.kind === 'placeholder' && values[only.name] === null) return null;
    return this.#pieces
      .map((piece) => {
        switch (piece.kind) {
          case 'literal':
            return piece.text;
          case 'secret':
            return encode(piece.text);
          case 'placeholder':
            return encode(String(values[piece.name] ?? ''));
          default:
            return piece satisfies never;
        }
      })
      .join('');
  }
}

/** The placeholder of this name, as it is `written`. Throws when there is none, or when it may not stand here. */
export function placeholderOf(
  name: string,
  { placeholders }: TemplateScope,
  written = `{${name}}`,
): Placeholder {
  const found = PLACEHOLDERS.find((each) => each === name);
  if (found === undefined) throw new Error(`${written} is no placeholder`);
  if (!placeholders.includes(found)) throw new Error(`${written} cannot stand here`);
  return found;
}

function pieceOf(token: string, scope: TemplateScope): Piece {
  if (token === '{{' || token === '}}') return { kind: 'literal', text: token.slice(1) };
  if (token === '{' || token === '}') throw new Error('a brace that opens no placeholder is written twice');
  if (!token.startsWith('{')) return { kind: 'literal', text: token };
  const name = token.slice(1, -1);
  if (!name.startsWith(SECRET_PREFIX)) return { kind: 'placeholder', name: placeholderOf(name, scope) };
  const text = scope.secrets.get(name.slice(SECRET_PREFIX.length));
  if (text === undefined) throw new Error(`${token} names no entry of secrets`);
  return { kind: 'secret', text };
}
