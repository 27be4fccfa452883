import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as eventLoopRound } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { ContainerModule } from 'inversify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/adapters/knex/database.ts';
import { adapters } from '../../src/bootstrap/tokens.ts';
import { startService } from '../support/running-service.ts';
import { verification } from '../support/seeds.ts';

const CODE = '7305914862';
const LATIN_TEXT = 'Your parcel waits at the blue door';
const ARABIC_TEXT = 'طردك ينتظر عند الباب الأزرق';
const SECRETS = [CODE, LATIN_TEXT, ARABIC_TEXT];
const FILES = ['barid.db', 'barid.db-wal', 'barid.db-shm'];
const HOUR = 3_600_000;

describe('the files of a SQLite database', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'barid-secrets-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const bytesOf = (file: string) =>
    existsSync(join(folder, file)) ? readFileSync(join(folder, file)) : Buffer.alloc(0);

  /** Each secret that can be read in a file, with the file. */
  const readable = () =>
    FILES.flatMap((file) =>
      SECRETS.filter((secret) => bytesOf(file).includes(secret)).map((secret) => [file, secret]),
    );

  const logBytes = () => statSync(join(folder, 'barid.db-wal')).size;

  /** A service whose messages are sent, and not final yet. */
  async function sendSecrets(truncateIntervalMs: number) {
    const database = openDatabase({ kind: 'sqlite', filename: join(folder, 'barid.db'), truncateIntervalMs });
    const onFile = new ContainerModule(({ rebind }) => {
      rebind(adapters.database).toConstantValue(database);
    });
    const service = await startService({ overrides: [onFile] });
    const bodies = [
      verification('9647701234561', { verificationCode: CODE, provider: 'sms' }),
      { phoneNumber: '9647701234562', smsType: 'custom', customMessage: LATIN_TEXT, provider: 'sms' },
      { phoneNumber: '9647701234563', smsType: 'custom', customMessage: ARABIC_TEXT, provider: 'sms' },
    ];
    for (const [index, body] of bodies.entries()) {
      const reply = await service.request('/sms', { body, headers: { 'idempotency-key': `key-${index}` } });
      expect(reply.status).toBe(200);
    }
    return { service, database };
  }

  it('no file of the database holds a code or a text of a final message once the log is truncated', async () => {
    const { service, database } = await sendSecrets(0);
    // The messages wait for their receipts: the texts are still needed, and in the file.
    while (logBytes() > 0) await eventLoopRound();
    expect(readable()).toEqual(SECRETS.map((secret) => ['barid.db', secret]));
    await service.advance(HOUR);
    expect(await database.knex('messages').pluck('is_final')).toEqual([1, 1, 1]);
    while (logBytes() > 0) await eventLoopRound();
    expect(readable()).toEqual([]);
  });

  it('no file of the database holds a code or a text of a final message after a clean stop', async () => {
    const { service } = await sendSecrets(HOUR);
    await service.advance(HOUR);
    // Masked, but the log still has the rows of before.
    expect(readable().map(([file]) => file)).toContain('barid.db-wal');
    await service.close();
    expect(readable()).toEqual([]);
  });

  it('a clean stop empties the log while another program has the file open', async () => {
    const { service } = await sendSecrets(HOUR);
    await service.advance(HOUR);
    const shell = new Sqlite(join(folder, 'barid.db'));
    expect(shell.prepare('SELECT COUNT(*) AS count FROM messages').get()).toEqual({ count: 3 });
    await service.close();
    expect([readable(), logBytes()]).toEqual([[], 0]);
    shell.close();
  });

  it('a reader who needs the log delays the truncation until it ends', async () => {
    const { service } = await sendSecrets(0);
    const shell = new Sqlite(join(folder, 'barid.db'));
    shell.exec('BEGIN');
    expect(shell.prepare('SELECT COUNT(*) AS count FROM messages').get()).toEqual({ count: 3 });
    await service.advance(HOUR);
    expect(readable().map(([file]) => file)).toContain('barid.db-wal');
    shell.exec('COMMIT');
    while (logBytes() > 0) await eventLoopRound();
    expect(readable()).toEqual([]);
    shell.close();
  });
});
