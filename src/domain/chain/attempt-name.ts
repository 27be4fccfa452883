import { SMS_ID_PATTERN } from '../messages/message.ts';

/** An attempt by its message and its position in the chain. */
export interface AttemptRef {
  readonly smsId: string;
  readonly attemptNumber: number;
}

/** The chain of a message has few channels. */
const ATTEMPT_NUMBER = /^\d$/;

/** The name of an attempt that a provider is told, and repeats in its receipts: no other attempt ever has it. */
export function attemptName({ smsId, attemptNumber }: AttemptRef): string {
  return `${smsId}-${attemptNumber}`;
}

/** The attempt that such a name stands for; undefined when the text is none. */
export function parseAttemptName(name: string): AttemptRef | undefined {
  const end = name.lastIndexOf('-');
  const [smsId, attemptNumber] = [name.slice(0, end), name.slice(end + 1)];
  if (!SMS_ID_PATTERN.test(smsId) || !ATTEMPT_NUMBER.test(attemptNumber)) return undefined;
  return { smsId, attemptNumber: Number(attemptNumber) };
}

export function isSameAttempt(one: AttemptRef, other: AttemptRef): boolean {
  return one.smsId === other.smsId && one.attemptNumber === other.attemptNumber;
}
