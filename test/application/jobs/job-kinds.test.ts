import { expect, test } from 'vitest';
import { attemptDeadlineJob, startAttemptJob } from '../../../src/application/jobs/attempt-jobs.ts';
import { isIdOf, parseWork } from '../../../src/application/jobs/job-kinds.ts';
import { deliverWebhooksJob } from '../../../src/application/jobs/webhook-jobs.ts';
import { syncWhatsappJob } from '../../../src/application/jobs/whatsapp-jobs.ts';
import { aMessage, NOW } from '../../support/builders.ts';

const START = { kind: 'start-attempt', smsId: 'sms-1', attemptNumber: 1 };
const SYNC = { kind: 'sync-whatsapp' };
const DELIVER = { kind: 'deliver-webhooks', projectId: 'p1', endpoint: 'customer.example/status' };

test.each([
  ['an attempt', START],
  ['the first attempt', { ...START, attemptNumber: 0 }],
  ['an attempt that has waited', { ...START, hasWaited: true }],
  ['a deadline', { ...START, kind: 'attempt-deadline' }],
  ['a delivery', DELIVER],
  ['a synchronisation', SYNC],
])('the work of %s is read as it was written, without what it does not declare', (_, work) => {
  expect(parseWork({ ...work, more: true })).toEqual(work);
});

test.each<[string, unknown]>([
  ['null', null],
  ['a text', 'start-attempt'],
  ['nothing', {}],
  ['a kind that is no text', { ...START, kind: 7 }],
  ['an unknown kind', { ...START, kind: 'start' }],
  ['a text that is missing', { kind: 'start-attempt', attemptNumber: 1 }],
  ['a text that is empty', { ...START, smsId: '' }],
  ['an id with a slash', { ...START, smsId: 'sms-1/start/0' }],
  ['a text with a NUL', { ...START, smsId: 'sms-\u00001' }],
  ['a text with half a surrogate pair', { ...DELIVER, projectId: 'p\ud800' }],
  ['a text that is a number', { ...START, smsId: 1 }],
  ['a number that is missing', { kind: 'attempt-deadline', smsId: 'sms-1' }],
  ['a number that is a text', { ...START, attemptNumber: '1' }],
  ['a number below zero', { ...START, attemptNumber: -1 }],
  ['a number that is not whole', { ...START, attemptNumber: 1.5 }],
  ['a mark that is not true', { ...START, hasWaited: false }],
  ['a destination without its project', { ...DELIVER, projectId: undefined }],
  ['a destination without its endpoint', { ...DELIVER, endpoint: 5 }],
])('work with %s is not read', (_, value) => {
  expect(parseWork(value)).toBeNull();
});

test.each([
  ['starts an attempt', startAttemptJob(aMessage({ smsId: 'sms-1' }), 2, NOW), 'sms-1/start/2'],
  [
    'ends the time of an attempt',
    attemptDeadlineJob(aMessage({ smsId: 'sms-1' }), 2, NOW),
    'sms-1/deadline/2',
  ],
  [
    'delivers webhooks',
    deliverWebhooksJob({ projectId: 'p1', endpoint: 'a.example/in' }, NOW),
    'webhooks/p1/a.example/in',
  ],
  ['synchronises whatsapp', syncWhatsappJob(NOW), 'whatsapp/sync'],
])('there is one job that %s, by its id', (_, { id, dueAt, work }, expected) => {
  expect([id, dueAt, isIdOf(id, work), isIdOf(`${id}0`, work)]).toEqual([expected, NOW, true, false]);
});

test('no id is that of unknown work', () => {
  expect(isIdOf('job', { kind: 'start' })).toBe(false);
});
