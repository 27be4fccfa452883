import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StorageUnavailable } from '../../../src/application/errors/storage-unavailable.ts';
import {
  ManageProjects,
  type NewProject,
  type ProjectChange,
} from '../../../src/application/operators/manage-projects.ts';
import type { UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import { SealWebhook } from '../../../src/application/webhooks/seal-webhook.ts';
import { ports } from '../../../src/bootstrap/tokens.ts';
import { DEFAULT_SETTINGS } from '../../../src/domain/access/project.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { anAccount, aPhoneNumber, aProject, NOW, PROJECT_ID } from '../../support/builders.ts';

const HEX_ID = /^[0-9a-f]{24}$/;
const LOW_CREDIT = {
  amount: iqd(500),
  webhookUrl: 'https://shop.example/credit?t=1',
  webhookSecret: 'plain',
};
const NEW: NewProject = {
  name: 'Shop',
  slug: 'shop',
  environment: 'dev',
  paymentType: 'postpaid',
  spendingThreshold: iqd(5_000),
  trialPhoneNumber: aPhoneNumber(),
  settings: { language: 'ckb' },
};
/** What the audit log has of `NEW`. */
const AUDITED = {
  name: 'Shop',
  slug: 'shop',
  environment: 'dev',
  paymentType: 'postpaid',
  spendingThreshold: 5_000,
  isTrial: true,
  rateLimit: { maxRequests: 5, timeWindowMinutes: 10 },
  addressRateLimit: 'off',
  allowedIps: [],
  ipRuleScope: 'resources',
  settlement: 'quoted',
  billingUnits: 'flat140',
  language: 'ckb',
  attemptTimeoutMs: { verification: 30_000, other: 300_000 },
  retention: 'off',
  lowCredit: 'off',
  weight: 1,
};

describe('the projects of the installation, for operators', () => {
  let world: ApplicationWorld;
  let manageProjects: ManageProjects;

  beforeEach(async () => {
    world = await openApplication();
    manageProjects = world.container.get(ManageProjects);
  });
  afterEach(() => world.close());

  const records = () =>
    world.unitOfWork.read(({ auditLog }) => auditLog.list({ projectId: null, before: null, limit: 10 }));
  /** The ids of the jobs that are due, which are done then. */
  const due = async () => {
    const leased = await world.lease();
    await world.unitOfWork.run(({ jobs }) => jobs.complete(leased));
    return leased.map(({ id }) => id);
  };
  const rejected = (kind: string) => ({ rejection: { kind } });
  const change = (given: Partial<ProjectChange>, project = 'demo') =>
    manageProjects.change('cli', project, { settings: {}, ...given });
  const DEMO = { ...aProject({ settings: { rateLimit: null } }), archivedAt: null };
  const ACCOUNT = anAccount({ balance: iqd(1_000) });

  it('a new project has the given terms, the defaults of its other settings, and no money', async () => {
    const { project, account } = await manageProjects.create('operator', NEW);
    expect(project).toEqual({
      id: expect.stringMatching(HEX_ID),
      name: 'Shop',
      slug: 'shop',
      environment: 'dev',
      settings: { ...DEFAULT_SETTINGS, language: 'ckb' },
      archivedAt: null,
    });
    expect(account).toEqual({
      projectId: project.id,
      paymentType: 'postpaid',
      spendingThreshold: iqd(5_000),
      trialPhoneNumber: aPhoneNumber(),
      balance: 0,
      held: 0,
      spent: 0,
      lowCreditNoticedAt: null,
    });
    expect(await manageProjects.find('shop')).toEqual({ project, account });
    expect(await records()).toEqual([
      {
        id: expect.stringMatching(HEX_ID),
        at: NOW,
        actor: 'operator',
        action: 'project-created',
        projectId: project.id,
        before: null,
        after: AUDITED,
      },
    ]);
    expect(await world.lease()).toEqual([]);
  });

  it('a slug is given once, also to operators at the same time', async () => {
    await expect(manageProjects.create('operator', { ...NEW, slug: 'demo' })).rejects.toMatchObject(
      rejected('slug-taken'),
    );
    const results = await Promise.allSettled([1, 2].map(() => manageProjects.create('operator', NEW)));
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: rejected('slug-taken'),
    });
    expect(await records()).toHaveLength(1);
  });

  it('a project is made once although the reply to its commit was lost', async () => {
    const { unitOfWork } = world;
    const losingOnce: UnitOfWork = {
      ping: () => unitOfWork.ping(),
      read: (work) => unitOfWork.read(work),
      run: async (...given) => {
        await unitOfWork.run(...given);
        throw new StorageUnavailable(new Error('the connection was lost'));
      },
    };
    const losing = new ManageProjects({
      unitOfWork: losingOnce,
      sealWebhook: world.container.get(SealWebhook),
      noticeLowCredit: { arm: async () => {} },
      clock: world.clock,
      ids: world.container.get(ports.idSource),
    });
    const { project, account } = await losing.create('operator', NEW);
    expect(await manageProjects.find('shop')).toEqual({ project, account });
    await expect(losing.create('operator', NEW)).rejects.toMatchObject(rejected('slug-taken'));
  });

  it('projects are found by id or slug, and listed in the order of their ids', async () => {
    const made = await manageProjects.create('operator', NEW);
    const demo = { project: DEMO, account: ACCOUNT };
    expect(await manageProjects.find(PROJECT_ID)).toEqual(demo);
    expect(await manageProjects.find('demo')).toEqual(demo);
    await expect(manageProjects.find('none')).rejects.toMatchObject(rejected('project-not-found'));
    const both = [made, demo].sort((one, other) => (one.project.id < other.project.id ? -1 : 1));
    expect(await manageProjects.list(null, 10)).toEqual({ rows: both, next: null });
    expect(await manageProjects.list(null, 1)).toEqual({ rows: both.slice(0, 1), next: both[0]?.project.id });
    expect((await manageProjects.list(both[0]?.project.id ?? '', 10)).rows).toEqual(both.slice(1));
  });

  it('a change changes what it names, and the audit log has both sides of that', async () => {
    const changed = {
      project: { ...DEMO, name: 'Renamed', settings: { ...DEMO.settings, language: 'ckb' } },
      account: { ...ACCOUNT, spendingThreshold: iqd(7) },
    };
    expect(
      await change({ name: 'Renamed', settings: { language: 'ckb' }, spendingThreshold: iqd(7) }),
    ).toEqual(changed);
    expect(await manageProjects.find('demo')).toEqual(changed);
    expect(await records()).toEqual([
      {
        id: expect.stringMatching(HEX_ID),
        at: NOW,
        actor: 'cli',
        action: 'project-changed',
        projectId: PROJECT_ID,
        before: { name: 'Demo', language: 'en', spendingThreshold: 'off' },
        after: { name: 'Renamed', language: 'ckb', spendingThreshold: 7 },
      },
    ]);

    expect(await change({})).toEqual(changed);
    expect(await change({ name: 'Renamed' })).toEqual(changed);
    expect(await records()).toHaveLength(1);

    const again = { ...changed, project: { ...changed.project, name: 'Again' } };
    expect(await change({ name: 'Again' })).toEqual(again);
    expect(await manageProjects.find('demo')).toEqual(again);
    await change({ name: 'Renamed' });

    const without = { ...changed, account: { ...ACCOUNT, spendingThreshold: null } };
    expect(await change({ spendingThreshold: null })).toEqual(without);
    expect(await manageProjects.find('demo')).toEqual(without);
    await expect(change({ name: 'x' }, 'none')).rejects.toMatchObject(rejected('project-not-found'));
  });

  it('a project that has retention from now on is treated at once, and no other change adds a job', async () => {
    await change({ name: 'Renamed' });
    expect(await due()).toEqual([]);
    await change({ settings: { retention: { days: 30, action: 'remove' } } });
    expect(await due()).toEqual(['retention/run']);
    await change({ name: 'Again' });
    expect(await due()).toEqual([]);
  });

  it('a retention that ends, and a new project with one, have their jobs, or none', async () => {
    const retention = { days: 30, action: 'anonymise' } as const;
    await manageProjects.create('operator', { ...NEW, settings: { retention } });
    expect(await due()).toEqual(['retention/run']);
    await change({ settings: { retention: null } }, 'shop');
    expect((await manageProjects.find('shop')).project.settings.retention).toBeNull();
    expect(await due()).toEqual([]);
  });

  it('the secret of a notice is stored sealed, and stays for as long as the address does', async () => {
    const stored = async () => (await manageProjects.find('demo')).project.settings.lowCredit;
    await change({ settings: { lowCredit: LOW_CREDIT } });
    const first = await stored();
    expect(first).toMatchObject({ amount: iqd(500), webhookUrl: LOW_CREDIT.webhookUrl });
    expect(first?.webhookSecret).toEqual(expect.any(String));
    expect(first?.webhookSecret).not.toContain('plain');
    const signed = { amount: 500, endpoint: 'shop.example/credit', isSigned: true };
    expect((await records())[0]).toMatchObject({
      before: { lowCredit: 'off' },
      after: { lowCredit: signed },
    });

    world.clock.at = NOW + 1;
    await change({ settings: { lowCredit: { ...LOW_CREDIT, amount: iqd(600), webhookSecret: null } } });
    expect(await stored()).toEqual({ ...first, amount: iqd(600) });
    await change({ name: 'Renamed' });
    expect(await stored()).toEqual({ ...first, amount: iqd(600) });

    world.clock.at = NOW + 2;
    const other = { ...LOW_CREDIT, amount: iqd(600), webhookUrl: 'https://shop.example/credit?t=2' };
    await change({ settings: { lowCredit: { ...other, webhookSecret: null } } });
    expect(await stored()).toEqual({ ...other, webhookSecret: null });

    await change({ settings: { lowCredit: null } });
    expect(await stored()).toBeNull();
  });

  it('a new secret, or another query of the address, is recorded although the audit log shows neither', async () => {
    const unsigned = { ...LOW_CREDIT, webhookSecret: null };
    await change({ settings: { lowCredit: LOW_CREDIT } });
    const signed = { amount: 500, endpoint: 'shop.example/credit', isSigned: true };
    world.clock.at = NOW + 1;
    await change({ settings: { lowCredit: { ...LOW_CREDIT, webhookSecret: 'another' } } });
    expect((await records())[0]).toMatchObject({
      at: NOW + 1,
      before: { lowCredit: signed },
      after: { lowCredit: signed },
    });
    world.clock.at = NOW + 2;
    await change({ settings: { lowCredit: unsigned } });
    expect(await records()).toHaveLength(2);
    await change({ settings: { lowCredit: { ...unsigned, webhookUrl: 'https://shop.example/credit?t=2' } } });
    expect((await records())[0]).toMatchObject({
      before: { lowCredit: signed },
      after: { lowCredit: { ...signed, isSigned: false } },
    });
  });

  it('a notice with an address that webhooks are never posted to is rejected', async () => {
    const lowCredit = { ...LOW_CREDIT, webhookUrl: 'ftp://shop.example' };
    const kind = { rejection: { kind: 'webhook-url-refused', field: 'lowCredit.webhookUrl' } };
    await expect(change({ settings: { lowCredit } })).rejects.toMatchObject(kind);
    await expect(
      manageProjects.create('operator', { ...NEW, settings: { lowCredit } }),
    ).rejects.toMatchObject(kind);
    expect(await records()).toEqual([]);
  });

  it('a change of the notice arms it again when the credit is enough, and another change does not', async () => {
    await world.unitOfWork.run(({ accounts }) => accounts.setLowCreditNoticedAt([PROJECT_ID], NOW));
    await change({ name: 'Renamed' });
    expect((await world.account()).lowCreditNoticedAt).toBe(NOW);
    await change({ settings: { lowCredit: { ...LOW_CREDIT, amount: iqd(1_001) } } });
    expect((await world.account()).lowCreditNoticedAt).toBe(NOW);
    await change({ settings: { lowCredit: { ...LOW_CREDIT, amount: iqd(1_000) } } });
    expect((await world.account()).lowCreditNoticedAt).toBeNull();
  });

  it('a project is archived once', async () => {
    const archived = { project: { ...DEMO, archivedAt: NOW }, account: ACCOUNT };
    expect(await manageProjects.archive('cli', 'demo')).toEqual(archived);
    expect(await manageProjects.find('demo')).toEqual(archived);
    expect(await records()).toMatchObject([
      {
        at: NOW,
        actor: 'cli',
        action: 'project-archived',
        projectId: PROJECT_ID,
        before: { archivedAt: null },
        after: { archivedAt: new Date(NOW).toISOString() },
      },
    ]);
    world.clock.at = NOW + 1;
    expect(await manageProjects.archive('cli', PROJECT_ID)).toEqual(archived);
    expect(await records()).toHaveLength(1);
    await expect(manageProjects.archive('cli', 'none')).rejects.toMatchObject(rejected('project-not-found'));
  });
});
