import { describe, expect, it } from 'vitest';
import { decodeJob, encodeJob } from '../../../src/adapters/rabbitmq/job-envelope.ts';

const JOB = {
  id: 'sms-1/start/0',
  fence: 3,
  work: { kind: 'start-step', smsId: 'sms-1', step: 0 },
} as const;

describe('job envelope', () => {
  it('is versioned JSON', () => {
    expect(encodeJob(JOB).toString()).toBe(
      '{"v":1,"id":"sms-1/start/0","fence":3,"work":{"kind":"start-step","smsId":"sms-1","step":0}}',
    );
  });

  it('comes back as the job that went in', () => {
    expect(decodeJob(encodeJob(JOB))).toEqual(JOB);
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '{"v":1'],
    ['no object', '[1]'],
    ['null', 'null'],
    ['another version', JSON.stringify({ v: 2, ...JOB })],
    ['no id', JSON.stringify({ v: 1, ...JOB, id: '' })],
    ['a fence that is no number', JSON.stringify({ v: 1, ...JOB, fence: '3' })],
    ['a fraction of a fence', JSON.stringify({ v: 1, ...JOB, fence: 1.5 })],
    ['no work', JSON.stringify({ v: 1, id: 'a', fence: 1 })],
    ['unknown work', JSON.stringify({ v: 1, ...JOB, work: { kind: 'other', smsId: 'a', step: 0 } })],
    ['a name every object has', JSON.stringify({ v: 1, ...JOB, work: { kind: 'constructor' } })],
    ['work without a field', JSON.stringify({ v: 1, ...JOB, work: { kind: 'start-step', smsId: 'a' } })],
    ['a field of another type', JSON.stringify({ v: 1, ...JOB, work: { ...JOB.work, step: '0' } })],
  ])('refuses %s', (_, text) => {
    expect(decodeJob(Buffer.from(text))).toBeNull();
  });
});
