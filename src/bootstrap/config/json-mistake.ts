const POSITION = / at position (\d+)/;

/** Where a text that is no JSON goes wrong, for the person who wrote it: `line 3, column 7`. Both begin with 1. */
export function jsonMistake(text: string): string {
  const before = text.slice(0, mistakeAt(text));
  const lines = before.split('\n');
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}

/** The first character that no JSON can go on with. V8 names it in some of its messages only. */
function mistakeAt(text: string): number {
  let sound = 0;
  let broken = text.length + 1;
  while (broken - sound > 1) {
    const middle = Math.floor((sound + broken) / 2);
    if (isBeginning(text.slice(0, middle))) sound = middle;
    else broken = middle;
  }
  return sound;
}

/** Whether a text is JSON, or would be with more at its end. */
function isBeginning(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    return message.includes('end of JSON input') || Number(POSITION.exec(message)?.[1]) >= text.length;
  }
}
