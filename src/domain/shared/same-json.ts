/** Whether two JSON values are equal in any order of their members. A member that is null or undefined counts as absent. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSameJson(item, other[index]));
  }
  if (!isJsonObject(one) || !isJsonObject(other)) return one === other;
  const names = presentNames(one);
  return (
    names.length === presentNames(other).length && names.every((name) => isSameJson(one[name], other[name]))
  );
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a JSON value is an object: neither a list nor null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function presentNames(object: JsonObject): readonly string[] {
  return Object.keys(object).filter((name) => (object[name] ?? null) !== null);
}
