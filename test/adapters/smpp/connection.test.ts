import { once } from 'node:events';
import { connect } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { encodePdu } from '../../../src/adapters/smpp/packaged-pdu.ts';
import { RECONNECT_MAX_MS, reconnectDelayMs, STEADY_MS } from '../../../src/adapters/smpp/smpp-bind.ts';
import { READING_MS_MAX, START_TIMEOUT_MS } from '../../../src/adapters/smpp/smpp-provider.ts';
import { BIND_TIMEOUT_MS, ENQUIRE_LINK_TIMEOUT_MS } from '../../../src/adapters/smpp/smpp-session.ts';
import { aSubmission } from '../../support/builders.ts';
import { type KeyPair, withCertificateAuthority } from '../../support/certificates.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../../support/openssl.ts';
import { portOf } from '../../support/port-of.ts';
import { aWorld, describeWithSmsc, openSmsc, startSmsc } from './open-smsc.ts';
import { ENQUIRE_LINK_MS, type SmppWorld } from './smpp-world.ts';

const ESME_RINVPASWD = 0x0e;
const ESME_RSYSERR = 0x08;
const ESME_RINVCMDID = 0x03;

const UNBIND_RESP = 0x8000_0006;
const ENQUIRE_LINK_RESP = 0x8000_0015;
const GENERIC_NACK = 0x8000_0000;

/** The wait after the first failure: three quarters of a second, by the chance of `SmppWorld`. */
const FIRST_WAIT_MS = 750;
const LONGEST_WAIT_MS = 22_500;

/** Lets the wait of a bind end, and resolves once it is open again. */
async function reconnected(world: SmppWorld, waitMs = FIRST_WAIT_MS): Promise<void> {
  const before = world.logger.count('smpp_bind_opened');
  await world.timers.begun(waitMs);
  world.timers.expire(waitMs);
  await world.logger.seen('smpp_bind_opened', before + 1);
}

const MS_PER_PDU = 0.5;
const RECEIPTS = Array.from({ length: 200 }, (_, sequence) =>
  encodePdu('deliver_sm', sequence + 1, { esm_class: 4, short_message: `id:${sequence + 1} stat:DELIVRD` }),
);

const reasons = (world: SmppWorld) =>
  world.logger.entries.filter(({ event }) => event === 'smpp_bind_ended').map(({ fields }) => fields.reason);

describeWithSmsc('the SMPP provider keeps its binds', () => {
  it('the SMPP provider says how many binds are up', async () => {
    const { world } = await openSmsc({ binds: 2 });
    expect(world.provider.health()).toEqual({
      ok: true,
      detail: `2 of 2 binds up`,
    });
  });

  it('the SMPP provider of a process that never starts it is well', () => {
    expect(aWorld(1).provider.health()).toEqual({ ok: true, detail: 'bound by workers' });
  });

  it('the SMPP provider starts although the SMSC is away, and binds once it is there', async () => {
    const gone = await startSmsc();
    await gone.kill();
    const world = aWorld(gone.port);
    await world.begin();
    expect(world.provider.health()).toEqual({
      ok: false,
      detail: `0 of 1 binds up: The connection failed: ECONNREFUSED`,
    });
    await startSmsc(gone.port);
    await reconnected(world);
    expect(await world.provider.submit(aSubmission())).toMatchObject({ kind: 'accepted' });
  });

  it('the SMPP provider waits for no SMSC longer than two seconds when it starts', async () => {
    const smsc = await startSmsc();
    await smsc.tell({ order: 'bind', status: -1 });
    const world = aWorld(smsc.port);
    const starting = world.begin();
    await smsc.seen('bind');
    world.timers.expire(START_TIMEOUT_MS);
    await starting;
    expect(world.provider.health().ok).toBe(false);
  });

  it('the SMPP provider binds again when the SMSC was killed and is back', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.kill();
    await world.logger.seen('smpp_bind_ended');
    const back = await startSmsc(smsc.port);
    await reconnected(world);
    expect(await world.provider.submit(aSubmission())).toMatchObject({ kind: 'accepted' });
    await back.tell({ order: 'receipt', id: '77', stat: 'DELIVRD' });
    await world.came(1);
  });

  it('the SMPP provider waits twice as long after each failure, and says the same reason once', async () => {
    const gone = await startSmsc();
    await gone.kill();
    const world = aWorld(gone.port);
    await world.begin();
    for (const waitMs of [750, 1_500, 3_000, 6_000, 12_000, LONGEST_WAIT_MS, LONGEST_WAIT_MS]) {
      await world.timers.begun(waitMs);
      world.timers.expire(waitMs);
    }
    await world.timers.begun(LONGEST_WAIT_MS);
    expect(reasons(world)).toEqual([`The connection failed: ECONNREFUSED`]);
  });

  it('the SMPP provider waits shortly again after a bind that served', async () => {
    const gone = await startSmsc();
    await gone.kill();
    const world = aWorld(gone.port);
    await world.begin();
    world.timers.expire(FIRST_WAIT_MS);
    await world.timers.begun(2 * FIRST_WAIT_MS);
    const back = await startSmsc(gone.port);
    await reconnected(world, 2 * FIRST_WAIT_MS);
    expect(await world.provider.submit(aSubmission())).toMatchObject({ kind: 'accepted' });
    await back.tell({ order: 'close' });
    await reconnected(world, FIRST_WAIT_MS);
  });

  it('the SMPP provider waits twice as long after each bind that the SMSC ends at once', async () => {
    const { smsc, world } = await openSmsc();
    for (const waitMs of [750, 1_500, 3_000]) {
      await smsc.tell({ order: 'unbind' });
      await reconnected(world, waitMs);
    }
    await smsc.tell({ order: 'enquire_link' });
    await smsc.seen('other', 4);
    await smsc.tell({ order: 'unbind' });
    await reconnected(world, 750);
  });

  it('the SMPP provider waits shortly again after each idle bind that lasted', async () => {
    const { smsc, world } = await openSmsc();
    const realNow = performance.now.bind(performance);
    let aheadMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => realNow() + aheadMs);
    onTestFinished(() => void vi.restoreAllMocks());
    for (const waitMs of [750, 750, 750]) {
      aheadMs += STEADY_MS;
      await smsc.tell({ order: 'unbind' });
      await reconnected(world, waitMs);
    }
    await smsc.tell({ order: 'unbind' });
    await reconnected(world, 1_500);
  });

  it('the SMPP provider tries rejected credentials at the longest interval, and its health says why', async () => {
    const smsc = await startSmsc();
    await smsc.tell({ order: 'bind', status: ESME_RINVPASWD });
    const world = aWorld(smsc.port);
    await world.begin();
    await world.timers.begun(LONGEST_WAIT_MS);
    expect(world.provider.health()).toEqual({
      ok: false,
      detail: `0 of 1 binds up: The bind failed: The SMSC rejects the password (ESME_RINVPASWD)`,
    });
    await smsc.tell({ order: 'bind', status: 0 });
    await reconnected(world, LONGEST_WAIT_MS);
    expect(world.provider.health().ok).toBe(true);
  });

  it('the SMPP provider tries a bind soon again that failed for another reason', async () => {
    const smsc = await startSmsc();
    await smsc.tell({ order: 'bind', status: ESME_RSYSERR });
    const world = aWorld(smsc.port);
    await world.begin();
    await smsc.tell({ order: 'bind', status: 0 });
    await reconnected(world);
  });

  it('the SMPP provider gives up a bind without a response', async () => {
    const smsc = await startSmsc();
    await smsc.tell({ order: 'bind', status: -1 });
    const world = aWorld(smsc.port);
    const starting = world.begin();
    await smsc.seen('bind');
    world.timers.expire(BIND_TIMEOUT_MS);
    await starting;
    await smsc.seen('closed');
    expect(reasons(world)).toEqual(['The SMSC did not respond to the bind']);
  });

  it('the SMPP provider asks now and then whether the SMSC is there', async () => {
    const { smsc, world } = await openSmsc();
    for (const times of [1, 2, 3]) {
      await world.timers.begun(ENQUIRE_LINK_MS);
      world.timers.expire(ENQUIRE_LINK_MS);
      await smsc.seen('enquire_link', times);
    }
    await world.timers.begun(ENQUIRE_LINK_MS);
    expect(reasons(world)).toEqual([]);
  });

  it('the SMPP provider opens a connection anew on which the SMSC is silent', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'deaf', on: true });
    world.timers.expire(ENQUIRE_LINK_MS);
    world.timers.expire(ENQUIRE_LINK_TIMEOUT_MS);
    await world.logger.seen('smpp_bind_ended');
    expect(reasons(world)).toEqual(['The SMSC does not respond']);
    await smsc.tell({ order: 'deaf', on: false });
    await reconnected(world);
  });

  it('the SMPP provider responds to the unbind of the SMSC, and binds again', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'unbind' });
    expect(await smsc.seen('other')).toMatchObject([{ command: UNBIND_RESP, sequence: 77, status: 0 }]);
    await smsc.seen('closed');
    expect(reasons(world)).toEqual(['The SMSC unbound the session']);
    await reconnected(world);
  });

  it('the SMPP provider responds when the SMSC asks whether it is there', async () => {
    const { smsc } = await openSmsc();
    await smsc.tell({ order: 'enquire_link' });
    expect(await smsc.seen('other')).toMatchObject([{ command: ENQUIRE_LINK_RESP, sequence: 78, status: 0 }]);
  });

  it.each([
    ['above 64 KiB', '00010001'],
    ['of four gibibytes', 'ffffffff'],
    ['below that of a header', '0000000f'],
  ])('the SMPP provider closes a connection on which a PDU has a length %s', async (_, length) => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'raw', octets: `${length}000000050000000000000001` });
    await smsc.seen('closed');
    expect(reasons(world)).toEqual([
      `The SMSC sent a PDU with a length of ${Number.parseInt(length, 16)} octets`,
    ]);
    await reconnected(world);
  });

  it('the SMPP provider takes a PDU of 64 KiB', async () => {
    const { smsc, world } = await openSmsc();
    // An alert_notification, which has no response.
    await smsc.tell({ order: 'raw', octets: `00010000000001020000000000000001${'00'.repeat(65_520)}` });
    await smsc.tell({ order: 'enquire_link' });
    await smsc.seen('other');
    expect(reasons(world)).toEqual([]);
  });

  it.each([
    ['a command that SMPP does not have', '00000777', ESME_RINVCMDID],
    ['a command that is not for it', '00000103', ESME_RINVCMDID],
  ])('the SMPP provider rejects %s, and goes on', async (_, command, status) => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'raw', octets: `00000010${command}0000000000000063` });
    expect(await smsc.seen('other')).toMatchObject([{ command: GENERIC_NACK, sequence: 0x63, status }]);
    expect(await world.provider.submit(aSubmission())).toMatchObject({ kind: 'accepted' });
  });

  it('the SMPP provider reads a flood of PDUs in many rounds of the event loop', async () => {
    const { smsc, world } = await openSmsc();
    let ms = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
      ms += MS_PER_PDU;
      return ms;
    });
    onTestFinished(() => clock.mockRestore());
    await smsc.tell({ order: 'raw', octets: RECEIPTS.map((pdu) => pdu.toString('hex')).join('') });
    await world.came(RECEIPTS.length);
    // What is read in one round reaches the sink together.
    expect(Math.max(...world.batches)).toBeLessThanOrEqual(2 * (READING_MS_MAX / MS_PER_PDU));
  });

  it('the SMPP provider goes on after a generic_nack and a response to nothing', async () => {
    const { smsc, world } = await openSmsc();
    await smsc.tell({ order: 'raw', octets: '00000010800000000000000300000000' });
    await smsc.tell({ order: 'raw', octets: '00000010800000040000000000001234' });
    expect(await world.provider.submit(aSubmission())).toMatchObject({ kind: 'accepted' });
    expect(world.logger.entries).toMatchObject([
      { event: 'smpp_bind_opened' },
      { event: 'smpp_pdu_invalid', fields: { count: 1, problem: 'generic_nack' } },
    ]);
  });
});

describeWithSmsc('the check of the SMPP provider', () => {
  it('the check binds, sends nothing and unbinds, and needs no start', async () => {
    const smsc = await startSmsc();
    const world = aWorld(smsc.port);
    expect(await world.provider.check()).toEqual({
      ok: true,
      detail: `127.0.0.1:${smsc.port} took the bind`,
    });
    await smsc.seen('closed');
    const names = smsc.events.map(({ event }) => event).filter((event) => event !== 'done');
    expect(names).toEqual(['listening', 'bind', 'unbind', 'closed']);
    expect(world.timers.all).toEqual([]);
  });

  it('the check says that the SMSC rejects the credentials', async () => {
    const smsc = await startSmsc();
    await smsc.tell({ order: 'bind', status: ESME_RINVPASWD });
    expect(await aWorld(smsc.port).provider.check()).toEqual({
      ok: false,
      detail: `127.0.0.1:${smsc.port}: The bind failed: The SMSC rejects the password (ESME_RINVPASWD)`,
    });
  });

  it('the check says that no SMSC is there', async () => {
    const gone = await startSmsc();
    await gone.kill();
    expect(await aWorld(gone.port).provider.check()).toEqual({
      ok: false,
      detail: `127.0.0.1:${gone.port}: The connection failed: ECONNREFUSED`,
    });
  });
});

describeWithSmsc(`the SMPP provider over TLS${hasOpenssl ? '' : ` (skipped: ${OPENSSL_MISSING})`}`, () => {
  const { ca, keys, other, rsa } = hasOpenssl
    ? withCertificateAuthority((authority) => ({
        ca: authority.ca,
        keys: authority.issue('localhost', 2),
        other: authority.issue('smsc.example', 2),
        rsa: authority.issue('localhost', 2, 'rsa'),
      }))
    : { ca: '', keys: null, other: null, rsa: null };
  if (!hasOpenssl && process.env.REQUIRE_SERVICES === '1') throw new Error(OPENSSL_MISSING);

  it.skipIf(!hasOpenssl)('the SMPP provider carries messages over TLS', async () => {
    const smsc = await startSmsc();
    const port = await tlsInFrontOf(smsc.port, keys);
    const world = aWorld(port, { address: { host: 'localhost', port, tls: true, ca } });
    await world.start();
    expect(await world.provider.submit(aSubmission())).toMatchObject({ kind: 'accepted' });
    await smsc.tell({ order: 'receipt', id: '77', stat: 'DELIVRD' });
    await world.came(1);
  });

  it.skipIf(!hasOpenssl)('the SMPP provider sends no credentials to an SMSC of another name', async () => {
    const smsc = await startSmsc();
    const port = await tlsInFrontOf(smsc.port, other);
    const world = aWorld(port, { address: { host: 'localhost', port, tls: true, ca } });
    await world.begin();
    expect(world.provider.health().detail).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(smsc.of('bind')).toEqual([]);
  });

  it.skipIf(!hasOpenssl)(
    'the SMPP provider sends no credentials to an SMSC of an unknown authority',
    async () => {
      const smsc = await startSmsc();
      const port = await tlsInFrontOf(smsc.port, keys);
      const world = aWorld(port, { address: { host: 'localhost', port, tls: true } });
      await world.begin();
      expect(world.provider.health().detail).toMatch(/CERT|SIGNATURE/);
      expect(smsc.of('bind')).toEqual([]);
    },
  );

  it.skipIf(!hasOpenssl)(
    'the SMPP provider agrees on no key with a prime that the SMSC chooses',
    async () => {
      const smsc = await startSmsc();
      const healthWith = async (ciphers: string) => {
        const port = await tlsInFrontOf(smsc.port, rsa, { maxVersion: 'TLSv1.2', dhparam: 'auto', ciphers });
        const world = aWorld(port, { address: { host: 'localhost', port, tls: true, ca } });
        await world.begin();
        return world.provider.health();
      };
      expect(await healthWith('DHE-RSA-AES128-GCM-SHA256')).toMatchObject({ ok: false });
      expect(await healthWith('ECDHE-RSA-AES128-GCM-SHA256')).toMatchObject({ ok: true });
    },
  );
});

describe('the wait before the SMPP provider connects again', () => {
  it.each([
    [0, 0, 500],
    [0, 0.999, 1_000],
    [1, 0, 1_000],
    [4, 0.5, 12_000],
    [5, 0, 15_000],
    [2_000, 0.999, 29_985],
    [Number.POSITIVE_INFINITY, 0, RECONNECT_MAX_MS / 2],
  ])('the wait after %d failures and a chance of %d is %d ms', (failures, random, ms) => {
    expect(reconnectDelayMs(failures, random)).toBe(ms);
  });
});

/** A server that ends TLS and passes on what is in it; its port. */
async function tlsInFrontOf(port: number, keys: KeyPair | null, options: TlsOptions = {}): Promise<number> {
  const server = createServer({ ...keys, ...options }, (client) => {
    const smsc = connect(port, '127.0.0.1');
    client.pipe(smsc).pipe(client);
    for (const socket of [client, smsc]) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        smsc.destroy();
      });
    }
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  return portOf(server);
}
