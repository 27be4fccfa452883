/** A command that cannot be done: the lines that say why, the exit code, and the slug of the service's error if it has one. */
export class CommandError extends Error {
  readonly exitCode: number;
  readonly slug: string | null;

  constructor(message: string, exitCode: number, slug: string | null = null) {
    super(message);
    this.name = 'CommandError';
    this.exitCode = exitCode;
    this.slug = slug;
  }
}
