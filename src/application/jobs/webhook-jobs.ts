import type { Job } from '../../domain/jobs/job.ts';
import { destinationKey, type WebhookDestination } from '../../domain/webhooks/destination.ts';
import type { FieldsOf } from './work-codec.ts';

const DELIVERIES = 'webhooks';

/** Deliver the due events of a destination. */
export interface WebhookWork extends WebhookDestination {
  readonly kind: 'deliver-webhooks';
}

export const WEBHOOK_FIELDS: FieldsOf<WebhookWork> = { projectId: 'id', endpoint: 'text' };

/** The job that delivers what is due to a destination; each destination has one, however many events wait. */
export function deliverWebhooksJob(
  { projectId, endpoint }: WebhookDestination,
  dueAt: number,
): Job<WebhookWork> {
  const work = { kind: 'deliver-webhooks', projectId, endpoint } as const;
  return { id: deliverWebhooksJobId(work), projectId, priority: 'webhook', dueAt, work };
}

/** The id of `deliverWebhooksJob`. */
export function deliverWebhooksJobId(destination: WebhookDestination): string {
  return `${DELIVERIES}/${destinationKey(destination)}`;
}

/** What the log has of the id of any job: project and host of a destination, whose path may be a secret of its owner. */
export function loggedJobId(id: string): string {
  const [first, projectId, host] = id.split('/');
  return first === DELIVERIES ? [first, projectId, host].join('/') : id;
}
