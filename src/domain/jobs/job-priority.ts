import type { Message } from '../messages/message.ts';

/** The priorities of jobs, from the one that is leased first to the one that is leased last. */
export const JOB_PRIORITIES = ['code', 'text', 'campaign', 'webhook', 'housekeeping'] as const;

export type JobPriority = (typeof JOB_PRIORITIES)[number];

/** The priorities of jobs that somebody waits for: housekeeping only tidies up. */
export const AWAITED_PRIORITIES: readonly JobPriority[] = JOB_PRIORITIES.filter(
  (priority) => priority !== 'housekeeping',
);

/** The priorities of messages that were sent one by one. */
export const SINGLE_MESSAGE_PRIORITIES = ['code', 'text'] as const satisfies readonly JobPriority[];

/** The priorities that jobs of messages have, and those of campaigns. */
export const MESSAGE_PRIORITIES = [
  ...SINGLE_MESSAGE_PRIORITIES,
  'campaign',
] as const satisfies readonly JobPriority[];

/**
 * The priority of every job of a message: a code is useless a minute later, other texts can wait for it, and a campaign for
 * them all.
 */
export function messagePriority({
  content,
  campaignId,
}: Pick<Message, 'content' | 'campaignId'>): JobPriority {
  if (campaignId !== null) return 'campaign';
  return content.smsType === 'verification' ? 'code' : 'text';
}

/** The priority and all more urgent ones. */
export function upTo(priority: JobPriority): readonly JobPriority[] {
  return JOB_PRIORITIES.slice(0, JOB_PRIORITIES.indexOf(priority) + 1);
}

/** All less urgent priorities. */
export function lessUrgentThan(priority: JobPriority): readonly JobPriority[] {
  return JOB_PRIORITIES.slice(JOB_PRIORITIES.indexOf(priority) + 1);
}
