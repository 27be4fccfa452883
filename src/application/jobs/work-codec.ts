import type { Work } from '../../domain/jobs/job.ts';
import { isStorableLine } from '../../domain/shared/storable-text.ts';

/** An id has no slash: put together with slashes, the id of a job tells which work it has. */
type FieldType = 'id' | 'text' | 'whole number' | 'mark';

/** What a kind of work carries beside its kind, field by field. */
export type FieldsOf<Kind extends Work> = {
  readonly [Field in Exclude<keyof Kind, 'kind'>]-?: Kind[Field] extends string
    ? 'id' | 'text'
    : Kind[Field] extends true | undefined
      ? 'mark'
      : 'whole number';
};

/** The fields of `value` that the kind declares, or null when one of them is missing or of another type. */
export function readWork(
  kind: string,
  fields: Readonly<Record<string, FieldType>>,
  value: object,
): Work | null {
  const work: Record<string, unknown> & { kind: string } = { kind };
  for (const [field, type] of Object.entries(fields)) {
    const content: unknown = Reflect.get(value, field);
    if (!isOfType(content, type)) return null;
    if (content !== undefined) work[field] = content;
  }
  return work;
}

/** Whether a value is a line that every database can store, and not empty. */
function isFilledLine(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && isStorableLine(value);
}

function isOfType(value: unknown, type: FieldType): boolean {
  switch (type) {
    case 'id':
      return isFilledLine(value) && !value.includes('/');
    case 'text':
      return isFilledLine(value);
    case 'whole number':
      return Number.isSafeInteger(value) && (value as number) >= 0;
    case 'mark':
      return value === true || value === undefined;
    default:
      return type satisfies never;
  }
}
