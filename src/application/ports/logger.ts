/** Named facts of an event. They never contain message texts, codes, keys or whole phone numbers. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** The name of every event that is logged. */
export type LogEvent =
  | 'background_work_failed'
  | 'callback_closed'
  | 'campaign_not_started'
  | 'credit_low'
  | 'key_uses_not_stored'
  | 'live_channels_simulated'
  | 'provider_callback_malformed'
  | 'provider_callback_rejected'
  | 'provider_circuit_closed'
  | 'provider_circuit_opened'
  | 'provider_credentials_rejected'
  | 'provider_event_failed'
  | 'provider_receipts_dropped'
  | 'provider_receipts_locked'
  | 'provider_revocation_failed'
  | 'report_file_missing'
  | 'channel_result_lost'
  | 'channel_submit_failed'
  | 'channel_submit_timed_out'
  | 'checkpointer_failed'
  | 'job_dead_lettered'
  | 'job_failed'
  | 'jobs_handed_back'
  | 'jobs_taken_over'
  | 'log_lines_dropped'
  | 'queue_batch_failed'
  | 'queue_cancelled'
  | 'queue_connected'
  | 'queue_disconnected'
  | 'queue_message_invalid'
  | 'queue_returned'
  | 'request_failed'
  | 'request_served'
  | 'retention_applied'
  | 'retention_failed'
  | 'service_stopped'
  | 'service_stopping'
  | 'smpp_bind_ended'
  | 'smpp_bind_opened'
  | 'smpp_message_ignored'
  | 'smpp_pdu_failed'
  | 'smpp_pdu_invalid'
  | 'trace_export_failed'
  | 'unread_connection_closed'
  | 'variable_unknown'
  | 'webhook_discarded'
  | 'webhook_attempt_failed'
  | 'webhook_circuit_opened'
  | 'webhook_fetch_failed'
  | 'webhook_record_failed'
  | 'webhook_release_failed'
  | 'webhook_renewal_failed'
  | 'whatsapp_sync_failed'
  | 'work_loop_failed'
  | 'work_loop_recovered'
  | 'worker_heartbeat_failed'
  | 'worker_started';

/** One structured line per event. No method throws or waits. */
export interface Logger {
  /** Whether `debug` writes anything: fields that nobody reads need not be made. */
  readonly writesDebug: boolean;
  /** What happens with each request or message, for somebody who searches for a fault. Off by default. */
  debug(event: LogEvent, fields?: LogFields): void;
  /** Information for an operator, without a need to act. */
  info(event: LogEvent, fields?: LogFields): void;
  /** A fault that the service recovered from by itself. An operator acts when it becomes frequent. */
  warn(event: LogEvent, fields?: LogFields): void;
  /** `error` is logged by its stack or text, never with the data of the request that caused it. */
  error(event: LogEvent, error: unknown, fields?: LogFields): void;
}
