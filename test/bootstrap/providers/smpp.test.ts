import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { nodeHmac } from '../../../src/adapters/node/node-hmac.ts';
import { SystemClock } from '../../../src/adapters/node/system-clock.ts';
import { secretIn } from '../../../src/bootstrap/providers/secret.ts';
import { smppKind } from '../../../src/bootstrap/providers/smpp.ts';
import { aSubmission } from '../../support/builders.ts';
import { IDLE_EVENT_LOOP } from '../../support/idle-event-loop.ts';
import { providerTls } from '../../support/provider-tls.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { SMSC_MISSING, Smsc } from '../../support/smsc.ts';

const folder = mkdtempSync(join(tmpdir(), 'smpp-kind-'));
afterAll(() => rmSync(folder, { recursive: true }));

const PEM = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
const caFile = join(folder, 'ca.pem');
writeFileSync(caFile, PEM);

const LEAST = { url: 'smpp://smsc.example.com:2775', systemId: 'barid', password: { env: 'SMSC_PASSWORD' } };

const settingsWith = (password: string) => smppKind.settings(secretIn({ SMSC_PASSWORD: password }));
const settings = settingsWith('secret');

const DEFAULTS = {
  url: { host: 'smsc.example.com', port: 2775, tls: false },
  systemId: 'barid',
  password: 'secret',
  systemType: '',
  binds: 1,
  window: 50,
  enquireLinkSeconds: 30,
  destination: { ton: 1, npi: 1 },
  dataCodingGsm: 0,
  submitIds: 'as-is',
  receiptIds: 'as-is',
};

describe('the settings of an SMPP provider', () => {
  it('an SMPP provider carries sms', () => {
    expect(smppKind.channels).toEqual(['sms']);
  });

  it('the settings need an address and credentials only', () => {
    expect(settings.parse(LEAST)).toEqual(DEFAULTS);
  });

  it('every setting is taken as it is', () => {
    const given = {
      systemType: 'VMA',
      binds: 3,
      window: 10,
      perSecond: 100,
      enquireLinkSeconds: 15,
      senderId: 'Barid',
      source: { ton: 5, npi: 1 },
      destination: { ton: 2, npi: 8 },
      dataCodingGsm: 241,
      submitIds: 'hex',
      receiptIds: 'decimal',
    };
    expect(settings.parse({ ...LEAST, ...given })).toEqual({ ...DEFAULTS, ...given });
  });

  it.each([
    ['smpp://smsc.example.com', { host: 'smsc.example.com', port: 2775, tls: false }],
    ['smpps://smsc.example.com', { host: 'smsc.example.com', port: 3550, tls: true }],
    ['smpps://smsc.example.com:8443/', { host: 'smsc.example.com', port: 8443, tls: true }],
    ['smpp://192.0.2.7:9000', { host: '192.0.2.7', port: 9000, tls: false }],
    ['smpp://[2001:db8::1]:9000', { host: '2001:db8::1', port: 9000, tls: false }],
  ])('the address %s is understood', (url, expected) => {
    expect(settings.parse({ ...LEAST, url }).url).toEqual(expected);
  });

  it('certificates of authorities are read from their file', () => {
    const url = 'smpps://smsc.example.com';
    expect(settings.parse({ ...LEAST, url, caFile })).toMatchObject({ caFile: PEM });
  });

  it.each<[name: string, setting: Record<string, unknown>, path: string, message: string]>([
    ...[
      'smsc.example.com:2775',
      'http://smsc.example.com',
      'smpp://',
      'smpp://user:secret@smsc.example.com',
      'smpp://smsc.example.com/path',
      'smpp://smsc.example.com?x=1',
      'smpp://smsc.example.com:0',
      'smpp://smsc.example.com:70000',
    ].map((url): [string, Record<string, unknown>, string, string] => [
      `the address ${url}`,
      { url },
      'url',
      'must be smpp://host:port or smpps://host:port, without credentials and path',
    ]),
    [
      'a long system id',
      { systemId: 'a'.repeat(16) },
      'systemId',
      'must be 1 to 15 printable characters of ASCII',
    ],
    [
      'a system id in Arabic',
      { systemId: 'بريد' },
      'systemId',
      'must be 1 to 15 printable characters of ASCII',
    ],
    [
      'an unset password',
      { password: { env: 'SMSC_NOTHING' } },
      'password',
      'the variable SMSC_NOTHING is not set',
    ],
    [
      'a plain password',
      { password: 'secret' },
      'password',
      'must be { "env": "NAME" } or { "file": "PATH" }',
    ],
    ['no bind', { binds: 0 }, 'binds', 'must be a whole number from 1 to 20'],
    ['half a window', { window: 1.5 }, 'window', 'must be a whole number from 1 to 1000'],
    ['a limit in words', { perSecond: 'many' }, 'perSecond', 'must be a whole number from 1 to 10000'],
    [
      'a short interval',
      { enquireLinkSeconds: 1 },
      'enquireLinkSeconds',
      'must be a whole number from 5 to 600',
    ],
    ['a sender in Arabic', { senderId: 'بريد' }, 'senderId', 'must be 1 to 20 printable characters of ASCII'],
    [
      'a number type of two octets',
      { source: { ton: 256, npi: 0 } },
      'source.ton',
      'must be a whole number from 0 to 255',
    ],
    [
      'a form of ids',
      { submitIds: 'octal' },
      'submitIds',
      'Invalid option: expected one of "as-is"|"hex"|"decimal"',
    ],
    [
      'an absent file',
      { url: 'smpps://a', caFile: '/nowhere' },
      'caFile',
      '/nowhere cannot be read, or has no certificate in PEM',
    ],
    ['certificates without TLS', { caFile }, 'caFile', 'needs an url with smpps://'],
    ['an unknown setting', { host: 'a' }, '', 'Unrecognized key: "host"'],
  ])('the settings are rejected for %s', (_, setting, path, message) => {
    const { error } = settings.safeParse({ ...LEAST, ...setting });
    expect(error?.issues.map((issue) => [z.core.toDotPath(issue.path), issue.message])).toEqual([
      [path, message],
    ]);
  });

  it('no message repeats a password', () => {
    const { error } = settingsWith('geheim€').safeParse(LEAST);
    expect(error?.issues).toHaveLength(1);
    expect(JSON.stringify(error?.issues)).not.toContain('geheim');
  });
});

describe.skipIf(SMSC_MISSING !== null)(
  SMSC_MISSING === null ? 'an SMPP provider of its settings' : `an SMPP provider (skipped: ${SMSC_MISSING})`,
  () => {
    it('an SMPP provider that is made of its settings carries a message', async () => {
      const smsc = await Smsc.start();
      onTestFinished(() => smsc.kill());
      const given = settings.parse({
        ...LEAST,
        url: `smpp://127.0.0.1:${smsc.port}`,
        senderId: 'Barid',
      });
      const { provider, callback } = smppKind.make(given, {
        name: 'operator',
        clock: new SystemClock(),
        eventLoop: IDLE_EVENT_LOOP,
        logger: new RecordingLogger(),
        hmac: nodeHmac,
        whatsappDirectory: { resourcesOf: async () => new Map(), phoneIdsOf: async () => new Map() },
        timedTls: providerTls,
        http: () => {
          throw new Error('SMPP needs no HTTP');
        },
      });
      await provider.start(async () => {});
      expect(await provider.submit(aSubmission())).toMatchObject({ kind: 'accepted' });
      expect(provider.name).toBe('operator');
      expect(callback).toBe(null);
      await provider.close();
      expect(await smsc.seen('submit')).toMatchObject([{ source_addr: 'Barid' }]);
    });
  },
);
