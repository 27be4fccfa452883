import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../src/adapters/node/system-clock.ts';
import { seedWith, verification } from '../support/seeds.ts';
import { type Member, ServiceGroup } from '../support/service-group.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const STATEMENT_TIMEOUT_MS = 500;
const numberOf = (index: number) => `96477${String(index).padStart(8, '0')}`;
const send = (index: number) => verification(numberOf(index), { provider: 'sms' });
const INTERNAL_ERROR = { status: 500, body: { message: 'Internal server error' } };

describe.skipIf(POSTGRES_URL === undefined)(
  `a service whose database goes away${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    let group: ServiceGroup;
    let network: TcpProxy;
    let remote: Member;

    beforeEach(async () => {
      const url = POSTGRES_URL ?? '';
      const { hostname, port } = new URL(url);
      network = await TcpProxy.open({ host: hostname, port: Number(port || '5432') });
      group = new ServiceGroup(url, seedWith({ rateLimit: null, credit: 1_000_000 }));
      await group.start([{ role: 'api' }]);
      const [member] = await group.start([
        {
          role: 'all',
          url: network.through(url),
          statementTimeoutMs: STATEMENT_TIMEOUT_MS,
          clock: new SystemClock(),
        },
      ]);
      remote = member;
    });
    afterEach(async () => {
      network.restore();
      network.resume();
      await group.dispose();
      await network.close();
    });

    it('a service replies with the documented error while its database is away, and as before afterwards', async () => {
      const before = await remote.request('/sms', send(0));
      expect(before.status).toBe(200);
      network.sever();
      const meanwhile = await Promise.all(
        Array.from({ length: 20 }, (_, index) => remote.request('/sms', send(1 + index))),
      );
      expect(meanwhile).toEqual(Array.from({ length: 20 }, () => INTERNAL_ERROR));
      const { smsId } = before.body as { smsId: string };
      expect(await remote.request(`/sms/track/${smsId}`)).toEqual(INTERNAL_ERROR);
      expect(await remote.request('/readyz')).toEqual({
        status: 503,
        body: {
          status: 'not-ready',
          dependencies: [
            { name: 'database', ok: false, critical: true, detail: 'does not respond' },
            { name: 'queue', ok: true, critical: false, detail: 'carries jobs' },
            { name: 'jobs', ok: false, critical: false, detail: 'unknown while the database is away' },
            { name: 'workers', ok: false, critical: false, detail: 'unknown while the database is away' },
            ...['sms', 'whatsapp', 'telegram'].map((name) => ({
              name,
              ok: true,
              critical: false,
              detail: 'no provider: live projects do not have this channel',
            })),
          ],
        },
      });
      expect((await remote.request('/healthz')).status).toBe(200);

      network.restore();
      const after = await Promise.all(
        Array.from({ length: 20 }, (_, index) => remote.request('/sms', send(21 + index))),
      );
      expect(after.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
      expect((await remote.request('/readyz')).status).toBe(200);
      // Nobody watches the clock of the service: it does what is due when it is settled.
      await until(async () => {
        await group.settle();
        return (await group.rows('SELECT 1 FROM messages WHERE is_final = 0')).length === 0;
      });
      expect(await group.problems()).toEqual([]);
      expect(await group.rows('SELECT status, COUNT(*) AS messages FROM messages GROUP BY status')).toEqual([
        { status: 'delivered', messages: 21 },
      ]);
    });

    // Each request waits for one silent statement, not for those of the requests before it.
    it('a service replies to every waiting request while its database is silent', {
      timeout: 40_000,
    }, async () => {
      expect((await remote.request('/sms', send(0))).status).toBe(200);
      network.pause();
      const meanwhile = await Promise.all(
        Array.from({ length: 30 }, (_, index) => remote.request('/sms', send(1 + index))),
      );
      expect(meanwhile).toEqual(Array.from({ length: 30 }, () => INTERNAL_ERROR));
      network.resume();
      expect((await remote.request('/sms', send(31))).status).toBe(200);
    });
  },
);
