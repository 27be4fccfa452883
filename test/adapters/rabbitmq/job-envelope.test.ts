import { describe, expect, it } from 'vitest';
import { decodeJob, encodeJob, MESSAGE_BYTES_MAX } from '../../../src/adapters/rabbitmq/job-envelope.ts';

const JOB = {
  id: 'sms-1/start/0',
  fencingToken: 3,
  work: { kind: 'start-attempt', smsId: 'sms-1', attemptNumber: 0 },
} as const;

/** A message whose id fits its work. */
const envelopeOf = (smsId: string, attemptNumber = 0) =>
  JSON.stringify({
    v: 1,
    id: `${smsId}/start/${attemptNumber}`,
    fencingToken: 3,
    work: { kind: 'start-attempt', smsId, attemptNumber },
  });

describe('job envelope', () => {
  it('encodes a job as versioned JSON', () => {
    expect(encodeJob(JOB).toString()).toBe(
      '{"v":1,"id":"sms-1/start/0","fencingToken":3,"work":{"kind":"start-attempt","smsId":"sms-1","attemptNumber":0}}',
    );
  });

  it('decodes a job as it was encoded', () => {
    expect(decodeJob(encodeJob(JOB))).toEqual(JOB);
  });

  it.each([
    { id: 'sms-1/deadline/2', work: { kind: 'attempt-deadline', smsId: 'sms-1', attemptNumber: 2 } },
    {
      id: 'webhooks/p1/a.example/1',
      work: { kind: 'deliver-webhooks', projectId: 'p1', endpoint: 'a.example/1' },
    },
  ])('decodes the job $id as it was encoded', (job) => {
    expect(decodeJob(encodeJob({ ...job, fencingToken: 1 }))).toEqual({ ...job, fencingToken: 1 });
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '{"v":1'],
    ['no object', '[1]'],
    ['null', 'null'],
    ['another version', JSON.stringify({ v: 2, ...JOB })],
    ['no id', JSON.stringify({ v: 1, ...JOB, id: '' })],
    ['an id with a NUL', JSON.stringify({ v: 1, ...JOB, id: 'sms-1\u0000' })],
    ['an id with half a surrogate pair', JSON.stringify({ v: 1, ...JOB, id: 'sms-1\ud800' })],
    ['a field with a NUL', envelopeOf('sms-\u00001')],
    ['a field with half a surrogate pair', envelopeOf('sms-\ud8001')],
    ['an empty field', envelopeOf('')],
    ['the id of another job', JSON.stringify({ v: 1, ...JOB, id: 'sms-2/start/0' })],
    ['the id of another kind', JSON.stringify({ v: 1, ...JOB, id: 'sms-1/deadline/0' })],
    [
      'work under the id of other work that is put together alike',
      JSON.stringify({
        v: 1,
        id: 'webhooks/p1/a.example/1',
        fencingToken: 1,
        work: { kind: 'deliver-webhooks', projectId: 'p1/a.example', endpoint: '1' },
      }),
    ],
    ['a message that is far too long', `${JSON.stringify({ v: 1, ...JOB })}${' '.repeat(MESSAGE_BYTES_MAX)}`],
    ['a message id with a slash', envelopeOf('sms-1/start/0')],
    ['a number below zero', envelopeOf('sms-1', -1)],
    ['a fencingToken that is no number', JSON.stringify({ v: 1, ...JOB, fencingToken: '3' })],
    ['a fraction of a fencingToken', JSON.stringify({ v: 1, ...JOB, fencingToken: 1.5 })],
    ['the fencingToken of a job that was never leased', JSON.stringify({ v: 1, ...JOB, fencingToken: 0 })],
    ['no work', JSON.stringify({ v: 1, id: 'a', fencingToken: 1 })],
    ['unknown work', JSON.stringify({ v: 1, ...JOB, work: { kind: 'other', smsId: 'a', attemptNumber: 0 } })],
    ['a name every object has', JSON.stringify({ v: 1, ...JOB, work: { kind: 'constructor' } })],
    ['work without a field', JSON.stringify({ v: 1, ...JOB, work: { kind: 'start-attempt', smsId: 'a' } })],
    ['a field of another type', JSON.stringify({ v: 1, ...JOB, work: { ...JOB.work, attemptNumber: '0' } })],
  ])('decodes %s to no job', (_, text) => {
    expect(decodeJob(Buffer.from(text))).toBeNull();
  });
});
