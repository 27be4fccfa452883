import type { Content } from '../messages/send-request.ts';

/** What is leased first, the most urgent first. */
export const JOB_PRIORITIES = ['code', 'text', 'campaign', 'webhook', 'housekeeping'] as const;

export type JobPriority = (typeof JOB_PRIORITIES)[number];

/** The priorities that jobs of messages have. */
export const MESSAGE_PRIORITIES = ['code', 'text'] as const satisfies readonly JobPriority[];

/** The priority of every job of a message: a code is useless a minute later, other texts can wait for it. */
export function messagePriority({ smsType }: Pick<Content, 'smsType'>): JobPriority {
  return smsType === 'verification' ? 'code' : 'text';
}
