/** Named facts of an event. Message texts, codes, keys and whole phone numbers never go in here. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** One structured line per event, under a name from a fixed vocabulary. */
export interface Logger {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  /** `error` is logged by its stack or text, never with the data of the request that caused it. */
  error(event: string, error: unknown, fields?: LogFields): void;
}
