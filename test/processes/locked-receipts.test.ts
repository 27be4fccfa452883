import type { AddressInfo } from 'node:net';
import { createServer, type Session } from 'smpp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../src/adapters/node/system-clock.ts';
import { anotherProject, LIVE_KEY, seedWith, verification } from '../support/seeds.ts';
import { type Member, ServiceGroup } from '../support/service-group.ts';
import { until } from '../support/until.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const OTHER_KEY = 'sk_live_ffeeddccbbaa99887766554433221100ffeeddcc';
const ESME_ROK = 0x00;
const ESME_RX_T_APPN = 0x64;
/** Half of what a transaction waits for a lock. */
const RESPONSES_MS_MAX = 5_000;

const seed = seedWith({ rateLimit: null, credit: 1_000_000, environment: 'live', apiKeys: [LIVE_KEY] });
const other = anotherProject(seed, OTHER_KEY);

/** An SMSC that takes every message, and brings a receipt when it is told to. */
class Smsc {
  /** The id of each message, by its number. */
  readonly ids = new Map<string, string>();
  #session: Session | null = null;
  readonly #server = createServer((session) => {
    this.#session = session;
    session.on('bind_transceiver', (pdu) => void session.send(pdu.response({ system_id: 'TEST' })));
    session.on('enquire_link', (pdu) => void session.send(pdu.response()));
    session.on('unbind', (pdu) => void session.send(pdu.response()));
    session.on('error', () => session.destroy());
    session.on('submit_sm', (pdu) => {
      const id = `${this.ids.size + 1}`;
      this.ids.set(String(pdu.destination_addr), id);
      session.send(pdu.response({ message_id: id }));
    });
  });

  listen(): Promise<number> {
    return new Promise((resolve) =>
      this.#server.listen(0, '127.0.0.1', () => resolve((this.#server.address() as AddressInfo).port)),
    );
  }

  /** Resolves with the status of the response. */
  deliver(number: string): Promise<number> {
    const text = `id:${this.ids.get(number)} stat:DELIVRD`;
    return new Promise((resolve) =>
      this.#session?.deliver_sm({ esm_class: 4, short_message: text }, (pdu) => resolve(pdu.command_status)),
    );
  }

  close(): void {
    this.#session?.destroy();
    this.#server.close();
  }
}

describe.skipIf(POSTGRES_URL === undefined)(
  `receipts of an SMSC while somebody locks one account${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    const smsc = new Smsc();
    let group: ServiceGroup;
    let member: Member;
    let unlock = async () => {};

    beforeEach(async () => {
      process.env.SMSC_PASSWORD = 'secret';
      const url = `smpp://127.0.0.1:${await smsc.listen()}`;
      const password = { env: 'SMSC_PASSWORD' };
      group = new ServiceGroup(
        POSTGRES_URL ?? '',
        { ...seed, projects: [...seed.projects, other] },
        {
          sms: { providers: { smsc: { kind: 'smpp', url, systemId: 'barid', password, senderId: 'Barid' } } },
        },
      );
      [member] = await group.start([{ role: 'all', clock: new SystemClock() }]);
    });
    afterEach(async () => {
      await unlock();
      await group.dispose();
      smsc.close();
    });

    async function send(apiKey: string, number: string): Promise<void> {
      const { status } = await member.request('/sms', verification(number, { provider: 'sms' }), apiKey);
      expect(status).toBe(200);
      member.service.roots.wakeSignal.wake();
    }

    const delivered = async () =>
      (await group.rows("SELECT phone_number FROM messages WHERE status = 'delivered'"))
        .map((row) => row.phone_number)
        .toSorted();

    it('a locked account holds up the receipts of no other project, and its own are stored when the lock ends', {
      timeout: 60_000,
    }, async () => {
      const locked = ['9647700000001', '9647700000002'];
      const others = ['9647800000001', '9647800000002', '9647800000003'];
      for (const number of locked) await send(LIVE_KEY, number);
      for (const number of others) await send(OTHER_KEY, number);
      await until(async () => {
        const rows = await group.rows("SELECT 1 FROM messages WHERE status = 'sent'");
        return rows.length === 5;
      });
      const [project] = await group.rows("SELECT id FROM projects WHERE slug = 'demo'");
      unlock = await group.lockAccount(project?.id as string);

      const deliveredAt = performance.now();
      const first = [smsc.deliver(locked[0] ?? ''), smsc.deliver(others[0] ?? '')];
      expect(await Promise.all(first)).toEqual([ESME_RX_T_APPN, ESME_ROK]);
      const later = [locked[1], others[1], others[2]].map((number) => smsc.deliver(number ?? ''));
      expect(await Promise.all(later)).toEqual([ESME_RX_T_APPN, ESME_ROK, ESME_ROK]);
      expect(performance.now() - deliveredAt).toBeLessThan(RESPONSES_MS_MAX);
      expect(await delivered()).toEqual(others);

      await unlock();
      await until(async () => (await delivered()).length === 5);
      expect(await group.problems()).toEqual([]);
    });
  },
);
