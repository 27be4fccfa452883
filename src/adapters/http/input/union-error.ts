/** What the object of a union says is wrong with one of its fields; undefined when no object was given. */
export function messageOfField(issue: { readonly code?: string | undefined }): string | undefined {
  const { errors = [] } = issue as {
    readonly errors?: readonly (readonly { message?: string; path?: readonly unknown[] }[])[];
  };
  return errors.flat().find(({ path = [] }) => path.length > 0)?.message;
}
