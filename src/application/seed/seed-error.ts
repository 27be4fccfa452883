/** The seed cannot be applied as it is; the message names the path of every mistake. */
export class SeedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SeedError';
  }
}
