/** What an error says; its name when it says nothing, as one of several failed addresses does. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

/** For reasons that many people read: the text of an error may name hosts and addresses, or quote a request. */
export function codeOrName(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** The code of an error of Node or a database; what the error says when it has none. */
export function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return String(code ?? messageOf(error));
}
