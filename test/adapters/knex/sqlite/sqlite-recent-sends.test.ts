import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  SENDS_PER_GENERATION,
  SqliteRecentSends,
} from '../../../../src/adapters/knex/sqlite/sqlite-recent-sends.ts';
import type { PhoneNumber } from '../../../../src/domain/shared/phone-number.ts';

const MINUTE_MS = 60_000;
const NOW = 1_790_000_000_000;
const WINDOW_MINUTES = 10;
/** More than two pages, in less than the window. */
const PAGES_OF_SENDS = 10_001;
const NUMBER = '9647701234567' as PhoneNumber;

let database: Sqlite.Database;
let recentSends: SqliteRecentSends;

beforeEach(() => {
  database = new Sqlite(':memory:');
  database.exec(`
    CREATE TABLE messages (
      sms_id text PRIMARY KEY, project_id text, phone_number text, created_at bigint, campaign_id text);
    CREATE TABLE projects (settings text)`);
  database.exec("INSERT INTO projects VALUES ('{}')");
  setWindow(WINDOW_MINUTES);
  recentSends = new SqliteRecentSends();
});
afterEach(() => {
  database.close();
});

const row = (at: number, phone_number: string = NUMBER) => ({
  project_id: 'p1',
  phone_number,
  created_at: at,
  campaign_id: null,
});

function store(at: number, campaignId: string | null = null): void {
  const smsId = `sms-${at.toString(16).padStart(12, '0')}000000000000`;
  database.prepare('INSERT INTO messages VALUES (?, ?, ?, ?, ?)').run(smsId, 'p1', NUMBER, at, campaignId);
}

function setWindow(timeWindowMinutes: number): void {
  const settings = JSON.stringify({ rateLimit: { maxRequests: 5, timeWindowMinutes } });
  database.prepare('UPDATE projects SET settings = ?').run(settings);
}

/** Fills the newest generation with sends to another number. */
function fillGeneration(at: number): void {
  recentSends.add(Array.from({ length: SENDS_PER_GENERATION }, () => row(at, '9647700000000')));
}

const query = async (sql: string, parameters: readonly unknown[]) =>
  database.prepare<unknown[], Record<string, string | number | null>>(sql).all(...parameters);

/** Lets the copy follow this version of the file. */
const follow = (version: number) => recentSends.follow(version, query);

const heard = ({
  since = 0,
  until = NOW + 1_000_000_000,
  limit = 10,
  uncommitted = [] as readonly ReturnType<typeof row>[],
} = {}) => recentSends.acceptedAt({ projectId: 'p1', phoneNumber: NUMBER, since, until, limit }, uncommitted);

it('recent sends are found while their transaction is open, and after its commit', async () => {
  await follow(1);
  expect(heard({ uncommitted: [row(NOW), row(NOW, '9647700000000')] })).toEqual([NOW]);
  expect(heard()).toEqual([]);
  recentSends.add([row(NOW)]);
  expect(heard()).toEqual([NOW]);
  expect(heard({ uncommitted: [row(NOW + 1)] })).toEqual([NOW + 1, NOW]);
});

it('recent sends leave out messages of campaigns', async () => {
  store(NOW, 'a-campaign');
  store(NOW + 1);
  await follow(1);
  expect(heard()).toEqual([NOW + 1]);
});

it('recent sends are read again when the file has another version', async () => {
  store(NOW);
  await follow(1);
  store(NOW + 1);
  await follow(1);
  expect(heard()).toEqual([NOW]);
  await follow(2);
  expect(heard()).toEqual([NOW + 1, NOW]);
});

it('recent sends that could not be read to the end are read again', async () => {
  store(NOW);
  let pages = 0;
  const broken = recentSends.follow(1, (sql, parameters) => {
    if (sql.includes('LIMIT')) pages += 1;
    return pages === 2 ? Promise.reject(new Error('The disk is broken')) : query(sql, parameters);
  });
  for (let at = NOW - PAGES_OF_SENDS; at < NOW; at += 1) store(at);
  await expect(broken).rejects.toThrow('The disk is broken');
  await follow(1);
  expect(heard({ limit: 2 * PAGES_OF_SENDS })).toHaveLength(PAGES_OF_SENDS + 1);
});

it('recent sends are read page by page', async () => {
  const first = NOW - PAGES_OF_SENDS;
  for (let at = first; at < NOW; at += 1) store(at);
  await follow(1);
  expect(heard({ limit: PAGES_OF_SENDS + 1 })).toHaveLength(PAGES_OF_SENDS);
});

it('recent sends of several generations are found together, the newest first, up to the limit', () => {
  for (const at of [NOW, NOW + 1, NOW + 2]) {
    recentSends.add([row(at)]);
    fillGeneration(at);
  }
  expect(heard()).toEqual([NOW + 2, NOW + 1, NOW]);
  expect(heard({ since: NOW })).toEqual([NOW + 2, NOW + 1]);
  expect(heard({ limit: 2 })).toEqual([NOW + 2, NOW + 1]);
});

it('recent sends that are older than the longest rate window are forgotten with their generation', async () => {
  await follow(1);
  recentSends.add([row(NOW)]);
  fillGeneration(NOW);
  // A minute is the margin for a clock that stands before the newest message.
  const later = NOW + (WINDOW_MINUTES + 1) * MINUTE_MS;
  fillGeneration(later);
  expect(heard()).toEqual([NOW]);
  fillGeneration(later + 1);
  fillGeneration(later + 1);
  expect(heard()).toEqual([]);
});

it('recent sends are read from the messages of the longest rate window', async () => {
  const oldest = NOW - (WINDOW_MINUTES + 1) * MINUTE_MS;
  for (const at of [oldest - 1, oldest, NOW]) store(at);
  await follow(1);
  expect(heard()).toEqual([NOW, oldest]);
});

it('recent sends of a window that became longer are read from the file', async () => {
  store(NOW - 30 * MINUTE_MS);
  store(NOW);
  await follow(1);
  expect(heard()).toEqual([NOW]);
  setWindow(60);
  await follow(1);
  expect(heard()).toEqual([NOW]);
  recentSends.noteWindows();
  await follow(1);
  expect(heard()).toEqual([NOW, NOW - 30 * MINUTE_MS]);
});

it('recent sends leave out what a clock that is ahead has written', async () => {
  await follow(1);
  recentSends.add([row(NOW), row(NOW + 1), row(NOW + 2)]);
  expect(heard({ until: NOW + 1, limit: 2 })).toEqual([NOW + 1, NOW]);
});

it('recent sends ask for the windows once after each change of projects', async () => {
  await follow(1);
  const asked: string[] = [];
  const noting = (sql: string, parameters: readonly unknown[]) => {
    asked.push(sql);
    return query(sql, parameters);
  };
  await recentSends.follow(1, noting);
  expect(asked).toHaveLength(0);
  recentSends.noteWindows();
  await recentSends.follow(1, noting);
  await recentSends.follow(1, noting);
  expect(asked).toHaveLength(1);
});
