import { afterEach, beforeEach, expect, it } from 'vitest';
import { ReadAuditLog } from '../../../src/application/operators/read-audit-log.ts';
import type { AuditRecord } from '../../../src/domain/audit/audit-record.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { anId, NOW, PROJECT_ID } from '../../support/builders.ts';

let world: ApplicationWorld;

const record = (n: number, projectId: string | null): AuditRecord => ({
  id: anId(n),
  at: NOW + n,
  actor: 'cli',
  action: 'key-created',
  projectId,
  before: null,
  after: { keyId: `key ${n}` },
});
const [first, second, third] = [record(1, PROJECT_ID), record(2, null), record(3, PROJECT_ID)];

beforeEach(async () => {
  world = await openApplication();
  await world.unitOfWork.run(({ auditLog }) => auditLog.insert([first, second, third]));
});
afterEach(() => world.close());

it('the audit log is read with the newest record first, of one project or of all', async () => {
  const readAuditLog = world.container.get(ReadAuditLog);
  expect(await readAuditLog.list(null, null, 10)).toEqual({ rows: [third, second, first], next: null });
  expect((await readAuditLog.list('demo', null, 10)).rows).toEqual([third, first]);
  expect(await readAuditLog.list(PROJECT_ID, null, 1)).toEqual({ rows: [third], next: third.id });
  expect((await readAuditLog.list(null, third.id, 10)).rows).toEqual([second, first]);
  await expect(readAuditLog.list('none', null, 10)).rejects.toMatchObject({
    rejection: { kind: 'project-not-found' },
  });
});
