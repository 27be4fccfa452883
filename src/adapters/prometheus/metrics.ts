import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Of replies and of requests to others, in seconds. */
const FAST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** From the acceptance of a message to the handset, in seconds. */
const DELIVERY_BUCKETS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600];

/**
 * Every metric of a process. Labels have few values: channels, providers of the configuration, outcomes, declared paths,
 * classes of status, kinds of jobs. No label has an id, a number or a project.
 */
export type Metrics = ReturnType<typeof createMetrics>;

/** The metrics in a registry of their own, with those of Node and the process. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name, help, labelNames: [...labelNames], registers });
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Gauge({ name, help, labelNames: [...labelNames], registers });
  const histogram = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    buckets = FAST_BUCKETS,
  ) => new Histogram({ name, help, labelNames: [...labelNames], buckets, registers });

  return {
    registry,
    buildInfo: gauge('barid_build_info', 'Always 1; the labels say what runs', ['version', 'commit', 'role']),
    requests: histogram(
      'barid_http_request_duration_seconds',
      'Replies by declared path and class of status',
      ['method', 'route', 'status'],
    ),
    sendsRejected: counter('barid_sends_rejected_total', 'Rejected POST /sms by error code', ['code']),
    messagesAccepted: counter('barid_messages_accepted_total', 'Accepted messages by type and source', [
      'type',
      'source',
    ]),
    messagesFinal: counter('barid_messages_final_total', 'Messages by last channel and final status', [
      'channel',
      'status',
    ]),
    timeToDelivered: histogram(
      'barid_message_time_to_delivered_seconds',
      'From acceptance to the final status of delivered messages',
      ['channel', 'source'],
      DELIVERY_BUCKETS,
    ),
    moneyCaptured: counter('barid_money_captured_iqd_total', 'Captured for messages, in IQD', ['channel']),
    submissions: histogram(
      'barid_provider_submit_duration_seconds',
      'Attempts by provider and submit result',
      ['channel', 'provider', 'result'],
    ),
    providersUp: gauge(
      'barid_provider_up',
      'Whether a provider of live projects can carry messages, as /readyz says',
      ['channel', 'provider'],
    ),
    providerCircuits: gauge(
      'barid_provider_circuit_open',
      'Whether the circuit of a provider is not closed',
      ['channel', 'provider'],
    ),
    webhookAttempts: histogram('barid_webhook_attempt_duration_seconds', 'Webhook attempts by outcome', [
      'outcome',
    ]),
    webhookCircuits: gauge(
      'barid_webhook_circuits_open',
      'Destinations whose circuit is not closed, of the 10,000 that were attempted last',
      [],
    ),
    jobs: histogram(
      'barid_job_batch_duration_seconds',
      'Batches of jobs by kind, until each is done or handed on',
      ['kind'],
    ),
    jobsTaken: counter('barid_jobs_taken_total', 'Jobs that this process took from the queue', ['kind']),
    jobsDue: gauge('barid_jobs_due', 'Due jobs that no worker has leased; counted up to a limit', [
      'priority',
    ]),
    oldestDue: gauge('barid_jobs_oldest_due_seconds', 'How long the oldest due job has waited', ['priority']),
    deadLetterJobs: gauge('barid_dead_letter_jobs', 'Dead-letter jobs; counted up to a limit', []),
    workers: gauge('barid_workers', 'Processes that run jobs and were seen in the last 15 seconds', []),
    queueConnected: gauge('barid_queue_connected', 'Whether the queue carries jobs', []),
    unitsOfWork: histogram('barid_unit_of_work_duration_seconds', 'Units of work by kind and outcome', [
      'kind',
      'outcome',
    ]),
    logEvents: counter('barid_log_events_total', 'Log events by level and name, written or not', [
      'level',
      'event',
    ]),
    surveyFailures: counter('barid_survey_failures_total', 'Scrapes for which the database was not read', []),
  };
}
