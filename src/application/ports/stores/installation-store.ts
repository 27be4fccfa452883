/** Values that all processes of one installation share. */
export interface InstallationStore {
  /** Stores the value under the name unless the name has one already, and resolves with the stored value. */
  getOrCreate(name: string, value: string): Promise<string>;
  /** The value of the name, or null when it has none. Locks nothing. */
  find(name: string): Promise<string | null>;
  /** Stores the value under the name, in place of any other. */
  set(name: string, value: string): Promise<void>;
}
