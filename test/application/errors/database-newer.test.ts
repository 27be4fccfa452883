import { expect, it } from 'vitest';
import { DatabaseNewer } from '../../../src/application/errors/database-newer.ts';

it('an error about a newer database names its migrations, and what can be done', () => {
  const error = new DatabaseNewer(['030-a', '031-b']);
  expect(error).toMatchObject({
    name: 'DatabaseNewer',
    migrations: ['030-a', '031-b'],
    message:
      'the tables were changed by a newer version of Barid (030-a, 031-b); start that version or a later one, ' +
      'or restore a backup that was made before the upgrade',
  });
});
