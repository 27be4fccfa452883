import { expect, it } from 'vitest';
import { SANDBOX_OUTCOMES } from '../../src/domain/sandbox/sandbox-outcomes.ts';
import { startService } from '../support/running-service.ts';
import { verification } from '../support/seeds.ts';

interface Row {
  readonly afterMs: number;
  readonly status: string;
  readonly final: boolean;
  /** Per channel in order: + succeeded, - failed, blank not tried. */
  readonly flow: string;
  readonly credit: number;
}

const ATTEMPT_TIMEOUT_MS = 30_000;

/** What each number does to a verification message over whatsapp, telegram and sms, written down by hand. */
const DELIVERIES: Readonly<Record<string, readonly Row[]>> = {
  '0001': [{ afterMs: 1_000, status: 'delivered', final: true, flow: '+  ', credit: 14_900 }],
  '0002': [
    { afterMs: 29_999, status: 'sent', final: false, flow: '+  ', credit: 14_900 },
    { afterMs: 30_000, status: 'delivered', final: true, flow: '+  ', credit: 14_900 },
  ],
  '0003': [
    { afterMs: 2 * ATTEMPT_TIMEOUT_MS, status: 'sent', final: false, flow: '--+', credit: 14_900 },
    {
      afterMs: 2 * ATTEMPT_TIMEOUT_MS + 24 * 3_600_000,
      status: 'sent',
      final: true,
      flow: '--+',
      credit: 14_900,
    },
  ],
  '0004': [
    { afterMs: 1_000, status: 'delivered', final: true, flow: '+  ', credit: 14_900 },
    { afterMs: 2_000, status: 'read', final: true, flow: '+  ', credit: 14_900 },
  ],
  '0005': [{ afterMs: 1_000, status: 'read', final: true, flow: '+  ', credit: 14_900 }],
  '0006': [{ afterMs: 0, status: 'failed', final: true, flow: '---', credit: 15_000 }],
  '0007': [{ afterMs: 1_000, status: 'delivered', final: true, flow: '-+ ', credit: 14_900 }],
  '0008': [{ afterMs: 1_000, status: 'delivered', final: true, flow: '+  ', credit: 14_900 }],
  '0009': [{ afterMs: 1_000, status: 'delivered', final: true, flow: '--+', credit: 14_900 }],
  '0010': [
    { afterMs: ATTEMPT_TIMEOUT_MS - 1, status: 'sent', final: false, flow: '+  ', credit: 14_900 },
    { afterMs: ATTEMPT_TIMEOUT_MS + 1_000, status: 'delivered', final: true, flow: '-+ ', credit: 14_900 },
  ],
  '0011': [
    { afterMs: 4_999, status: 'pending', final: false, flow: '   ', credit: 14_900 },
    { afterMs: 5_000, status: 'delivered', final: true, flow: '+  ', credit: 14_900 },
  ],
  '0012': [{ afterMs: 1_100, status: 'delivered', final: true, flow: '+  ', credit: 14_900 }],
  '0013': [{ afterMs: 1_200, status: 'read', final: true, flow: '+  ', credit: 14_900 }],
  '0014': [
    { afterMs: ATTEMPT_TIMEOUT_MS, status: 'sent', final: false, flow: '-+ ', credit: 14_900 },
    { afterMs: ATTEMPT_TIMEOUT_MS + 2_000, status: 'delivered', final: true, flow: '++ ', credit: 14_900 },
  ],
  '0015': [{ afterMs: 1_000, status: 'delivered', final: true, flow: '+  ', credit: 14_900 }],
  '0201': [{ afterMs: 1_000, status: 'delivered', final: true, flow: '+  ', credit: 14_900 }],
  '0202': [{ afterMs: 1_000, status: 'delivered', final: true, flow: '-+ ', credit: 14_900 }],
  '0203': [{ afterMs: 1_000, status: 'delivered', final: true, flow: '-+ ', credit: 14_900 }],
  '0204': [{ afterMs: 1_000, status: 'delivered', final: true, flow: '-+ ', credit: 14_900 }],
  '0016': [{ afterMs: 1_000, status: 'delivered', final: true, flow: '-+ ', credit: 14_900 }],
};

/** The statuses of the replies to test numbers that change the reply itself. */
const STATUSES: Readonly<Record<string, readonly number[]>> = {
  '0101': [400],
  '0102': [400],
  '0103': [400],
  '0104': [400],
  '0105': [400],
  '0106': [429],
  '0107': [200, 200, 429],
  '0108': [500],
};

/** Held to the clock of the machine or to the connection, and tested by themselves below. */
const BY_THEMSELVES = ['0109', '0110', '0301', '0302', '0303'];

it('every test number has a row in this test', () => {
  expect([...Object.keys(DELIVERIES), ...Object.keys(STATUSES), ...BY_THEMSELVES].sort()).toEqual(
    Object.keys(SANDBOX_OUTCOMES).sort(),
  );
});

it.each(Object.keys(DELIVERIES))('a message to 999…%s goes the way of its row', async (digits) => {
  const service = await startService();
  const { body } = await service.request('/sms', {
    body: verification(`999123456${digits}`, { provider: 'whatsapp-telegram-sms' }),
  });
  const { smsId } = body as { smsId: string };
  let passed = 0;
  for (const row of DELIVERIES[digits] ?? []) {
    await service.advance(row.afterMs - passed);
    passed = row.afterMs;
    const tracked = (await service.request(`/sms/track/${smsId}`)).body as {
      status: string;
      isFinalStatus: boolean;
      channelFlow: { tried: boolean; success?: boolean }[];
    };
    const flow = tracked.channelFlow
      .map(({ tried, success }) => (tried ? (success ? '+' : '-') : ' '))
      .join('');
    const { credit } = (await service.request('/info')).body as { credit: number };
    expect({ status: tracked.status, final: tracked.isFinalStatus, flow, credit }).toEqual({
      status: row.status,
      final: row.final,
      flow: row.flow,
      credit: row.credit,
    });
  }
  await service.assertQuiet();
});

it('9990000000015 fails by sms, whose second part is lost', async () => {
  const service = await startService();
  const { body } = await service.request('/sms', {
    body: verification('9990000000015', { provider: 'sms' }),
  });
  await service.advance(1_000);
  const { smsId } = body as { smsId: string };
  expect((await service.request(`/sms/track/${smsId}`)).body).toMatchObject({
    status: 'failed',
    isFinalStatus: true,
  });
  expect((await service.message(smsId))?.errorReason).toBe('Part 2 of 2 was not delivered');
  expect((await service.request('/info')).body).toMatchObject({ credit: 15_000 });
});

it.each(Object.entries(STATUSES))('requests to 999…%s get the statuses %j', async (digits, statuses) => {
  const service = await startService();
  const seen: number[] = [];
  for (const _ of statuses) {
    seen.push((await service.request('/sms', { body: verification(`999123456${digits}`) })).status);
  }
  expect(seen).toEqual(statuses);
});

it('9990000000110 stores the message and cuts the connection, and the same key then gets the reply', async () => {
  const service = await startService();
  const request = {
    headers: { 'idempotency-key': 'cut' },
    body: verification('9990000000110', { provider: 'sms' }),
  };
  await expect(service.request('/sms', request)).rejects.toThrow();
  expect((await service.request('/info')).body).toMatchObject({ credit: 14_900 });
  const again = await service.request('/sms', request);
  expect(again.status).toBe(200);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect((await service.request('/info')).body).toMatchObject({ credit: 14_900 });
});

it('9990000000109 gets its reply after five seconds', async () => {
  const service = await startService();
  const started = performance.now();
  expect((await service.request('/sms', { body: verification('9990000000109') })).status).toBe(200);
  expect(performance.now() - started).toBeGreaterThan(4_900);
});
