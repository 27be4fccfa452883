import { expect, it, test } from 'vitest';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { NINE, OTHER_KEY, PARAMETERS, started, startWithCampaigns } from '../support/campaigns.ts';
import { linesOf, reportOf } from '../support/reports.ts';
import { verification } from '../support/seeds.ts';
import { accepted, errorOf, NUMBER, OTHER_NUMBER, SECOND, startWith, template, text } from './world.ts';

const ALL = { startDate: '2029-01-01', endDate: '2031-01-01' };
const HEADER =
  'Message ID,Phone Number,Sender ID,Cost (IQD),Message Type,Delivery Status,Error Reason,Refunded,Created At,Sent At';

const generate = (service: Harness, body: unknown, headers: Record<string, string> = {}) =>
  service.request('/reports/generate', { body, headers });

it('4.4 the reply is the report, made and ready to download', async () => {
  const service = await startWith({ slug: 'souq' });
  await accepted(service);
  await service.advance(SECOND);
  const { status, body } = await generate(service, {
    ...ALL,
    phoneNumbers: [`+${NUMBER}`],
    statuses: ['delivered'],
  });
  expect(status).toBe(200);
  const { _id: id, fileId } = body as { _id: string; fileId: string };
  expect(id).toMatch(/^[a-f0-9]{24}$/);
  expect(fileId).toMatch(/^[a-f0-9]{40}$/);
  expect(body).toEqual({
    _id: id,
    reportId: id,
    project: expect.stringMatching(/^[a-f0-9]{24}$/),
    filename: `delivery-report-souq-2030-01-01T00-00-01-000Z-${id.slice(-8)}.csv`,
    fileId,
    downloadUrl: `${await service.url}/reports/files/${fileId}`,
    recordCount: 1,
    dateRange: { startDate: '2029-01-01T00:00:00.000Z', endDate: '2031-01-01T23:59:59.999Z' },
    filters: { ...ALL, phoneNumbers: [`+${NUMBER}`], statuses: ['delivered'] },
    expiresAt: '2030-01-31T00:00:01.000Z',
    status: 'available',
    createdAt: '2030-01-01T00:00:01.000Z',
    updatedAt: '2030-01-01T00:00:01.000Z',
    message: 'Delivery report generated successfully',
  });
});

it('4.4 the file has a row for each message, of every type and status, in the order of creation', async () => {
  const service = await startWith({ credit: 10_000 });
  const code = await accepted(service, verification(NUMBER, { provider: 'sms' }));
  await service.advance(SECOND);
  const custom = await accepted(service, text('07701234568', { provider: 'sms', senderId: 'Barid' }));
  await service.advance(SECOND);
  service.script(() => ({ result: 'rejected', reason: 'It said "no", twice' }));
  const failed = await accepted(service, template(NUMBER));
  await service.advance(SECOND);
  const report = await reportOf(service, ALL);
  expect(report.recordCount).toBe(3);
  const [costOfText, costOfTemplate] = [100, 60];
  expect(await linesOf(report)).toEqual([
    HEADER,
    `${code},${NUMBER},System,80,OTP,delivered,,No,2030-01-01T00:00:00.000Z,2030-01-01T00:00:00.000Z`,
    expect.stringMatching(
      new RegExp(`^${custom},07701234568,Barid,[0-9]+,Custom,delivered,,No,2030-01-01T00:00:01.000Z,`),
    ),
    `${failed},${NUMBER},System,${costOfTemplate},WhatsApp Template,failed,"It said ""no"", twice",Yes,2030-01-01T00:00:02.000Z,`,
    '',
  ]);
  expect(costOfText).toBeGreaterThan(costOfTemplate);
});

it('4.4 messages of campaigns are in the report', async () => {
  const service = await startWithCampaigns();
  await started(service, NINE);
  await service.advance(SECOND);
  const report = await reportOf(service, ALL);
  expect(report.recordCount).toBe(NINE.length);
  const lines = await linesOf(report);
  expect(
    lines
      .slice(1, -1)
      .map((line) => line.split(',')[1])
      .sort(),
  ).toEqual([...NINE].sort());
  expect(lines[1]).toContain(',System,60,WhatsApp Template,');
  expect(PARAMETERS).toBeDefined();
});

test.each([
  ['the first instant', { startDate: '2030-01-01T00:00:01Z', endDate: '2030-01-01T00:00:01Z' }, 1],
  ['a date that stands for all of its day', { startDate: '2030-01-01', endDate: '2030-01-01' }, 2],
  ['an offset', { startDate: '2030-01-01T03:00:01+03:00', endDate: '2030-01-01T03:00:05+03:00' }, 1],
  [
    'a time without an offset, which is UTC',
    { startDate: '2030-01-01T00:00:00', endDate: '2030-01-01T00:00:00.999' },
    1,
  ],
  ['the day before', { startDate: '2029-12-31', endDate: '2029-12-31' }, 0],
])('4.4 the range has its ends: %s', async (_, range, count) => {
  const service = await startWith();
  await accepted(service);
  await service.advance(SECOND);
  await accepted(service, verification(OTHER_NUMBER));
  await service.advance(SECOND);
  expect((await reportOf(service, range)).recordCount).toBe(count);
});

it('4.4 numbers are compared by digits in every spelling, and an empty list restricts nothing', async () => {
  const service = await startWith({ credit: 10_000 });
  await accepted(service, verification('07701234567'));
  await accepted(service, verification(OTHER_NUMBER));
  await service.advance(SECOND);
  const count = async (phoneNumbers: readonly string[]) =>
    (await reportOf(service, { ...ALL, phoneNumbers })).recordCount;
  expect(await count(['+9647701234567'])).toBe(1);
  expect(await count(['009647701234567', OTHER_NUMBER])).toBe(2);
  expect(await count(['7701234567'])).toBe(0);
  expect(await count([])).toBe(2);
});

it('4.4 statuses restrict the report, and an empty list does not', async () => {
  const service = await startWith({ credit: 10_000 });
  await accepted(service);
  await service.advance(SECOND);
  await accepted(service, verification('9990000000002'));
  const count = async (statuses: readonly string[]) =>
    (await reportOf(service, { ...ALL, statuses })).recordCount;
  expect(await count(['delivered'])).toBe(1);
  expect(await count(['delivered', 'sent', 'pending'])).toBe(2);
  expect(await count(['failed', 'read'])).toBe(0);
  expect(await count([])).toBe(2);
});

it('4.4 a report has the messages of its project only', async () => {
  const service = await startWithCampaigns();
  await accepted(service);
  await service.advance(SECOND);
  const other = await service.request('/reports/generate', { body: ALL, apiKey: OTHER_KEY });
  expect(other.body).toMatchObject({ recordCount: 0 });
});

it('4.4 a message that is created after the request is not in the report', async () => {
  const service = await startWith();
  const report = await reportOf(service, ALL);
  await service.advance(1);
  await accepted(service);
  expect(await linesOf(report)).toEqual([HEADER, '']);
});

test.each([
  ['+cmd', "'+cmd"],
  ['=1+1', "'=1+1"],
  ['@x', "'@x"],
  ['-2', "'-2"],
  ['باريد، "کوردی" 👍', '"باريد، ""کوردی"" 👍"'],
])('4.4 a cell that would be a formula becomes a text: %j is %j', async (reason, cell) => {
  const service = await startWith();
  service.script(() => ({ result: 'rejected', reason }));
  await accepted(service, verification(NUMBER, { provider: 'sms' }));
  await service.advance(SECOND);
  const response = await fetch((await reportOf(service, ALL)).downloadUrl);
  expect(await response.text()).toContain(`,failed,${cell},Yes,`);
});

test.each([
  [{}, 'startDate must be a date in ISO 8601, such as 2026-01-31 or 2026-01-31T09:00:00Z'],
  [
    { startDate: '2030-01-01' },
    'endDate must be a date in ISO 8601, such as 2026-01-31 or 2026-01-31T09:00:00Z',
  ],
  [
    { ...ALL, startDate: '2030-02-30' },
    'startDate must be a date in ISO 8601, such as 2026-01-31 or 2026-01-31T09:00:00Z',
  ],
  [
    { ...ALL, startDate: 5 },
    'startDate must be a date in ISO 8601, such as 2026-01-31 or 2026-01-31T09:00:00Z',
  ],
  [{ startDate: '2030-01-02', endDate: '2030-01-01' }, 'endDate must be on or after startDate'],
  [
    { ...ALL, phoneNumbers: ['+964 770'] },
    'phoneNumbers must be a list of at most 1000 numbers of digits, each with or without a plus',
  ],
  [
    { ...ALL, phoneNumbers: NUMBER },
    'phoneNumbers must be a list of at most 1000 numbers of digits, each with or without a plus',
  ],
  [
    { ...ALL, phoneNumbers: Array.from({ length: 1_001 }, () => NUMBER) },
    'phoneNumbers must be a list of at most 1000 numbers of digits, each with or without a plus',
  ],
  [{ ...ALL, statuses: ['queued'] }, 'statuses must be a list of pending, sent, delivered, read, failed'],
  [{ ...ALL, statuses: 'sent' }, 'statuses must be a list of pending, sent, delivered, read, failed'],
])('4.4 a request that is not valid is an error and makes no report: %j', async (body, error) => {
  const service = await startWith();
  expect(errorOf(await generate(service, body))).toEqual({
    status: 400,
    code: 'validation-failed',
    body: { error },
  });
  expect((await service.request('/reports')).body).toEqual([]);
});

it('4.4 an equal request with the same Idempotency-Key gets the same report', async () => {
  const service = await startWith();
  const key = { 'idempotency-key': 'k1' };
  const first = await generate(service, ALL, key);
  await service.advance(SECOND);
  const second = await generate(service, ALL, key);
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect(second.body).toEqual(first.body);
  expect(errorOf(await generate(service, { ...ALL, statuses: ['sent'] }, key))).toMatchObject({
    status: 409,
    code: 'idempotency-conflict',
  });
  expect((await service.request('/reports')).body).toHaveLength(1);
});
