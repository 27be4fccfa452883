import { ContainerModule } from 'inversify';
import { timedTimeout } from '../../adapters/timer/timed-timeout.ts';
import { KEY_USE_INTERVAL_MS } from '../../application/access/key-uses.ts';
import { RESULT_RETRY_MS } from '../../application/attempts/apply-message-events.ts';
import { GATE_LOCK_RETRY_MS } from '../../application/concurrency/fair-gate.ts';
import { WORKER_HEARTBEAT_MS } from '../../application/jobs/worker-watch.ts';
import { REPORT_POLLING_INTERVAL_MS } from '../../application/reports/request-reports.ts';
import { FETCH_INTERVAL_MS } from '../../application/webhooks/deliver-webhooks.ts';
import { RECORD_BATCH_WINDOW_MS } from '../../application/webhooks/record-deliveries.ts';
import { RENEW_EVERY_MS } from '../../domain/jobs/job.ts';
import { SUBMIT_TIMEOUT_MS } from '../../domain/providers/submit-result.ts';
import { ports } from '../tokens.ts';

/** The timers of the process, each with its time; that of retention depends on the database. Tests replace them. */
export const waits = new ContainerModule(({ bind }) => {
  bind(ports.submitTimeout).toConstantValue(timedTimeout(SUBMIT_TIMEOUT_MS));
  bind(ports.resultRetryDelay).toConstantValue(timedTimeout(RESULT_RETRY_MS));
  bind(ports.lockRetryDelay).toConstantValue(timedTimeout(GATE_LOCK_RETRY_MS));
  bind(ports.recordBatchWindow).toConstantValue(timedTimeout(RECORD_BATCH_WINDOW_MS));
  bind(ports.fetchInterval).toConstantValue(timedTimeout(FETCH_INTERVAL_MS));
  bind(ports.reportPollingInterval).toConstantValue(timedTimeout(REPORT_POLLING_INTERVAL_MS));
  bind(ports.keyUseInterval).toConstantValue(timedTimeout(KEY_USE_INTERVAL_MS));
  bind(ports.heartbeatInterval).toConstantValue(timedTimeout(WORKER_HEARTBEAT_MS));
  bind(ports.renewInterval).toConstantValue(timedTimeout(RENEW_EVERY_MS));
});
