import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  SENDS_PER_GENERATION,
  SqliteRecentSends,
} from '../../../src/adapters/knex/sqlite/sqlite-recent-sends.ts';
import type { PhoneNumber } from '../../../src/domain/shared/phone-number.ts';

const MINUTE_MS = 60_000;
const NOW = 1_790_000_000_000;
const WINDOW_MINUTES = 10;
const NUMBER = '9647701234567' as PhoneNumber;

let database: Sqlite.Database;
let recentSends: SqliteRecentSends;

beforeEach(() => {
  database = new Sqlite(':memory:');
  database.exec(`
    CREATE TABLE messages (
      sms_id text PRIMARY KEY, project_id text, phone_number text, created_at bigint, campaign_id text);
    CREATE TABLE projects (settings text)`);
  const settings = { rateLimit: { maxRequests: 5, timeWindowMinutes: WINDOW_MINUTES } };
  database.prepare('INSERT INTO projects VALUES (?)').run(JSON.stringify(settings));
  recentSends = new SqliteRecentSends(database);
});
afterEach(() => {
  database.close();
});

const row = (at: number, phone_number: string = NUMBER, campaign_id: string | null = null) => ({
  project_id: 'p1',
  phone_number,
  created_at: at,
  campaign_id,
});

function store(at: number): void {
  const smsId = `sms-${at.toString(16).padStart(12, '0')}000000000000`;
  database.prepare('INSERT INTO messages VALUES (?, ?, ?, ?, ?)').run(smsId, 'p1', NUMBER, at, null);
}

/** Fills the newest generation with sends to another number. */
function fillGeneration(at: number): void {
  recentSends.noteInserted(Array.from({ length: SENDS_PER_GENERATION }, () => row(at, '9647700000000')));
  recentSends.keep();
}

const heard = (since = 0, limit = 10) =>
  recentSends.acceptedAt({ projectId: 'p1', phoneNumber: NUMBER, since, limit });

it('recent sends are found while their transaction is open, after its commit, and not after its rollback', () => {
  recentSends.follow();
  recentSends.noteInserted([row(NOW)]);
  expect(heard()).toEqual([NOW]);
  recentSends.keep();
  expect(heard()).toEqual([NOW]);
  recentSends.noteInserted([row(NOW + 1)]);
  expect(heard()).toEqual([NOW + 1, NOW]);
  recentSends.undo();
  expect(heard()).toEqual([NOW]);
});

it('recent sends leave out messages of campaigns', () => {
  recentSends.noteInserted([row(NOW, NUMBER, 'a-campaign'), row(NOW + 1)]);
  recentSends.keep();
  expect(heard()).toEqual([NOW + 1]);
});

it('recent sends of several generations are found together, the newest first, up to the limit', () => {
  for (const at of [NOW, NOW + 1, NOW + 2]) {
    recentSends.noteInserted([row(at)]);
    recentSends.keep();
    fillGeneration(at);
  }
  store(NOW + 2);
  expect(heard()).toEqual([NOW + 2, NOW + 1, NOW]);
  expect(heard(NOW, 10)).toEqual([NOW + 2, NOW + 1]);
  expect(heard(0, 2)).toEqual([NOW + 2, NOW + 1]);
});

it('recent sends that are older than the longest rate window are forgotten with their generation', () => {
  recentSends.noteInserted([row(NOW)]);
  recentSends.keep();
  fillGeneration(NOW);
  // A minute is the margin for a clock that stands before the newest message.
  const later = NOW + (WINDOW_MINUTES + 1) * MINUTE_MS;
  store(later);
  fillGeneration(later);
  expect(heard()).toEqual([NOW]);
  store(later + 1);
  fillGeneration(later + 1);
  expect(heard()).toEqual([]);
});

it('recent sends are read from the messages of the longest rate window', () => {
  const oldest = NOW - (WINDOW_MINUTES + 1) * MINUTE_MS;
  for (const at of [oldest - 1, oldest, NOW]) store(at);
  recentSends.follow();
  expect(heard()).toEqual([NOW, oldest]);
});

it('recent sends of a window that became longer are read from the file', () => {
  store(NOW - 30 * MINUTE_MS);
  store(NOW);
  recentSends.follow();
  expect(heard()).toEqual([NOW]);
  const settings = JSON.stringify({ rateLimit: { maxRequests: 5, timeWindowMinutes: 60 } });
  database.prepare('UPDATE projects SET settings = ?').run(settings);
  recentSends.noteWindows();
  recentSends.keep();
  recentSends.follow();
  expect(heard()).toEqual([NOW, NOW - 30 * MINUTE_MS]);
});
