import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { LookupAll } from '../../../src/adapters/undici/egress-guard.ts';
import { LOOKUP_MS_MAX, nameLookup } from '../../../src/adapters/undici/name-lookup.ts';
import { ATTEMPT_TIMEOUT_MS } from '../../../src/application/webhooks/delivery-limits.ts';
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

const ANSWER_MS = 200;

const folder = mkdtempSync(join(tmpdir(), 'barid-hosts-'));
const hostsFile = join(folder, 'hosts');
let server: NameServer;
let lookup: LookupAll;

beforeAll(async () => {
  writeFileSync(hostsFile, '');
  server = await NameServer.open(ZONE);
  lookup = nameLookup({ servers: [server.address], hostsFile, responseMs: ANSWER_MS, families: [4, 6] });
});
afterEach(() => {
  server.queries.length = 0;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const look = (name: string, by = lookup) => by(name);

describe('names by DNS', () => {
  it('lead to the addresses of both families', async () => {
    expect(await look('Both.Example.com.')).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ]);
    expect(server.queries.sort()).toEqual(['both.example.com A', 'both.example.com AAAA']);
  });

  it('lead to those of the one family they have', async () => {
    expect(await look('old.example.com')).toEqual([{ address: '192.0.2.3', family: 4 }]);
    expect(await look('new.example.com')).toEqual([{ address: '2001:db8::2', family: 6 }]);
  });

  it('lead to those of one family when nothing is said of the other', async () => {
    const patient = nameLookup({
      servers: [server.address],
      hostsFile,
      responseMs: 60_000,
      families: [4, 6],
    });
    expect(await look('half.example.com', patient)).toEqual([{ address: '192.0.2.4', family: 4 }]);
  });

  it('are asked for in the families that can be reached', async () => {
    const ipv4 = nameLookup({ servers: [server.address], hostsFile, families: [4] });
    expect(await look('both.example.com', ipv4)).toHaveLength(2);
    expect(server.queries).toEqual(['both.example.com A']);
  });

  it('that have no address, or do not exist, are errors', async () => {
    await expect(look('nowhere.example.com')).rejects.toMatchObject({ code: 'ENODATA' });
    await expect(look('missing.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('are asked for once while many want them, and again afterwards', async () => {
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, number) =>
        look(number % 2 === 0 ? 'old.example.com' : 'old.example.com.'),
      ),
    );
    expect(all).toEqual(Array.from({ length: 50 }, () => [{ address: '192.0.2.3', family: 4 }]));
    expect(server.queries.sort()).toEqual(['old.example.com A', 'old.example.com AAAA']);
    await look('old.example.com');
    expect(server.queries).toHaveLength(4);
  });

  it('whose servers are silent keep nobody waiting, and end by themselves', async () => {
    const silent = SILENT.map((name) => look(name));
    const ended: string[] = [];
    const all = Promise.allSettled(silent).then((results) => {
      ended.push('silent');
      return results;
    });
    await look('old.example.com').then(() => ended.push('old'));
    expect(ended).toEqual(['old']);
    const codes = (await all).map((result) => (result.status === 'rejected' ? result.reason.code : null));
    expect(new Set(codes)).toEqual(new Set(['ETIMEOUT']));
    // Each is asked for once more, in both families.
    const asked = server.queries.filter((question) => question.startsWith(`${SILENT[0]} `));
    expect(asked).toHaveLength(4);
  });

  it('leave a post time enough for the rest', () => {
    expect(LOOKUP_MS_MAX).toBeLessThan(ATTEMPT_TIMEOUT_MS);
  });
});

describe('the hosts file', () => {
  it('is asked first, and read again when it was changed', async () => {
    writeFileSync(
      hostsFile,
      '# Names of this machine\n127.0.0.9\tPlace.internal place # a remark\n\n::9 place.internal\r\n',
    );
    utimesSync(hostsFile, 9, 9);
    expect(await look('place.internal')).toEqual([
      { address: '127.0.0.9', family: 4 },
      { address: '::9', family: 6 },
    ]);
    expect(await look('PLACE')).toEqual([{ address: '127.0.0.9', family: 4 }]);
    expect(server.queries).toEqual([]);
    await expect(look('remark')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    writeFileSync(hostsFile, '127.0.0.10 place\n');
    utimesSync(hostsFile, 9, 9);
    expect(await look('place.')).toEqual([{ address: '127.0.0.9', family: 4 }]);
    utimesSync(hostsFile, 1, 1);
    expect(await look('place')).toEqual([{ address: '127.0.0.10', family: 4 }]);
    await expect(look('place.internal')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('may be missing', async () => {
    const without = nameLookup({ servers: [server.address], hostsFile: join(folder, 'none') });
    expect(await look('old.example.com', without)).toEqual([{ address: '192.0.2.3', family: 4 }]);
  });
});
