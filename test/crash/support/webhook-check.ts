import type { WebhookWork } from '../../../src/application/jobs/webhook-jobs.ts';
import { Findings } from './findings.ts';

/** A dead process's request may reach the receiver a little after the process died. */
const LATE_ARRIVAL_MS = 1_000;

const DELIVER_WEBHOOKS: WebhookWork['kind'] = 'deliver-webhooks';

/** Columns of a row of `webhook_events`, as SQLite gives them. */
export interface EventRow {
  readonly id: string;
  readonly project_id: string;
  readonly endpoint: string;
  readonly ordering_key: string;
  readonly body: string;
  readonly state: string;
  readonly is_open: number;
  readonly next_attempt_at: number | null;
}

export interface MessageRow {
  readonly sms_id: string;
  readonly is_final: number;
}

export interface JobRow {
  readonly work: string;
  readonly due_at: number;
  readonly leased_by: string | null;
}

/** A request that the receiver wrote down. */
export interface ReceivedRequest {
  readonly at: number;
  readonly id: string;
  readonly body: string;
}

export interface WebhookCheck {
  readonly events: readonly EventRow[];
  readonly messages: readonly MessageRow[];
  readonly jobs: readonly JobRow[];
  /** In the order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  /** The instants at which the service was dead. */
  readonly kills: readonly number[];
  /** By event id: the instant of the kill before which the event was recorded as delivered. */
  readonly recorded: ReadonlyMap<string, number>;
}

export interface WebhookReport {
  readonly events: number;
  readonly states: Readonly<Record<string, number>>;
  readonly requests: number;
  /** Requests of an event beyond its first. */
  readonly repeated: number;
  /** What is wrong, in sentences. */
  readonly problems: readonly string[];
}

/** Compares the rows of webhook events with what the receiver wrote down. */
export function checkWebhooks({
  events,
  jobs,
  messages,
  requests,
  kills,
  recorded,
}: WebhookCheck): WebhookReport {
  const found = new Findings();
  const requestsById = new Map<string, ReceivedRequest[]>();
  for (const request of requests)
    requestsById.set(request.id, [...(requestsById.get(request.id) ?? []), request]);

  checkEvents({ events, messages, requestsById, found });
  checkJobs({ events, jobs, found });
  checkRepeats({ requestsById, kills, recorded, found });
  checkOrder(requests, found);

  const stored = new Set(events.map(({ id }) => id));
  for (const id of requestsById.keys()) if (!stored.has(id)) found.add('received, not stored', id);
  return {
    events: events.length,
    states: countBy(events, ({ state }) => state),
    requests: requests.length,
    repeated: requests.length - requestsById.size,
    problems: found.sentences(),
  };
}

/** Every event is delivered, still to be delivered, or superseded; every final message has one final event. */
function checkEvents({
  events,
  messages,
  requestsById,
  found,
}: Pick<WebhookCheck, 'events' | 'messages'> & {
  readonly requestsById: ReadonlyMap<string, readonly ReceivedRequest[]>;
  readonly found: Findings;
}): void {
  const finals = new Map<string, number>();
  for (const { id, state, ordering_key, body } of events) {
    if (JSON.parse(body).isFinal) finals.set(ordering_key, (finals.get(ordering_key) ?? 0) + 1);
    if (state === 'delivered' && !requestsById.has(id)) found.add('delivered, never received', id);
    if (state === 'discarded') found.add('discarded', id);
  }
  const open = events.filter((event) => event.is_open === 1);
  const scheduled = new Set(
    open.filter((event) => event.next_attempt_at !== null).map(({ ordering_key }) => ordering_key),
  );
  for (const { id, ordering_key, next_attempt_at: nextAt } of open) {
    if (nextAt === null && !scheduled.has(ordering_key)) found.add('waits behind no other event', id);
  }
  for (const { sms_id: id, is_final: isFinal } of messages) {
    const count = finals.get(id) ?? 0;
    if (isFinal === 1 && count !== 1) found.add(`final message with ${count} final events`, id);
    if (isFinal === 0 && count !== 0) found.add('final event of a message that is not final', id);
  }
}

/** Every event with an attempt to come has a job that is leased, or due no later than the event. */
function checkJobs({
  events,
  jobs,
  found,
}: Pick<WebhookCheck, 'events' | 'jobs'> & { readonly found: Findings }): void {
  const dueAt = new Map<string, number>();
  for (const { work, due_at: due, leased_by: leasedBy } of jobs) {
    const { kind, projectId, endpoint } = JSON.parse(work);
    if (kind === DELIVER_WEBHOOKS) dueAt.set(`${projectId} ${endpoint}`, leasedBy === null ? due : 0);
  }
  for (const { id, project_id: projectId, endpoint, next_attempt_at: nextAt } of events) {
    if (nextAt === null) continue;
    const due = dueAt.get(`${projectId} ${endpoint}`);
    if (due === undefined) found.add('to be delivered, without a job', id);
    else if (due > nextAt) found.add('to be delivered before its job is due', id);
  }
}

/** An event is received again only when a kill came between, and never once it was recorded as delivered. */
function checkRepeats({
  requestsById,
  kills,
  recorded,
  found,
}: Pick<WebhookCheck, 'kills' | 'recorded'> & {
  readonly requestsById: ReadonlyMap<string, readonly ReceivedRequest[]>;
  readonly found: Findings;
}): void {
  for (const [id, requests] of requestsById) {
    const recordedAt = recorded.get(id) ?? Number.POSITIVE_INFINITY;
    let before: ReceivedRequest | null = null;
    for (const request of requests) {
      if (request.at > recordedAt) found.add('received after it was recorded as delivered', id);
      const since = before === null ? null : before.at - LATE_ARRIVAL_MS;
      if (since !== null && !kills.some((kill) => kill >= since && kill <= request.at)) {
        found.add('received twice without a kill between', id);
      }
      before = request;
    }
  }
}

/** No event of a message is received after the message's final event. */
function checkOrder(requests: readonly ReceivedRequest[], found: Findings): void {
  const finals = new Map<string, string>();
  for (const { id, body } of requests) {
    const { smsId, isFinal } = JSON.parse(body);
    const final = finals.get(smsId);
    if (final !== undefined && final !== id) found.add('received after the final event', `${smsId} ${id}`);
    if (isFinal && final === undefined) finals.set(smsId, id);
  }
}

function countBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1;
  return counts;
}
