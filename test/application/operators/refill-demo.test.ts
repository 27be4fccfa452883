import { afterEach, describe, expect, it } from 'vitest';
import { RefillDemo } from '../../../src/application/operators/refill-demo.ts';
import type { Environment } from '../../../src/domain/access/project.ts';
import { iqd, type Money } from '../../../src/domain/shared/money.ts';
import { type ApplicationWorld, aSeedProject, openApplication } from '../../support/application-world.ts';
import { anAccount, aProject, NOW, PROJECT_ID } from '../../support/builders.ts';

const KEY = `sk_dev_${'0123'.repeat(10)}`;

describe('the credit of the demo project', () => {
  let world: ApplicationWorld;
  afterEach(() => world.close());

  async function refill(credit: Money, environment: Environment = 'dev', apiKey = KEY): Promise<boolean> {
    const lowCredit = { amount: iqd(2_000), webhookUrl: 'https://shop.example/credit', webhookSecret: null };
    const project = aProject({ environment, settings: { rateLimit: null, lowCredit } });
    world = await openApplication({ projects: [aSeedProject({ project, credit, apiKeys: [KEY] })] });
    await world.unitOfWork.run(({ accounts }) => accounts.setLowCreditNoticedAt([PROJECT_ID], NOW - 1));
    return world.container.get(RefillDemo).execute(apiKey);
  }
  const records = () =>
    world.unitOfWork.read(({ auditLog }) => auditLog.list({ projectId: null, before: null, limit: 10 }));

  it('a demo project with less than 1,000 IQD is filled up to 15,000, recorded as the system, its notice armed again', async () => {
    expect(await refill(iqd(999.5))).toBe(true);

    expect(await world.account()).toEqual(anAccount({ balance: iqd(15_000) }));
    const [record, ...others] = await records();
    expect(others).toEqual([]);
    const audited = { held: 0, spent: 0, isTrial: false };
    expect(record).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      at: NOW,
      actor: 'system',
      action: 'credit-added',
      projectId: PROJECT_ID,
      before: { ...audited, balance: 999.5 },
      after: {
        ...audited,
        balance: 15_000,
        amount: 14_000.5,
        reason: 'the demo project had little credit left',
      },
    });
    const entries = await world.unitOfWork.read(({ ledger }) => ledger.byIds([`${record?.id}/deposit`]));
    expect(entries).toMatchObject([{ balanceDelta: iqd(14_000.5), createdAt: NOW }]);

    expect(await world.container.get(RefillDemo).execute(KEY)).toBe(false);
    expect(await records()).toHaveLength(1);
  });

  it('a demo project with 1,000 IQD has enough', async () => {
    expect(await refill(iqd(1_000))).toBe(false);
    expect(await world.account()).toMatchObject({ balance: iqd(1_000), lowCreditNoticedAt: NOW - 1 });
  });

  it.each<[what: string, environment: Environment, apiKey: string]>([
    ['a live project', 'live', KEY],
    ['a key of no project', 'dev', KEY.replace('0123', '3210')],
  ])('%s gets no credit', async (_, environment, apiKey) => {
    expect(await refill(iqd(0), environment, apiKey)).toBe(false);
    expect((await world.account()).balance).toBe(0);
    expect(await records()).toEqual([]);
  });
});
