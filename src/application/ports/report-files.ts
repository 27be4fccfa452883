/** Where the csv files of reports are. A file id is 40 hex characters. */
export interface ReportFiles {
  /**
   * Stores what `content` yields as the file with this id, in place of an earlier one. Whole or not at all: the file appears
   * when the promise resolves, and is not there when it rejects or the process dies. Holds little in memory. Where it waits for a
   * network, it rejects as soon as the signal is aborted, and the file may appear all the same.
   */
  write(fileId: string, content: AsyncIterable<string>, signal?: AbortSignal): Promise<void>;
  /**
   * The file from its beginning; null when there is none. A caller that does not read it to the end destroys it when it is a
   * stream. Where it waits for a network, it rejects as soon as the signal is aborted.
   */
  read(fileId: string, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array> | null>;
  /** Also what a process that died has left of the file. No file is fine. The signal is that of `write`. */
  remove(fileId: string, signal?: AbortSignal): Promise<void>;
}
