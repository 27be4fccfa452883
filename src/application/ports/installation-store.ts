/** What all processes of one installation have to agree on. */
export interface InstallationStore {
  /** Keeps the value under the name unless another is kept already, and resolves with the one that is. */
  getOrCreate(name: string, value: string): Promise<string>;
}
