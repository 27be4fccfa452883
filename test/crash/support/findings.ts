/** Violations counted by kind, with the first few of each named. */
export class Findings {
  static readonly #NAMED_MAX = 3;
  readonly #byKind = new Map<string, string[]>();

  add(kind: string, detail: string): void {
    const details = this.#byKind.get(kind) ?? [];
    details.push(detail);
    this.#byKind.set(kind, details);
  }

  count(kind: string): number {
    return this.#byKind.get(kind)?.length ?? 0;
  }

  /** One sentence for each kind. */
  sentences(): string[] {
    return [...this.#byKind].map(
      ([kind, details]) => `${details.length} × ${kind}: ${details.slice(0, Findings.#NAMED_MAX).join(', ')}`,
    );
  }
}
