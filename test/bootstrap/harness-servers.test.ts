import pg from 'pg';
import { afterEach, expect, it } from 'vitest';
import { startHarness } from '../../src/bootstrap/harness.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const before = process.env.HARNESS_DATABASE_URL;

afterEach(() => {
  if (before === undefined) delete process.env.HARNESS_DATABASE_URL;
  else process.env.HARNESS_DATABASE_URL = before;
});

it.skipIf(POSTGRES_URL === undefined)(
  `leaves no schema on a server${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  async () => {
    process.env.HARNESS_DATABASE_URL = POSTGRES_URL;
    const harness = await startHarness();
    const { unitOfWork } = harness.service.roots;
    const projects = await unitOfWork.read((stores) => stores.projects.isEmpty());
    expect(projects).toBe(false);
    const client = new pg.Client(POSTGRES_URL);
    await client.connect();
    const schemas = async () =>
      (await client.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'harness_%'")).rows.length;
    const open = await schemas();
    expect(open).toBeGreaterThanOrEqual(1);
    await harness.close();
    await harness.close();
    expect(await schemas()).toBeLessThan(open);
    await client.end();
  },
);
