/** How much JSON may hold before it is parsed. */
export interface JsonLimits {
  /** Objects and lists within each other. */
  readonly depth: number;
  /** Members of one object. */
  readonly objectMembers: number;
  /** Items of one list. */
  readonly listItems: number;
  /** Of all objects and lists together. */
  readonly members: number;
}

/**
 * The most members of all objects and lists together. Parsing them takes some 20 ms. Meta's largest callback and a large tree of
 * whatsapp resources have half of them.
 */
export const JSON_MEMBERS_READ_MAX = 100_000;
/** Recursion over a value that is nested no deeper does not exhaust the stack. */
export const JSON_DEPTH_MAX = 32;
const LIMITS: JsonLimits = {
  depth: JSON_DEPTH_MAX,
  objectMembers: JSON_MEMBERS_READ_MAX,
  listItems: JSON_MEMBERS_READ_MAX,
  members: JSON_MEMBERS_READ_MAX,
};

/** The code units that give JSON its structure. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const BACKSLASH = 0x5c;
export const OPENING_BRACKET = 0x5b;
export const CLOSING_BRACKET = 0x5d;
export const OPENING_BRACE = 0x7b;
export const CLOSING_BRACE = 0x7d;

/** The value in a JSON text; undefined when the text is no JSON, has more members, or exceeds what others may send us. */
export function limitedJsonOf(text: string, members = JSON_MEMBERS_READ_MAX): unknown {
  if (jsonExcess(text, { ...LIMITS, members }) !== null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** How many objects, lists and members of them a JSON value has. It may be nested as deep as `JSON_DEPTH_MAX`. */
export function membersOfJson(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Object.values(value);
  return members.reduce<number>((count, member) => count + membersOfJson(member), 1 + members.length);
}

/**
 * Counts brackets and commas outside of strings, so that nothing recursive ever meets a deep value, and nothing is parsed
 * or checked that has very many members. Null when the text has neither. Of a text that is no JSON it says no more than that.
 */
export function jsonExcess(text: string, limits: JsonLimits): 'depth' | 'members' | null {
  const left: number[] = [];
  let leftInAll = limits.members;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === QUOTE) {
      index = endOfString(text, index);
    } else if (unit === OPENING_BRACKET || unit === OPENING_BRACE) {
      if (left.length === limits.depth) return 'depth';
      left.push(unit === OPENING_BRACE ? limits.objectMembers : limits.listItems);
      leftInAll -= 1;
    } else if (unit === CLOSING_BRACKET || unit === CLOSING_BRACE) {
      left.pop();
    } else if (unit === COMMA) {
      const members = (left.pop() ?? 0) - 1;
      if (members === 0) return 'members';
      left.push(members);
      leftInAll -= 1;
    }
    if (leftInAll < 0) return 'members';
  }
  return null;
}

/** Where the quote is that ends the string which begins at `start`; the end of the text without one. */
function endOfString(text: string, start: number): number {
  let end = start;
  do {
    end = text.indexOf('"', end + 1);
  } while (end !== -1 && isEscaped(text, end));
  return end === -1 ? text.length : end;
}

/** Whether an odd number of backslashes stands before the index. */
function isEscaped(text: string, index: number): boolean {
  let first = index;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (index - first) % 2 === 1;
}
