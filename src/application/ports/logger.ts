/** Named facts of an event. Message texts, codes, keys and whole phone numbers never go in here. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Everything that is ever logged, by name. */
export type LogEvent =
  | 'background_work_failed'
  | 'provider_event_failed'
  | 'provider_receipts_dropped'
  | 'channel_submit_failed'
  | 'channel_submit_timed_out'
  | 'job_dead_lettered'
  | 'job_failed'
  | 'queue_batch_failed'
  | 'queue_cancelled'
  | 'queue_connected'
  | 'queue_disconnected'
  | 'queue_message_invalid'
  | 'queue_returned'
  | 'request_failed'
  | 'variable_unknown'
  | 'webhook_discarded'
  | 'webhook_circuit_opened'
  | 'webhook_fetch_failed'
  | 'webhook_record_failed'
  | 'webhook_release_failed'
  | 'webhook_renewal_failed'
  | 'work_loop_failed'
  | 'work_loop_recovered'
  | 'worker_started';

/** One structured line per event. No method throws or waits. */
export interface Logger {
  /** Something an operator may want to know, and need not act on. */
  info(event: LogEvent, fields?: LogFields): void;
  /** Something that the service got over by itself, and that should not become frequent. */
  warn(event: LogEvent, fields?: LogFields): void;
  /** `error` is logged by its stack or text, never with the data of the request that caused it. */
  error(event: LogEvent, error: unknown, fields?: LogFields): void;
}
