import { afterEach, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../support/admin.ts';
import { seedWith } from '../support/seeds.ts';
import { type Member, ServiceGroup } from '../support/service-group.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const FRESH_MS = 2_000;

describe.skipIf(POSTGRES_URL === undefined)(
  `operators beside several services on one PostgreSQL${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    let group: ServiceGroup;
    afterEach(() => group.dispose());

    const startTwo = async (): Promise<readonly [Member, Member]> => {
      group = new ServiceGroup(POSTGRES_URL ?? '', seedWith({ rateLimit: null }));
      const [first, second] = await group.start([
        { role: 'api', adminToken: ADMIN_TOKEN },
        { role: 'all', adminToken: ADMIN_TOKEN },
      ]);
      return [first, second];
    };

    it('a key that is revoked in one process is rejected in another within 2 seconds, and so is an archived project', async () => {
      const [first, second] = await startTwo();
      const made = await first.request('/admin/projects/demo/keys', {}, ADMIN_TOKEN);
      const { id, apiKey } = made.body as { id: string; apiKey: string };
      expect(await second.request('/info', undefined, apiKey)).toMatchObject({ status: 200 });
      expect(await second.request('/info')).toMatchObject({ status: 200 });
      await first.request(`/admin/projects/demo/keys/${id}/revoke`, {}, ADMIN_TOKEN);
      group.clock.at += FRESH_MS - 1;
      expect(await second.request('/info', undefined, apiKey)).toMatchObject({ status: 200 });
      group.clock.at += 1;
      expect(await second.request('/info', undefined, apiKey)).toMatchObject({ status: 401 });
      expect(await first.request('/info', undefined, apiKey)).toMatchObject({ status: 401 });
      expect(await second.request('/info')).toMatchObject({ status: 200 });
      await first.request('/admin/projects/demo/archive', {}, ADMIN_TOKEN);
      group.clock.at += FRESH_MS;
      expect(await second.request('/info')).toMatchObject({ status: 401 });
    });
  },
);
