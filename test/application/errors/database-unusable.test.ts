import { expect, it } from 'vitest';
import {
  clockBehindRestorePoint,
  databaseEncodingTooSmall,
  databaseNewer,
} from '../../../src/application/errors/database-unusable.ts';

it('an error about a newer database names its migrations, and what can be done', () => {
  expect(databaseNewer(['030-a', '031-b'])).toMatchObject({
    name: 'DatabaseUnusable',
    message:
      'the tables were changed by a newer version of Barid (030-a, 031-b); start that version or a later one, ' +
      'or restore a backup that was made before the upgrade',
  });
});

it('an error about an encoding names it, and what can be done', () => {
  expect(databaseEncodingTooSmall('LATIN1')).toMatchObject({
    name: 'DatabaseUnusable',
    message:
      'the database has the encoding LATIN1, which cannot store every text; ' +
      "make one with ENCODING 'UTF8' and TEMPLATE template0",
  });
});

it('an error about a clock behind a restored database names both instants', () => {
  const [now, restorePoint] = [Date.UTC(2026, 4, 1, 11, 59), Date.UTC(2026, 4, 1, 12)];
  expect(clockBehindRestorePoint(now, restorePoint).message).toBe(
    'the clock of this machine, 2026-05-01T11:59:00.000Z, is behind the restored database, whose messages go up to ' +
      '2026-05-01T12:00:00.000Z; set the clock: until then every new message would fail as a restored one',
  );
});
