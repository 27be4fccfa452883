import { beforeEach, expect, it } from 'vitest';
import { MINUTE_LOG_INTERVAL_MS, MinuteLog } from '../../src/application/minute-log.ts';
import { NOW } from '../support/builders.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

let now: number;
let logger: RecordingLogger;
let log: MinuteLog;

beforeEach(() => {
  now = NOW;
  logger = new RecordingLogger();
  log = new MinuteLog({ clock: { now: () => now }, logger });
});

const fields = () => logger.entries.map((entry) => entry.fields);

it('a minute log has one line a minute, with the count since the line before', () => {
  expect(MINUTE_LOG_INTERVAL_MS).toBe(60_000);
  log.warn('smpp_pdu_invalid', { provider: 'smsc', problem: 'first' });
  log.warn('smpp_pdu_invalid', { provider: 'smsc', problem: 'second' });
  log.warn('smpp_pdu_invalid', { provider: 'smsc', problem: 'third' }, 5);
  now += 59_999;
  log.warn('smpp_pdu_invalid', { provider: 'smsc', problem: 'fourth' });
  now += 1;
  log.warn('smpp_pdu_invalid', { provider: 'smsc', problem: 'last' });
  expect(fields()).toEqual([
    { provider: 'smsc', count: 1, problem: 'first' },
    { provider: 'smsc', count: 8, problem: 'last' },
  ]);
});

it('a minute log counts each provider and each event for itself', () => {
  log.warn('provider_callback_malformed', { provider: 'meta' });
  log.warn('provider_callback_rejected', { provider: 'meta' });
  log.warn('provider_callback_rejected', { provider: 'gateway' });
  expect(logger.entries).toEqual([
    { level: 'warn', event: 'provider_callback_malformed', fields: { provider: 'meta', count: 1 } },
    { level: 'warn', event: 'provider_callback_rejected', fields: { provider: 'meta', count: 1 } },
    { level: 'warn', event: 'provider_callback_rejected', fields: { provider: 'gateway', count: 1 } },
  ]);
});

it('a minute log counts each project for itself', () => {
  log.warn('webhook_discarded', { projectId: 'one' });
  log.warn('webhook_discarded', { projectId: 'two' });
  log.warn('webhook_discarded', { projectId: 'one' });
  expect(fields()).toEqual([
    { projectId: 'one', count: 1 },
    { projectId: 'two', count: 1 },
  ]);
});

it('a minute log goes on when the clock is put back', () => {
  log.warn('smpp_pdu_invalid', { provider: 'smsc' });
  now -= 60_000;
  log.warn('smpp_pdu_invalid', { provider: 'smsc' });
  expect(fields()).toHaveLength(2);
});
