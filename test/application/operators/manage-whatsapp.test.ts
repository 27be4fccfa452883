import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startAttemptJob } from '../../../src/application/jobs/attempt-jobs.ts';
import { ManageWhatsapp } from '../../../src/application/operators/manage-whatsapp.ts';
import { onlySecret } from '../../../src/domain/webhooks/inbound-secrets.ts';
import type { GivenBusiness } from '../../../src/domain/whatsapp/given-resources.ts';
import { type ApplicationWorld, aSeedProject, openApplication } from '../../support/application-world.ts';
import {
  aCampaign,
  aMessage,
  anId,
  anSmsId,
  aProject,
  aSealedSecret,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  aWhatsappTemplate,
  NOW,
  PROJECT_ID,
} from '../../support/builders.ts';

const HEX_ID = /^[0-9a-f]{24}$/;
const OTHER_PROJECT = anId(9);
const TREE = [aWhatsappBusiness()];
const { id: BUSINESS } = aWhatsappBusiness();
const { id: ACCOUNT } = aWhatsappAccount();
const { id: NUMBER } = aWhatsappPhoneNumber();
const { id: TEMPLATE } = aWhatsappTemplate();
const NONE = { businessCount: 0, accountCount: 0, phoneNumberCount: 0, templateCount: 0 };
const ONE = { businessCount: 1, accountCount: 1, phoneNumberCount: 1, templateCount: 1 };

describe('the whatsapp resources of a project, for operators', () => {
  let world: ApplicationWorld;
  let manageWhatsapp: ManageWhatsapp;

  beforeEach(async () => {
    world = await openApplication({
      projects: [
        aSeedProject({ whatsappBusinesses: TREE }),
        aSeedProject({
          project: aProject({ id: OTHER_PROJECT, slug: 'other', settings: { rateLimit: null } }),
        }),
      ],
    });
    manageWhatsapp = world.container.get(ManageWhatsapp);
  });
  afterEach(() => world.close());

  const replace = (given: readonly GivenBusiness[], project = 'demo') =>
    manageWhatsapp.replace('cli', project, given);
  const records = () =>
    world.unitOfWork.read(({ auditLog }) => auditLog.list({ projectId: null, before: null, limit: 10 }));
  const inUse = (...used: (readonly [id: string, usedBy: readonly string[]])[]) => ({
    rejection: {
      kind: 'whatsapp-resource-in-use',
      inUse: used.map(([id, usedBy]) => ({ id, usedBy })),
    },
  });

  it('the tree is read by the id or the slug of its project', async () => {
    expect(await manageWhatsapp.read('demo')).toEqual(TREE);
    expect(await manageWhatsapp.read(PROJECT_ID)).toEqual(TREE);
    await expect(manageWhatsapp.read('none')).rejects.toMatchObject({
      rejection: { kind: 'project-not-found' },
    });
  });

  it('a project without resources has an empty tree, and new resources get ids and the present', async () => {
    await replace([]);
    expect(await manageWhatsapp.read('demo')).toEqual([]);
    const bare = JSON.parse(JSON.stringify(TREE), (name, value) =>
      name === 'id' || name === 'createdAt' ? undefined : value,
    ) as readonly GivenBusiness[];
    const made = await replace(bare);
    const account = made[0]?.whatsappAccounts[0];
    const rows = [made[0], account, account?.phoneNumbers[0], account?.templates[0]];
    expect(new Set(rows.map((each) => each?.id)).size).toBe(4);
    for (const each of rows) {
      expect(each?.id).toMatch(HEX_ID);
      expect(each?.createdAt).toBe(new Date(NOW).toISOString());
    }
    expect(await manageWhatsapp.read('demo')).toEqual(made);
  });

  it('a changed tree is stored, and its differences are in the audit log', async () => {
    const added = aWhatsappPhoneNumber({ id: anId(5), phoneNumberId: '5' });
    const changed = aWhatsappAccount({
      name: 'Renamed',
      phoneNumbers: [aWhatsappPhoneNumber(), added],
      templates: [],
    });
    const after = [aWhatsappBusiness({ whatsappAccounts: [changed] })];
    expect(await replace(after)).toEqual(after);
    expect(await manageWhatsapp.read('demo')).toEqual(after);
    expect(await records()).toEqual([
      {
        id: expect.stringMatching(HEX_ID),
        at: NOW,
        actor: 'cli',
        action: 'whatsapp-resources-changed',
        projectId: PROJECT_ID,
        before: { ...ONE, removed: [TEMPLATE] },
        after: { ...ONE, phoneNumberCount: 2, templateCount: 0, added: [added.id], changed: [ACCOUNT] },
      },
    ]);
  });

  it('an equal tree changes nothing, and is not recorded', async () => {
    expect(await replace(TREE)).toEqual(TREE);
    expect(await records()).toEqual([]);
    await expect(replace(TREE, 'none')).rejects.toMatchObject({ rejection: { kind: 'project-not-found' } });
  });

  it('resources that nothing uses may go', async () => {
    expect(await replace([])).toEqual([]);
    const removed = [BUSINESS, ACCOUNT, NUMBER, TEMPLATE];
    expect(await records()).toMatchObject([{ before: { ...ONE, removed }, after: { ...NONE, added: [] } }]);
  });

  it('the number of an inbound webhook stays, unless the webhook is of another project', async () => {
    const webhook = {
      whatsappPhoneId: NUMBER,
      url: 'https://shop.example/in',
      ...onlySecret(aSealedSecret('sealed')),
    };
    const insert = (projectId: string) =>
      world.unitOfWork.run(({ inboundWebhooks }) => inboundWebhooks.save([{ ...webhook, projectId }]));
    await insert(PROJECT_ID);
    await expect(replace([])).rejects.toMatchObject(inUse([NUMBER, ['inbound-webhook']]));
    expect(await manageWhatsapp.read('demo')).toEqual(TREE);
    expect(await records()).toEqual([]);
    await insert(OTHER_PROJECT);
    expect(await replace([])).toEqual([]);
  });

  it('the number and the template of a campaign stay until it has ended', async () => {
    const campaign = aCampaign({ whatsappPhoneId: NUMBER, templateId: TEMPLATE });
    await world.unitOfWork.run(({ campaigns }) => campaigns.insert([campaign]));
    await expect(replace([])).rejects.toMatchObject(inUse([NUMBER, ['campaign']], [TEMPLATE, ['campaign']]));
    expect(await manageWhatsapp.read('demo')).toEqual(TREE);
  });

  it('the account and the number that an open message names stay, and may go when its jobs are done', async () => {
    const named = aMessage({ whatsappSender: { accountId: ACCOUNT, phoneId: NUMBER, templateName: null } });
    const unnamed = aMessage({ smsId: anSmsId(2) });
    await world.unitOfWork.run(async ({ messages, jobs }) => {
      await messages.insert([named, unnamed]);
      await jobs.add(
        [named, unnamed].map((message) => startAttemptJob(message, 0, NOW)),
        NOW,
      );
    });
    await expect(replace([])).rejects.toMatchObject(inUse([ACCOUNT, ['message']], [NUMBER, ['message']]));
    const leased = await world.lease();
    await world.unitOfWork.run(({ jobs }) => jobs.complete(leased));
    expect(await replace([])).toEqual([]);
  });
});
