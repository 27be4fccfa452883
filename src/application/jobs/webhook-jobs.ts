import type { Job } from './job.ts';
import type { FieldsOf } from './work-codec.ts';

const DELIVERIES = 'webhooks';

/** The endpoint of one project that its events go to. */
export interface WebhookDestination {
  readonly projectId: string;
  readonly endpoint: string;
}

/** Deliver the due events of a destination. */
export interface WebhookWork extends WebhookDestination {
  readonly kind: 'deliver-webhooks';
}

export const WEBHOOK_FIELDS: FieldsOf<WebhookWork> = { projectId: 'id', endpoint: 'text' };

/** Names a destination among all of them. */
export function destinationKey({ projectId, endpoint }: WebhookDestination): string {
  return `${projectId}/${endpoint}`;
}

/** The destination that `destinationKey` named: no id of a project has a slash. */
export function destinationOfKey(key: string): WebhookDestination {
  const end = key.indexOf('/');
  return { projectId: key.slice(0, end), endpoint: key.slice(end + 1) };
}

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
