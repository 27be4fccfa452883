import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { LOOKUP_MS_MAX, type LookupAll, nameLookup } from '../../../src/adapters/egress/name-lookup.ts';
import { DELIVERY_ATTEMPT_TIMEOUT_MS } from '../../../src/application/webhooks/delivery-limits.ts';
import { NameServer, type Zone } from '../../support/name-server.ts';

/** More than the system's own lookup has threads. */
const SILENT = Array.from({ length: 20 }, (_, number) => `silent-${number}.example.com`);
const ZONE: Zone = {
  ...Object.fromEntries(SILENT.map((name) => [name, 'silent'] as const)),
  'both.example.com': { a: ['192.0.2.1', '192.0.2.2'], aaaa: ['2001:db8:0:0:0:0:0:1'] },
  'old.example.com': { a: ['192.0.2.3'] },
  'new.example.com': { aaaa: ['2001:db8:0:0:0:0:0:2'] },
  'nowhere.example.com': {},
  'half.example.com': { a: ['192.0.2.4'], aaaa: 'silent' },
};

const RESPONSE_MS = 200;

const folder = mkdtempSync(join(tmpdir(), 'barid-hosts-'));
const hostsFile = join(folder, 'hosts');
let server: NameServer;
let lookup: LookupAll;

beforeAll(async () => {
  writeFileSync(hostsFile, '');
  server = await NameServer.open(ZONE);
  lookup = nameLookup({ servers: [server.address], hostsFile, responseMs: RESPONSE_MS, families: [4, 6] });
});
afterEach(() => {
  server.queries.length = 0;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const addressesOf = (name: string, by = lookup) => by(name);

describe('names by DNS', () => {
  it('a name leads to its addresses of both families', async () => {
    expect(await addressesOf('Both.Example.com.')).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ]);
    expect(server.queries.sort()).toEqual(['both.example.com A', 'both.example.com AAAA']);
  });

  it('a name of one family leads to the addresses of that family', async () => {
    expect(await addressesOf('old.example.com')).toEqual([{ address: '192.0.2.3', family: 4 }]);
    expect(await addressesOf('new.example.com')).toEqual([{ address: '2001:db8::2', family: 6 }]);
  });

  it('a name leads to the addresses of one family when the server is silent about the other', async () => {
    const patient = nameLookup({
      servers: [server.address],
      hostsFile,
      responseMs: 60_000,
      families: [4, 6],
    });
    expect(await addressesOf('half.example.com', patient)).toEqual([{ address: '192.0.2.4', family: 4 }]);
  });

  it('a lookup queries only the families that can be reached', async () => {
    const ipv4 = nameLookup({ servers: [server.address], hostsFile, families: [4] });
    expect(await addressesOf('both.example.com', ipv4)).toHaveLength(2);
    expect(server.queries).toEqual(['both.example.com A']);
  });

  it('a lookup fails for a name that has no address or does not exist', async () => {
    await expect(addressesOf('nowhere.example.com')).rejects.toMatchObject({ code: 'ENODATA' });
    await expect(addressesOf('missing.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('the system is asked about names that the name servers do not know, for one at a time, and about no others', async () => {
    const asked: string[] = [];
    const replies = new Map<string, () => void>();
    const mixed = nameLookup({
      servers: [server.address],
      hostsFile,
      responseMs: RESPONSE_MS,
      families: [4],
      system: async (name) => {
        asked.push(name);
        await new Promise<void>((resolve) => replies.set(name, resolve));
        return [{ address: '192.0.2.9', family: 4 }];
      },
    });
    const first = addressesOf('gateway', mixed);
    await vi.waitFor(() => expect(asked).toEqual(['gateway']));
    const second = addressesOf('nowhere.example.com', mixed);
    expect(await addressesOf('old.example.com', mixed)).toEqual([{ address: '192.0.2.3', family: 4 }]);
    await expect(addressesOf('silent-0.example.com', mixed)).rejects.toMatchObject({ code: 'ETIMEOUT' });
    expect(asked).toEqual(['gateway']);
    replies.get('gateway')?.();
    expect(await first).toEqual([{ address: '192.0.2.9', family: 4 }]);
    await vi.waitFor(() => expect(asked).toEqual(['gateway', 'nowhere.example.com']));
    replies.get('nowhere.example.com')?.();
    expect(await second).toEqual([{ address: '192.0.2.9', family: 4 }]);
  });

  it('a name that is unknown by itself is found in the domains of the resolver file, in their order', async () => {
    const resolverFile = join(folder, 'resolv.conf');
    const searching = nameLookup({
      servers: [server.address],
      hostsFile,
      resolverFile,
      responseMs: RESPONSE_MS,
      families: [4],
      system: async () => [],
    });
    writeFileSync(
      resolverFile,
      'search other.example.com\nnameserver 192.0.2.53\nsearch example.org. example.com\n',
    );
    expect(await addressesOf('old', searching)).toEqual([{ address: '192.0.2.3', family: 4 }]);
    expect(server.queries).toEqual(['old A', 'old.example.org A', 'old.example.com A']);
    expect(await addressesOf('missing', searching)).toEqual([]);
    await expect(addressesOf('silent-1.example.com', searching)).rejects.toMatchObject({ code: 'ETIMEOUT' });
  });

  it('lookups of one name at the same time share their queries, and a later lookup sends new ones', async () => {
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, number) =>
        addressesOf(number % 2 === 0 ? 'old.example.com' : 'old.example.com.'),
      ),
    );
    expect(all).toEqual(Array.from({ length: 50 }, () => [{ address: '192.0.2.3', family: 4 }]));
    expect(server.queries.sort()).toEqual(['old.example.com A', 'old.example.com AAAA']);
    await addressesOf('old.example.com');
    expect(server.queries).toHaveLength(4);
  });

  it('a lookup that gets no response does not delay others, and times out', async () => {
    const silent = SILENT.map((name) => addressesOf(name));
    const ended: string[] = [];
    const all = Promise.allSettled(silent).then((results) => {
      ended.push('silent');
      return results;
    });
    await addressesOf('old.example.com').then(() => ended.push('old'));
    expect(ended).toEqual(['old']);
    const codes = (await all).map((result) => (result.status === 'rejected' ? result.reason.code : null));
    expect(new Set(codes)).toEqual(new Set(['ETIMEOUT']));
    // The lookup repeats each query once, in both families.
    const queries = server.queries.filter((query) => query.startsWith(`${SILENT[0]} `));
    expect(queries).toHaveLength(4);
  });

  it('the longest lookup leaves time for the rest of a delivery attempt', () => {
    expect(LOOKUP_MS_MAX).toBeLessThan(DELIVERY_ATTEMPT_TIMEOUT_MS);
  });
});

describe('the hosts file', () => {
  it('a lookup reads the hosts file first, and reads it again when it was changed', async () => {
    writeFileSync(
      hostsFile,
      '# Names of this machine\n127.0.0.9\tPlace.internal place # a remark\n\n::9 place.internal\r\n',
    );
    utimesSync(hostsFile, 9, 9);
    expect(await addressesOf('place.internal')).toEqual([
      { address: '127.0.0.9', family: 4 },
      { address: '::9', family: 6 },
    ]);
    expect(await addressesOf('PLACE')).toEqual([{ address: '127.0.0.9', family: 4 }]);
    expect(server.queries).toEqual([]);
    await expect(addressesOf('remark')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    writeFileSync(hostsFile, '127.0.0.10 place\n');
    utimesSync(hostsFile, 9, 9);
    expect(await addressesOf('place.')).toEqual([{ address: '127.0.0.9', family: 4 }]);
    utimesSync(hostsFile, 1, 1);
    expect(await addressesOf('place')).toEqual([{ address: '127.0.0.10', family: 4 }]);
    await expect(addressesOf('place.internal')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('a lookup works without a hosts file', async () => {
    const without = nameLookup({ servers: [server.address], hostsFile: join(folder, 'none') });
    expect(await addressesOf('old.example.com', without)).toEqual([{ address: '192.0.2.3', family: 4 }]);
  });
});
