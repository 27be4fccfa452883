import { describe, expect, it } from 'vitest';
import { checkSmsc, type SmsRow } from './smsc-check.ts';
import { readSmscLog } from './smsc-log.ts';

const LOG = `taken 1 svc 9641 1 1
taken 2 svc 9642 1 2
taken 3 svc 9642 2 2
acknowledged 1
taken 4 svc 9643 1 1
`;

const DELIVERED = row('sms-1', '9641', 'delivered', 'delivered', ['smsc:1']);
const LONG = row('sms-2', '9642', 'delivered', 'delivered', ['smsc:2', 'smsc:3']);
const UNKNOWN = row('sms-3', '9643', 'failed', 'timed-out', []);
const REJECTED = row('sms-4', '9644', 'failed', 'rejected', []);
const SOUND = [DELIVERED, LONG, UNKNOWN, REJECTED];

function row(id: string, number: string, status: string, state: string, ids: readonly string[]): SmsRow {
  const attempts = JSON.stringify([{ state, providerMessageIds: ids }]);
  return { sms_id: id, phone_number: number, status, attempts };
}

describe('the check of what an SMSC took', () => {
  it('finds nothing wrong when both sides agree, and counts what is unknown', () => {
    expect(checkSmsc(SOUND, readSmscLog(LOG), 'smsc')).toEqual({
      delivered: 2,
      rejected: 1,
      unknown: 1,
      unknownTaken: 1,
      twice: 0,
      problems: [],
    });
  });

  it.each([
    [
      'a message that was submitted twice',
      SOUND,
      'taken 5 svc 9641 1 1\n',
      '1 × submitted twice: sms-1 part 1',
    ],
    ['a submission that no message stands for', SOUND.slice(1), '', '1 × submitted, not stored: 9641'],
    [
      'a rejected message that the SMSC took',
      SOUND,
      'taken 5 svc 9644 1 1\n',
      '1 × rejected, and taken all the same: sms-4',
    ],
    [
      'a delivered message without one of its parts',
      [...SOUND, row('sms-5', '9645', 'delivered', 'delivered', ['smsc:5'])],
      'taken 5 svc 9645 1 2\n',
      '1 × delivered, not taken as a whole: sms-5',
    ],
    [
      'a message under the id of another one',
      [row('sms-1', '9641', 'delivered', 'delivered', ['smsc:2']), ...SOUND.slice(1)],
      '',
      '1 × has an id that the SMSC gave to none of its parts: sms-1',
    ],
    [
      'a message without the receipt that the SMSC brought',
      [row('sms-1', '9641', 'sent', 'accepted', ['smsc:1']), ...SOUND.slice(1)],
      '',
      '1 × accepted, its receipt is lost: sms-1 (sent)',
    ],
  ])('the check finds %s', (_, messages, more, problem) => {
    expect(checkSmsc(messages, readSmscLog(LOG + more), 'smsc').problems).toEqual([problem]);
  });
});

describe('the log of the SMSC', () => {
  it('the log of the SMSC is read up to the line that a kill cut off', () => {
    expect(readSmscLog('taken 1 svc 9641 1 1\nacknowledged 1\ntaken 2 sv')).toEqual({
      taken: [{ id: '1', systemId: 'svc', destination: '9641', part: 1, parts: 1 }],
      acknowledged: new Set(['1']),
    });
  });
});
