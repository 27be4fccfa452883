/** One reply as it went out, for checks against the document. The body of a file is empty. */
export interface ObservedReply {
  readonly method: string;
  /** The declared path, or null when the request matched none. */
  readonly route: string | null;
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Makes a record of a flat list of header names and values. */
export function headerRecord(headers: readonly string[]): Readonly<Record<string, string>> {
  const record: Record<string, string> = {};
  for (let index = 0; index + 1 < headers.length; index += 2) {
    record[(headers[index] ?? '').toLowerCase()] = headers[index + 1] ?? '';
  }
  return record;
}
