import { expect, it } from 'vitest';
import {
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
