import { expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../support/admin.ts';
import { startService } from '../../support/running-service.ts';

// The checks of replies in all tests are made from the documents of one service.
it('services with other channels and settings have the same documents', async () => {
  const plain = await startService({ adminToken: ADMIN_TOKEN });
  const other = await startService({
    adminToken: ADMIN_TOKEN,
    providers: { sms: 'simulator', whatsapp: 'simulator', telegram: 'simulator' },
    keepsPlatformLimits: true,
    egress: { ports: [8443] },
  });
  expect(other.service.http.openApi).toEqual(plain.service.http.openApi);
  expect(other.service.http.adminOpenApi).toEqual(plain.service.http.adminOpenApi);
  expect(plain.service.http.adminOpenApi?.paths).toHaveProperty('/admin/projects');
});
