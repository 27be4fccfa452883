import type { LeasedJob, Work } from '../../application/jobs.ts';

/** The form of the messages. A reader sets aside what it does not know; the job's lease brings the job back. */
const ENVELOPE_VERSION = 1;

type FieldType = 'string' | 'number';
type WorkOf<Kind extends Work['kind']> = Extract<Work, { readonly kind: Kind }>;

/** What each kind of work carries. A kind that is missing here breaks the build. */
const WORK_FIELDS: {
  readonly [Kind in Work['kind']]: Readonly<Record<Exclude<keyof WorkOf<Kind>, 'kind'>, FieldType>>;
} = {
  'start-attempt': { smsId: 'string', attemptNumber: 'number' },
  'attempt-deadline': { smsId: 'string', attemptNumber: 'number' },
  'deliver-webhooks': { projectId: 'string', endpoint: 'string' },
};

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
  const { id, fencingToken, work } = envelope;
  if (typeof id !== 'string' || id === '') return null;
  if (typeof fencingToken !== 'number' || !Number.isSafeInteger(fencingToken)) return null;
  return isWork(work) ? { id, fencingToken, work } : null;
}

function isWork(value: unknown): value is Work {
  if (!isObject(value)) return false;
  const kind = value.kind;
  if (typeof kind !== 'string' || !isKind(kind)) return false;
  return Object.entries(WORK_FIELDS[kind]).every(([field, type]) => typeof value[field] === type);
}

function isKind(kind: string): kind is Work['kind'] {
  return Object.hasOwn(WORK_FIELDS, kind);
}

function parseObject(content: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(content.toString());
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
