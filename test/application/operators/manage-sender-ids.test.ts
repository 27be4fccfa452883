import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManageProjects } from '../../../src/application/operators/manage-projects.ts';
import { ManageSenderIds } from '../../../src/application/operators/manage-sender-ids.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { anId, aSenderId, NOW, PROJECT_ID } from '../../support/builders.ts';

const HEX_ID = /^[0-9a-f]{24}$/;
const PRICES = { korekTelecom: iqd(70), asiaCell: iqd(71), zainIraq: iqd(72), others: iqd(90.5) };
const AUDITED_PRICES = { korekTelecom: 70, asiaCell: 71, zainIraq: 72, others: 90.5 };

describe('the sender IDs of projects, for operators', () => {
  let world: ApplicationWorld;
  let manageSenderIds: ManageSenderIds;

  beforeEach(async () => {
    world = await openApplication();
    manageSenderIds = world.container.get(ManageSenderIds);
  });
  afterEach(() => world.close());

  const request = (senderId = 'Shop', project = 'demo') =>
    manageSenderIds.request('operator', project, { senderId, pricePerSms: PRICES });
  const stored = (id: string) => world.unitOfWork.read(({ senderIds }) => senderIds.find(PROJECT_ID, id));
  const records = () =>
    world.unitOfWork.read(({ auditLog }) => auditLog.list({ projectId: null, before: null, limit: 10 }));
  const rejected = (kind: string) => ({ rejection: { kind } });

  it('a requested sender ID waits for a decision, and is in the audit log with its prices', async () => {
    const sender = await request();
    expect(sender).toEqual({
      id: expect.stringMatching(HEX_ID),
      projectId: PROJECT_ID,
      senderId: 'Shop',
      status: 'pending',
      reason: null,
      pricePerSms: PRICES,
    });
    expect(await stored('Shop')).toEqual(sender);
    expect(await records()).toEqual([
      {
        id: expect.stringMatching(HEX_ID),
        at: NOW,
        actor: 'operator',
        action: 'sender-id-requested',
        projectId: PROJECT_ID,
        before: null,
        after: {
          id: sender.id,
          senderId: 'Shop',
          status: 'pending',
          reason: null,
          pricePerSms: AUDITED_PRICES,
        },
      },
    ]);
  });

  it('a decision changes the status, by the id or the name, and is recorded with what it changes', async () => {
    const sender = await request();
    const { id } = sender;
    world.clock.at = NOW + 1;
    expect(await manageSenderIds.approve('cli', PROJECT_ID, 'Shop')).toEqual({
      ...sender,
      status: 'accepted',
    });
    expect(await stored(id)).toEqual({ ...sender, status: 'accepted' });
    world.clock.at = NOW + 2;
    const rejectedSender = { ...sender, status: 'rejected', reason: 'A name of another' };
    expect(await manageSenderIds.reject('cli', PROJECT_ID, id, 'A name of another')).toEqual(rejectedSender);
    expect(await stored(id)).toEqual(rejectedSender);
    expect((await records()).slice(0, 2)).toMatchObject([
      {
        at: NOW + 2,
        actor: 'cli',
        action: 'sender-id-rejected',
        projectId: PROJECT_ID,
        before: { id, senderId: 'Shop', status: 'accepted', reason: null },
        after: { id, senderId: 'Shop', status: 'rejected', reason: 'A name of another' },
      },
      {
        at: NOW + 1,
        action: 'sender-id-approved',
        before: { id, senderId: 'Shop', status: 'pending' },
        after: { id, senderId: 'Shop', status: 'accepted' },
      },
    ]);
    expect((await records())[1]?.after).not.toHaveProperty('pricePerSms');
  });

  it('new prices of some mobile operators leave the others', async () => {
    const sender = await request();
    world.clock.at = NOW + 1;
    const priced = { ...sender, pricePerSms: { ...PRICES, asiaCell: iqd(80) } };
    expect(await manageSenderIds.setPrices('cli', 'demo', 'Shop', { asiaCell: iqd(80) })).toEqual(priced);
    expect(await stored('Shop')).toEqual(priced);
    const [record] = await records();
    expect(record).toMatchObject({
      action: 'sender-id-priced',
      before: { id: sender.id, senderId: 'Shop', pricePerSms: AUDITED_PRICES },
      after: { id: sender.id, senderId: 'Shop', pricePerSms: { ...AUDITED_PRICES, asiaCell: 80 } },
    });
  });

  it('a change that changes nothing is not recorded', async () => {
    const sender = await request();
    expect(await manageSenderIds.setPrices('cli', 'demo', 'Shop', { asiaCell: iqd(71) })).toEqual(sender);
    expect(await records()).toHaveLength(1);
  });

  it('a request is rejected for a taken name, the hundred and first name and an archived project', async () => {
    await request();
    await expect(request()).rejects.toMatchObject(rejected('sender-id-taken'));
    await world.unitOfWork.run(({ senderIds }) =>
      senderIds.insert(
        Array.from({ length: 98 }, (_, n) => aSenderId({ id: anId(n + 1), senderId: `Shop ${n}` })),
      ),
    );
    await request('Last');
    await expect(request('One more')).rejects.toMatchObject(rejected('too-many-sender-ids'));
    await world.container.get(ManageProjects).archive('operator', PROJECT_ID);
    await expect(request('Late')).rejects.toMatchObject(rejected('project-archived'));
  });

  it('a change of a project or a sender ID that does not exist is rejected', async () => {
    await expect(request('Shop', 'none')).rejects.toMatchObject(rejected('project-not-found'));
    await expect(manageSenderIds.approve('cli', 'none', 'Shop')).rejects.toMatchObject(
      rejected('project-not-found'),
    );
    await expect(manageSenderIds.approve('cli', 'demo', 'Shop')).rejects.toMatchObject(
      rejected('unknown-sender-id'),
    );
  });

  it('a list has the sender IDs of a project or of all, of one status or of all, in the order of ids', async () => {
    const first = await request('Shop');
    world.clock.at = NOW + 1;
    const second = await request('Bank');
    await manageSenderIds.approve('cli', 'demo', 'Bank');
    const names = async (
      filter: Partial<Parameters<ManageSenderIds['list']>[0]>,
      after: string | null,
      limit: number,
    ) => {
      const { rows } = await manageSenderIds.list({ project: null, status: null, ...filter }, after, limit);
      return rows.map(({ senderId }) => senderId);
    };
    expect(await names({}, null, 10)).toEqual(['Shop', 'Bank']);
    expect(await names({}, null, 1)).toEqual(['Shop']);
    expect(await names({}, first.id, 10)).toEqual(['Bank']);
    expect(await names({}, second.id, 10)).toEqual([]);
    expect(await names({ project: 'demo', status: 'pending' }, null, 10)).toEqual(['Shop']);
    expect(await names({ status: 'accepted' }, null, 10)).toEqual(['Bank']);
    await expect(names({ project: 'none' }, null, 10)).rejects.toMatchObject(rejected('project-not-found'));

    const other = await world.container.get(ManageProjects).create('operator', {
      name: 'Other',
      slug: 'other',
      environment: 'dev',
      paymentType: 'prepaid',
      spendingThreshold: null,
      trialPhoneNumber: null,
      settings: {},
    });
    expect(await names({ project: other.project.id }, null, 10)).toEqual([]);
  });
});
