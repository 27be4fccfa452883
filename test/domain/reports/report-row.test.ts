import { describe, expect, it, test } from 'vitest';
import type { ReportFilters } from '../../../src/domain/reports/report.ts';
import {
  matcherOf,
  REPORT_HEADER,
  type ReportedMessage,
  reportRow,
} from '../../../src/domain/reports/report-row.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { aPhoneNumber } from '../../support/builders.ts';

const reported = (given: Partial<ReportedMessage> = {}): ReportedMessage => ({
  smsId: 'sms-0123456789abcdef01234567',
  campaignId: null,
  phoneNumber: aPhoneNumber('9647701234567'),
  phoneNumberAsSent: '07701234567',
  senderId: 'Souq',
  smsType: 'custom',
  status: 'failed',
  isFinal: true,
  cost: iqd(80.5),
  createdAt: Date.parse('2030-01-01T00:00:00.001Z'),
  sentAt: Date.parse('2030-01-01T00:00:01Z'),
  errorReason: 'The number is not on sms',
  ...given,
});

const filters = (given: Partial<ReportFilters> = {}): ReportFilters => ({
  startDate: '2030-01-01',
  endDate: '2030-01-01',
  phoneNumbers: [],
  statuses: [],
  ...given,
});

describe('the row of a message', () => {
  it('a row has the ten columns of specification 2.4', () => {
    expect(REPORT_HEADER).toEqual([
      'Message ID',
      'Phone Number',
      'Sender ID',
      'Cost (IQD)',
      'Message Type',
      'Delivery Status',
      'Error Reason',
      'Refunded',
      'Created At',
      'Sent At',
    ]);
    expect(reportRow(reported())).toEqual([
      'sms-0123456789abcdef01234567',
      '07701234567',
      'Souq',
      '80.5',
      'Custom',
      'failed',
      'The number is not on sms',
      'Yes',
      '2030-01-01T00:00:00.001Z',
      '2030-01-01T00:00:01.000Z',
    ]);
  });

  it('a message without sender, error or time of sending has System and empty cells', () => {
    const row = reportRow(reported({ senderId: null, errorReason: null, sentAt: null }));
    expect([row[2], row[6], row[9]]).toEqual(['System', '', '']);
  });

  test.each([
    ['verification', 'OTP'],
    ['custom', 'Custom'],
    ['whatsapp-template', 'WhatsApp Template'],
    ['of-a-newer-version', 'Other'],
  ])('a message of the type %s is %s', (smsType, type) => {
    expect(reportRow(reported({ smsType: smsType as ReportedMessage['smsType'] }))[4]).toBe(type);
  });

  test.each([
    ['a failed message', { status: 'failed' }, 'Yes'],
    ['a failed message that cost nothing', { status: 'failed', cost: iqd(0) }, 'No'],
    ['a delivered message', { status: 'delivered' }, 'No'],
    ['a single message that is final as sent', { status: 'sent' }, 'No'],
    ['a message of a campaign that is final as sent', { status: 'sent', campaignId: 'c1' }, 'Yes'],
    ['a message of a campaign on its way', { status: 'sent', campaignId: 'c1', isFinal: false }, 'No'],
    ['a message of a campaign that was delivered', { status: 'delivered', campaignId: 'c1' }, 'No'],
  ] as const)('%s has %j and is refunded: %s', (_, given, refunded) => {
    expect(reportRow(reported(given))[7]).toBe(refunded);
  });
});

describe('the filters of a report', () => {
  it('filters without numbers and statuses match every message', () => {
    expect(matcherOf(filters())(reported())).toBe(true);
  });

  test.each(['9647701234567', '+9647701234567', '07701234567', '009647701234567', '+96407701234567'])(
    'the number %s finds the messages to its handset',
    (number) => {
      expect(matcherOf(filters({ phoneNumbers: ['123', number] }))(reported())).toBe(true);
    },
  );

  test.each(['9647701234568', '7701234567', '96477012345678'])(
    'the number %s does not find another handset',
    (number) => {
      expect(matcherOf(filters({ phoneNumbers: [number] }))(reported())).toBe(false);
    },
  );

  it('a message has to match number and status', () => {
    const matches = matcherOf(filters({ phoneNumbers: ['9647701234567'], statuses: ['sent', 'failed'] }));
    expect(matches(reported())).toBe(true);
    expect(matches(reported({ status: 'delivered' }))).toBe(false);
    expect(matches(reported({ phoneNumber: aPhoneNumber('9647701234560') }))).toBe(false);
  });
});
