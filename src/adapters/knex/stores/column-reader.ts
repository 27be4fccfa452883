/** Parses a column that most rows have alike, once for rows that follow each other with the same text. */
export function columnReader<Value>(): (text: string) => Value {
  let last: { readonly text: string; readonly value: Value } | null = null;
  return (text) => {
    if (last?.text !== text) last = { text, value: JSON.parse(text) as Value };
    return last.value;
  };
}
