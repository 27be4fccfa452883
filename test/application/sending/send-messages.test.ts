import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NoticeLowCredit } from '../../../src/application/billing/notice-low-credit.ts';
import { CurrentPrices } from '../../../src/application/catalog/current-prices.ts';
import { BackgroundWork } from '../../../src/application/concurrency/background-work.ts';
import type { Rejected } from '../../../src/application/errors/rejected.ts';
import { StorageUnavailable } from '../../../src/application/errors/storage-unavailable.ts';
import type { UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import { insertSeedPrices } from '../../../src/application/seed/seed-prices.ts';
import { SendMessages } from '../../../src/application/sending/send-messages.ts';
import {
  COUNTED_SLICE,
  UNTRIED_MESSAGES_MAX,
  UntriedMessages,
} from '../../../src/application/sending/untried-messages.ts';
import { SealWebhook } from '../../../src/application/webhooks/seal-webhook.ts';
import { readConfig } from '../../../src/bootstrap/config/config.ts';
import { buildContainer } from '../../../src/bootstrap/container.ts';
import { adapters, ports } from '../../../src/bootstrap/tokens.ts';
import type { Project } from '../../../src/domain/access/project.ts';
import { depositEntry } from '../../../src/domain/billing/ledger.ts';
import { iqd, money } from '../../../src/domain/shared/money.ts';
import {
  aNewAccount,
  anId,
  aPhoneNumber,
  aProject,
  aSendRequest,
  aTemplateRequest,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  NO_WHATSAPP_SENDER,
  NOW,
  somePrices,
  someSeedPrices,
} from '../../support/builders.ts';
import { Gate } from '../../support/job-collector.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/until.ts';

type Fault = 'before-commit' | 'after-commit';

const PRICE = someSeedPrices().sms.asiaCell;
const NUMBERS = ['9647712345601', '9647712345602', '9647712345603'].map((digits) => aPhoneNumber(digits));

/** SendMessages in its real surroundings, on a database in memory that can be lost once, at either side of a commit. */
function world({ untriedMax = UNTRIED_MESSAGES_MAX, countedSlice = COUNTED_SLICE } = {}) {
  const clock = { at: NOW, now: () => clock.at };
  const container = buildContainer({
    ...readConfig({
      DATABASE_URL: 'sqlite::memory:',
      SMS_PROVIDER: 'simulator',
      WHATSAPP_PROVIDER: 'simulator',
      TELEGRAM_PROVIDER: 'simulator',
    }),
    secretKey: Buffer.alloc(32),
    clock,
    logger: new RecordingLogger(),
  });
  const unitOfWork = container.get(ports.unitOfWork);
  const database = container.get(adapters.database);
  const faults: Fault[] = [];
  const units: number[] = [];
  const gates: { mayWrite: Gate; mayCommit: Gate }[] = [];
  const waits: (() => Promise<void>)[] = [];
  const losing: UnitOfWork = {
    ping: () => unitOfWork.ping(),
    read: (work) => unitOfWork.read(work),
    async run(work, durability) {
      await waits.shift()?.();
      const fault = faults.shift();
      units.push(units.length + 1);
      if (fault === 'before-commit') throw new StorageUnavailable(new Error('lost before'));
      const held = gates.shift();
      const result = await unitOfWork.run(async (stores) => {
        if (held === undefined) return work(stores);
        const { jobs } = stores;
        const slow = new Proxy(jobs, {
          get: (target, name) =>
            name === 'add'
              ? async (...added: Parameters<typeof jobs.add>) => {
                  await held.mayWrite.opened;
                  await jobs.add(...added);
                }
              : Reflect.get(target, name).bind(target),
        });
        const written = await work({ ...stores, jobs: slow });
        await held.mayCommit.opened;
        return written;
      }, durability);
      if (fault === 'after-commit') throw new StorageUnavailable(new Error('lost after'));
      return result;
    },
  };
  const project = aProject();
  return {
    database,
    unitOfWork,
    faults,
    units,
    sendMessages: new SendMessages({
      unitOfWork: losing,
      currentPrices: container.get(CurrentPrices),
      channelProviders: container.get(ports.channelProviders),
      requestHasher: container.get(ports.requestHasher),
      clock,
      ids: container.get(ports.idSource),
      wakeSignal: { wake() {} },
      noticeLowCredit: container.get(NoticeLowCredit),
      sealWebhook: container.get(SealWebhook),
      untriedMessages: new UntriedMessages({
        unitOfWork,
        background: new BackgroundWork({ logger: new RecordingLogger() }),
        clock,
        untriedMax,
        countedSlice,
      }),
    }),
    project,
    clock,
    /** What happens while the next unit waits to begin. */
    waitFor: (wait: (typeof waits)[number]) => waits.push(wait),
    /** Holds the next unit before it writes its jobs, and before it commits. */
    hold: (held: (typeof gates)[number]) => gates.push(held),
    async prepare(): Promise<void> {
      await database.migrate();
      await unitOfWork.run(async (stores) => {
        await insertSeedPrices(stores, someSeedPrices(), { id: anId(1), now: NOW });
        await stores.projects.insert([project]);
        await stores.whatsapp.replace(project.id, [aWhatsappBusiness()]);
        await stores.accounts.insert([aNewAccount({ projectId: project.id })]);
        await stores.ledger.post([
          depositEntry({ projectId: project.id, reference: 'opening', at: NOW }, money(10 * PRICE)),
        ]);
      });
    },
    async ledgerState() {
      const [account] = await unitOfWork.read((stores) => stores.accounts.byProjectIds([project.id]));
      const messages = await database.knex('messages').select('sms_id').orderBy('sms_id');
      const jobs = await database.knex('jobs').select('id');
      return {
        held: account?.held,
        smsIds: messages.map(({ sms_id: smsId }: { sms_id: string }) => smsId),
        jobs: jobs.length,
      };
    },
  };
}

const toNumber = (project: Project, index: number) => ({
  project,
  request: aSendRequest({ phoneNumber: NUMBERS[index] ?? aPhoneNumber(), provider: 'sms' }),
  idempotency: null,
});

describe('SendMessages', () => {
  let here: ReturnType<typeof world>;

  beforeEach(async () => {
    here = world();
    await here.prepare();
  });

  afterEach(() => here.database.close());

  it.each(['before-commit', 'after-commit'] as const)(
    'SendMessages accepts every send once when the database is lost %s',
    async (fault) => {
      here.faults.push(fault);
      const results = await Promise.all(
        [0, 1, 2].map((index) => here.sendMessages.execute(toNumber(here.project, index))),
      );
      // The batch, and each of its halves.
      expect(here.units).toHaveLength(3);
      expect(await here.ledgerState()).toEqual({
        held: 3 * PRICE,
        smsIds: results.map(({ smsId }) => smsId).sort(),
        jobs: 3,
      });
      expect(results.map(({ cost, replayed }) => ({ cost, replayed }))).toEqual(
        Array.from({ length: 3 }, () => ({ cost: PRICE, replayed: false })),
      );
    },
  );

  it('SendMessages gives each send its own cost when its batch was committed before the database was lost', async () => {
    here.faults.push('after-commit');
    const sms = toNumber(here.project, 0);
    const telegram = { ...sms, request: aSendRequest({ provider: 'telegram' }) };
    const results = await Promise.all([sms, telegram].map((command) => here.sendMessages.execute(command)));
    expect(results.map(({ cost, canCover }) => [cost, canCover])).toEqual([
      [PRICE, true],
      [someSeedPrices().telegram, true],
    ]);
  });

  it('a send that waited for long is priced by the schedule of the instant at which it is accepted', async () => {
    const version = {
      id: '664abc0000000000000000d1',
      effectiveFrom: NOW + 13_000,
      createdAt: NOW,
      actor: 'cli' as const,
      rowCount: 0,
      withdrawnAt: null,
    };
    const [telegram, withdrawn] = [somePrices().telegram, iqd(5_000)];
    await here.unitOfWork.run(async ({ priceVersions }) => {
      await priceVersions.nextRevision();
      await priceVersions.insert(version, somePrices({ telegram: withdrawn }));
    });
    const send = (index: number) =>
      here.sendMessages.execute({
        ...toNumber(here.project, index),
        request: aSendRequest({ provider: 'telegram' }),
      });
    expect((await send(0)).cost).toBe(telegram);
    here.waitFor(async () => {
      await here.unitOfWork.run(async ({ priceVersions }) => {
        await priceVersions.nextRevision();
        await priceVersions.withdraw(version.id, NOW + 1_000);
      });
      here.clock.at = NOW + 14_000;
    });
    expect((await send(1)).cost).toBe(telegram);
  });

  it('SendMessages begins the next batch when one is written, before it is committed, and not earlier', async () => {
    const [mayWrite, mayCommit] = [new Gate(), new Gate()];
    here.hold({ mayWrite, mayCommit });
    const turns = async () => {
      for (let count = 0; count < 20; count += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    const first = here.sendMessages.execute(toNumber(here.project, 0));
    await turns();
    const second = here.sendMessages.execute(toNumber(here.project, 1));
    await turns();
    expect(here.units).toHaveLength(1);
    mayWrite.open();
    await turns();
    expect(here.units).toHaveLength(2);
    mayCommit.open();
    await Promise.all([first, second]);
    expect(await here.ledgerState()).toMatchObject({ held: 2 * PRICE, jobs: 2 });
  });

  it('SendMessages fails every caller when the database stays away, and charges at most once for what may be stored', async () => {
    here.faults.push('after-commit', 'before-commit', 'before-commit');
    const replies = await Promise.allSettled(
      [0, 1].map((index) => here.sendMessages.execute(toNumber(here.project, index))),
    );
    expect(replies.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await here.ledgerState()).toMatchObject({ held: 2 * PRICE, jobs: 2 });
  });

  it.each([
    ['an account', { accountId: aWhatsappAccount().id }],
    ['a phone number', { phoneId: aWhatsappPhoneNumber().id }],
    ['a template', { templateName: 'order_update' }],
  ])('SendMessages reads the whatsapp resources of a code that names %s', async (_, named) => {
    const whatsappSender = { ...NO_WHATSAPP_SENDER, ...named };
    const request = aSendRequest({ provider: 'whatsapp', whatsappSender });
    const send = { ...toNumber(here.project, 0), request };
    expect(await here.sendMessages.execute(send)).toMatchObject({ replayed: false });
    await here.unitOfWork.run((stores) => stores.whatsapp.replace(here.project.id, []));
    await expect(here.sendMessages.execute(send)).rejects.toMatchObject({
      rejection: { kind: expect.stringMatching('not-found') },
    });
  });

  it('SendMessages reads the whatsapp resources of a template', async () => {
    const request = aTemplateRequest({
      whatsappSender: { ...NO_WHATSAPP_SENDER, accountId: aWhatsappAccount().id },
    });
    expect(await here.sendMessages.execute({ ...toNumber(here.project, 0), request })).toMatchObject({
      replayed: false,
    });
  });
});

describe('SendMessages of a project that has as many messages waiting as it may', () => {
  it('SendMessages rejects a new send, and repeats the reply of an accepted one', async () => {
    const here = world({ untriedMax: 1, countedSlice: 1 });
    await here.prepare();
    const key = { route: 'POST /sms', key: 'first', requestHash: 'a'.repeat(64) };
    const first = { ...toNumber(here.project, 0), idempotency: key };
    const accepted = await here.sendMessages.execute(first);
    const rejection = await until(() =>
      here.sendMessages.execute(toNumber(here.project, 1)).then(
        () => null,
        (error: Rejected) => error.rejection,
      ),
    );
    expect(rejection).toEqual({ kind: 'too-many-untried' });
    expect(await here.sendMessages.execute(first)).toEqual({ ...accepted, replayed: true });
    await here.database.close();
  });
});
