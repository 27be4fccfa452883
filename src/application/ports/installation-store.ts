/** Values that all processes of one installation share. */
export interface InstallationStore {
  /** Stores the value under the name unless the name has one already, and resolves with the stored value. */
  getOrCreate(name: string, value: string): Promise<string>;
}
