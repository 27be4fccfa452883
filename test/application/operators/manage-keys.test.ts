import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManageKeys } from '../../../src/application/operators/manage-keys.ts';
import { ManageProjects } from '../../../src/application/operators/manage-projects.ts';
import { ports } from '../../../src/bootstrap/tokens.ts';
import { hasChecksum } from '../../../src/domain/shared/checksum.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { aProject, NOW, PROJECT_ID } from '../../support/builders.ts';

const PROJECT = { ...aProject({ settings: { rateLimit: null } }), archivedAt: null };
const HEX_ID = /^[0-9a-f]{24}$/;
const ISO = (at: number) => new Date(at).toISOString();

describe('the API keys of a project, for operators', () => {
  let world: ApplicationWorld;
  let manageKeys: ManageKeys;

  beforeEach(async () => {
    world = await openApplication();
    manageKeys = world.container.get(ManageKeys);
  });
  afterEach(() => world.close());

  const records = () =>
    world.unitOfWork.read(({ auditLog }) => auditLog.list({ projectId: null, before: null, limit: 10 }));
  const accepts = (apiKey: string) => {
    const digest = world.container.get(ports.keyHasher).digest(apiKey);
    return world.unitOfWork.read(async ({ projects }) => {
      return (await projects.byKeyDigest(digest, world.clock.at)) !== null;
    });
  };
  const idOf = ({ key }: { readonly key: { readonly digest: string } }) => key.digest.slice(0, 24);
  const rejected = (kind: string) => ({ rejection: { kind } });

  it('a new key works, is stored as a digest, and is in the audit log by its public id', async () => {
    const hasher = world.container.get(ports.keyHasher);
    const made = await manageKeys.create('operator', 'demo');

    expect(made.apiKey).toMatch(/^sk_live_[0-9a-f]{40}$/);
    expect(hasChecksum(made.apiKey, hasher.checksum)).toBe(true);
    expect(made).toEqual({
      project: PROJECT,
      key: {
        digest: hasher.digest(made.apiKey),
        projectId: PROJECT_ID,
        createdAt: NOW,
        lastFour: made.apiKey.slice(-4),
        endsAt: null,
        revokedAt: null,
        lastUsedAt: null,
      },
      now: NOW,
      apiKey: made.apiKey,
    });
    expect(await accepts(made.apiKey)).toBe(true);
    const { project, key, now } = made;
    expect(await manageKeys.list(PROJECT_ID, null, 10)).toEqual({
      rows: [{ project, key, now }],
      next: null,
    });
    expect(await world.unitOfWork.read(({ projects }) => projects.hasKeyWithoutChecksum())).toBe(false);
    expect(await records()).toEqual([
      {
        id: expect.stringMatching(HEX_ID),
        at: NOW,
        actor: 'operator',
        action: 'key-created',
        projectId: PROJECT_ID,
        before: null,
        after: { keyId: idOf(made), endsAt: null, revokedAt: null },
      },
    ]);
  });

  it('two new keys differ, and a list has the newest first, up to its limit and before a place', async () => {
    const first = await manageKeys.create('operator', PROJECT_ID);
    world.clock.at = NOW + 1;
    const second = await manageKeys.create('operator', PROJECT_ID);
    expect(first.apiKey).not.toBe(second.apiKey);
    const ids = ({ rows }: Awaited<ReturnType<ManageKeys['list']>>) => rows.map(idOf);
    expect(ids(await manageKeys.list('demo', null, 10))).toEqual([idOf(second), idOf(first)]);
    const newest = await manageKeys.list('demo', null, 1);
    expect(ids(newest)).toEqual([idOf(second)]);
    expect(ids(await manageKeys.list('demo', newest.next, 10))).toEqual([idOf(first)]);
  });

  it('a revoked key works no more, and is revoked once', async () => {
    const made = await manageKeys.create('operator', PROJECT_ID);
    world.clock.at = NOW + 5;
    const revoked = { ...made.key, revokedAt: NOW + 5 };

    expect(await manageKeys.revoke('cli', PROJECT_ID, idOf(made))).toEqual({
      project: PROJECT,
      key: revoked,
      now: NOW + 5,
    });
    expect(await accepts(made.apiKey)).toBe(false);
    const [record] = await records();
    expect(record).toMatchObject({
      at: NOW + 5,
      actor: 'cli',
      action: 'key-revoked',
      projectId: PROJECT_ID,
      before: { keyId: idOf(made), endsAt: null, revokedAt: null },
      after: { keyId: idOf(made), endsAt: null, revokedAt: ISO(NOW + 5) },
    });

    world.clock.at = NOW + 9;
    expect(await manageKeys.revoke('cli', PROJECT_ID, idOf(made))).toEqual({
      project: PROJECT,
      key: revoked,
      now: NOW + 9,
    });
    expect(await records()).toHaveLength(2);
  });

  it('a rotation makes a new key, and the old one works until the end of the overlap', async () => {
    const old = await manageKeys.create('operator', PROJECT_ID);
    world.clock.at = NOW + 5;
    const { made, replaced } = await manageKeys.rotate('cli', PROJECT_ID, idOf(old), 1_000);

    expect(made).toMatchObject({ project: PROJECT, now: NOW + 5, key: { createdAt: NOW + 5, endsAt: null } });
    expect(replaced).toEqual({ project: PROJECT, key: { ...old.key, endsAt: NOW + 1_005 }, now: NOW + 5 });
    expect([await accepts(old.apiKey), await accepts(made.apiKey)]).toEqual([true, true]);
    const [record, ...earlier] = await records();
    expect(record).toMatchObject({
      actor: 'cli',
      action: 'key-rotated',
      projectId: PROJECT_ID,
      before: { keyId: idOf(old), endsAt: null },
      after: { keyId: idOf(old), endsAt: ISO(NOW + 1_005), newKeyId: idOf(made) },
    });
    expect(record?.after).not.toHaveProperty('revokedAt');
    expect(earlier).toHaveLength(1);

    world.clock.at = NOW + 1_005;
    expect([await accepts(old.apiKey), await accepts(made.apiKey)]).toEqual([false, true]);
    await expect(manageKeys.rotate('cli', PROJECT_ID, idOf(old), 1_000)).rejects.toMatchObject(
      rejected('key-not-working'),
    );
    expect((await manageKeys.list(PROJECT_ID, null, 10)).rows).toHaveLength(2);
  });

  it('a key that ended by a clock that is ahead is ended by every clock once it is revoked', async () => {
    const rotated = await manageKeys.create('operator', PROJECT_ID);
    world.clock.at = NOW + 600_000;
    const { made, replaced } = await manageKeys.rotate('operator', PROJECT_ID, idOf(rotated), 0);
    expect(replaced.key).toEqual({ ...rotated.key, revokedAt: NOW + 600_000 });
    world.clock.at = NOW;
    expect([await accepts(rotated.apiKey), await accepts(made.apiKey)]).toEqual([false, true]);

    await manageKeys.rotate('operator', PROJECT_ID, idOf(made), 300_000);
    world.clock.at = NOW + 600_000;
    expect(await manageKeys.revoke('operator', PROJECT_ID, idOf(made))).toMatchObject({
      key: { endsAt: NOW + 300_000, revokedAt: NOW + 600_000 },
    });
    world.clock.at = NOW;
    expect(await accepts(made.apiKey)).toBe(false);
    expect((await records()).map(({ action }) => action)).toContain('key-revoked');
  });

  it('a key is named by its whole public id, and by that of its own project only', async () => {
    const made = await manageKeys.create('operator', PROJECT_ID);
    const id = idOf(made);
    for (const other of [id.slice(0, 23), '', `${id}0`, 'f'.repeat(24)]) {
      const notFound = rejected('key-not-found');
      await expect(manageKeys.revoke('cli', PROJECT_ID, other)).rejects.toMatchObject(notFound);
      await expect(manageKeys.rotate('cli', PROJECT_ID, other, 0)).rejects.toMatchObject(notFound);
    }
    const none = rejected('project-not-found');
    await expect(manageKeys.create('cli', 'none')).rejects.toMatchObject(none);
    await expect(manageKeys.list('none', null, 1)).rejects.toMatchObject(none);
    await expect(manageKeys.revoke('cli', 'none', id)).rejects.toMatchObject(none);
    await expect(manageKeys.rotate('cli', 'none', id, 0)).rejects.toMatchObject(none);
    expect(await accepts(made.apiKey)).toBe(true);
  });

  it('a project has at most 100 keys that work', async () => {
    const keys = Array.from({ length: 99 }, (_, n) => ({
      digest: n.toString(16).padStart(64, '0'),
      projectId: PROJECT_ID,
      createdAt: NOW,
      lastFour: null,
      hasChecksum: true,
    }));
    await world.unitOfWork.run(({ projects }) => projects.insertKeys(keys));
    const last = await manageKeys.create('operator', PROJECT_ID);
    await expect(manageKeys.create('operator', PROJECT_ID)).rejects.toMatchObject(rejected('too-many-keys'));
    await expect(manageKeys.rotate('operator', PROJECT_ID, idOf(last), 1)).rejects.toMatchObject(
      rejected('too-many-keys'),
    );
    expect(await accepts(last.apiKey)).toBe(true);
    const { made } = await manageKeys.rotate('operator', PROJECT_ID, idOf(last), 0);
    expect([await accepts(last.apiKey), await accepts(made.apiKey)]).toEqual([false, true]);
    await manageKeys.revoke('operator', PROJECT_ID, idOf(made));
    expect(await manageKeys.create('operator', PROJECT_ID)).toMatchObject({ now: NOW });
  });

  it('an archived project gets no new key', async () => {
    const made = await manageKeys.create('operator', PROJECT_ID);
    await world.container.get(ManageProjects).archive('operator', PROJECT_ID);
    await expect(manageKeys.create('operator', PROJECT_ID)).rejects.toMatchObject(
      rejected('project-archived'),
    );
    await expect(manageKeys.rotate('operator', PROJECT_ID, idOf(made), 0)).rejects.toMatchObject(
      rejected('project-archived'),
    );
  });
});
