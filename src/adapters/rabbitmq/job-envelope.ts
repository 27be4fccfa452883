import { isIdOf, parseWork } from '../../application/jobs/job-kinds.ts';
import type { LeasedJob } from '../../domain/jobs/job.ts';
import { limitedJsonOf } from '../../domain/shared/json-text.ts';

/** The form of the messages. A reader dead-letters what it does not know; the job's lease brings the job back. */
const ENVELOPE_VERSION = 1;

/** The fencing token of the first lease. A job waits with a lower one, which a forged message could guess. */
const FIRST_LEASE = 1;

/** The longest job is a kilobyte: the id of a webhook job has the beginning of a receiver's address. */
export const MESSAGE_BYTES_MAX = 8_192;
/** Objects, lists and their members of a job; anybody at the broker may send thousands of messages with more. */
const MESSAGE_MEMBERS_MAX = 100;

/** A job as the bytes of a message. */
export function encodeJob(job: LeasedJob): Buffer {
  return Buffer.from(
    JSON.stringify({ v: ENVELOPE_VERSION, id: job.id, fencingToken: job.fencingToken, work: job.work }),
  );
}

/** The job in a message, or null when it is not one this version understands. */
export function decodeJob(content: Buffer): LeasedJob | null {
  const envelope = parseObject(content);
  if (envelope === null || envelope.v !== ENVELOPE_VERSION) return null;
  const { id, fencingToken } = envelope;
  if (typeof fencingToken !== 'number' || !Number.isSafeInteger(fencingToken)) return null;
  if (fencingToken < FIRST_LEASE) return null;
  const work = parseWork(envelope.work);
  if (typeof id !== 'string' || work === null || !isIdOf(id, work)) return null;
  return { id, fencingToken, work };
}

function parseObject(content: Buffer): Record<string, unknown> | null {
  if (content.length > MESSAGE_BYTES_MAX) return null;
  const value = limitedJsonOf(content.toString(), MESSAGE_MEMBERS_MAX);
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
}
