import { describe, expect, it } from 'vitest';
import { RetainCampaigns } from '../../src/application/retention/retain-campaigns.ts';
import { RetainMessages } from '../../src/application/retention/retain-messages.ts';
import { RetainReports } from '../../src/application/retention/retain-reports.ts';
import { RetainWebhooks } from '../../src/application/retention/retain-webhooks.ts';
import { SLICE_ROWS_FIRST, Slices } from '../../src/application/retention/slices.ts';
import type { Retention } from '../../src/domain/access/retention.ts';
import type { Campaign } from '../../src/domain/campaigns/campaign.ts';
import type { Message } from '../../src/domain/messages/message.ts';
import { newReport } from '../../src/domain/reports/report.ts';
import {
  aCampaign,
  aDeliveryReport,
  aMessage,
  aNewAccount,
  anAttempt,
  anId,
  aPhoneNumber,
  aProject,
  aRecipient,
  aWebhookEvent,
  NOW,
  PROJECT_ID,
} from '../support/builders.ts';
import { uncancelled } from '../support/uncancelled.ts';
import { type Storage, storageOfSuite } from './storage.ts';

const DAY_MS = 86_400_000;
const OLD = NOW - 91 * DAY_MS;
const OTHER_PROJECT_ID = '664abc000000000000000002';
const anonymise: Retention = { days: 90, action: 'anonymise' };
const remove: Retention = { days: 90, action: 'remove' };

const anOldMessage = (index: number, given: Partial<Message> = {}): Message =>
  aMessage({
    smsId: `sms-${anId(index)}`,
    createdAt: OLD + index,
    status: 'delivered',
    isFinal: true,
    finalAt: OLD + index,
    attempts: [anAttempt({ state: 'delivered', providerMessageIds: ['meta/1'], startedAt: OLD })],
    deliveryReport: aDeliveryReport(),
    errorReason: 'No handset 9647712345678',
    ...given,
  });

/** What retention does to every table, on each database. */
export function retentionContract(open: () => Promise<Storage>): void {
  const suite = storageOfSuite(open);
  const { run, read } = suite;
  const clock = { now: () => NOW };
  const slicesOf = (signal = new AbortController().signal, onPause: () => unknown = () => {}) =>
    new Slices(
      {
        clock,
        sliceBudget: { workMs: 15, rowsMax: 1_000 },
        sliceDelay: uncancelled((over) => {
          void Promise.resolve(onPause()).then(() => setImmediate(over));
        }),
      },
      signal,
    );
  const ports = () => ({ unitOfWork: suite.unitOfWork, clock });

  const insertProject = (retention: Retention | null, id = PROJECT_ID) =>
    run(async ({ projects, accounts }) => {
      await projects.insert([aProject({ id, slug: id, settings: { retention } })]);
      await accounts.insert([aNewAccount({ projectId: id })]);
    });
  const setRetention = (retention: Retention | null) =>
    run(async ({ projects }) => {
      const [project] = await projects.lock([PROJECT_ID]);
      if (project === undefined) throw new Error('There is no project');
      await projects.save([{ ...project, settings: { ...project.settings, retention } }]);
    });
  const insertMessages = (...messages: readonly Message[]) =>
    run((stores) => stores.messages.insert(messages));
  const retain = (slices = slicesOf()) => new RetainMessages(ports()).execute(PROJECT_ID, slices);
  const found = (index: number) => read(({ messages }) => messages.find(PROJECT_ID, `sms-${anId(index)}`));

  describe('retention of messages', () => {
    it('retention anonymises what is old, and leaves what is young as it is', async () => {
      await insertProject(anonymise);
      const young = anOldMessage(2, { createdAt: NOW - 90 * DAY_MS });
      await insertMessages(anOldMessage(1), young);
      expect(await retain()).toEqual({ anonymised: 1, removed: 0 });
      expect(await found(1)).toEqual({
        ...anOldMessage(1),
        phoneNumber: '0000000000',
        phoneNumberAsSent: '0000000000',
        content: { smsType: 'verification', verificationCode: '' },
        attempts: [anAttempt({ state: 'delivered', startedAt: OLD })],
        deliveryReport: null,
        errorReason: null,
      });
      expect(await found(2)).toEqual(young);
    });

    it('retention removes what is old, and nothing of another project', async () => {
      await insertProject(remove);
      await insertMessages(anOldMessage(1), anOldMessage(2, { projectId: OTHER_PROJECT_ID }));
      expect(await retain()).toEqual({ anonymised: 0, removed: 1 });
      expect(await found(1)).toBeNull();
      expect(await read(({ messages }) => messages.find(OTHER_PROJECT_ID, `sms-${anId(2)}`))).not.toBeNull();
    });

    it('retention does nothing once it is switched off', async () => {
      await insertProject(null);
      await insertMessages(anOldMessage(1));
      expect(await retain()).toEqual({ anonymised: 0, removed: 0 });
      expect(await found(1)).toEqual(anOldMessage(1));
    });

    it('a message that is not over waits, and goes in a later run', async () => {
      await insertProject(remove);
      const pending = anOldMessage(1, { status: 'sent', isFinal: false });
      await insertMessages(pending, anOldMessage(2), anOldMessage(3));
      const event = aWebhookEvent({ orderingKey: `sms-${anId(2)}` });
      await run(({ webhookEvents }) => webhookEvents.insert([event]));
      expect(await retain()).toEqual({ anonymised: 0, removed: 1 });
      expect(await found(1)).toEqual(pending);
      expect(await found(2)).toEqual(anOldMessage(2));
      expect(await retain()).toEqual({ anonymised: 0, removed: 0 });

      await run(async ({ messages, webhookEvents }) => {
        await messages.save([anOldMessage(1)]);
        await webhookEvents.save([{ ...event, state: 'delivered', nextAttemptAt: null }]);
      });
      expect(await retain()).toEqual({ anonymised: 0, removed: 2 });
      expect(await found(1)).toBeNull();
      expect(await read(({ retention }) => retention.waiting(PROJECT_ID, null, 10))).toEqual([]);
    });

    it('a message waits for the end of its campaign', async () => {
      await insertProject(remove);
      const campaign = aCampaign({ status: 'running', startedAt: OLD, totalRecipients: 1 });
      await run(({ campaigns }) => campaigns.insert([campaign]));
      await insertMessages(anOldMessage(1, { campaignId: campaign.id }));
      expect(await retain()).toEqual({ anonymised: 0, removed: 0 });
      await run(({ campaigns }) =>
        campaigns.save([{ ...campaign, status: 'completed', completedAt: OLD, sentCount: 1 }]),
      );
      expect(await retain()).toEqual({ anonymised: 0, removed: 1 });
    });

    it('retention goes on where a run was ended, in slices', async () => {
      await insertProject(anonymise);
      const count = SLICE_ROWS_FIRST * 3 + 1;
      await insertMessages(...Array.from({ length: count }, (_, index) => anOldMessage(index + 1)));
      const running = new AbortController();
      const first = await retain(slicesOf(running.signal, () => running.abort()));
      // The slice before it found that none waits.
      expect(first).toEqual({ anonymised: SLICE_ROWS_FIRST * 2, removed: 0 });
      expect(await retain()).toEqual({ anonymised: count - SLICE_ROWS_FIRST * 2, removed: 0 });
      expect(await retain()).toEqual({ anonymised: 0, removed: 0 });
    });

    it('what was anonymised is removed when the project removes from now on', async () => {
      await insertProject(anonymise);
      await insertMessages(anOldMessage(1));
      await retain();
      await setRetention(remove);
      expect(await retain()).toEqual({ anonymised: 0, removed: 1 });
    });

    it.each([anonymise, remove])(
      'what was accepted under a clock that was behind goes with the next run, with %o',
      async (retention) => {
        await insertProject(retention);
        const open = anOldMessage(1, { createdAt: OLD - 2, status: 'sent', isFinal: false, finalAt: null });
        await insertMessages(open, anOldMessage(2), anOldMessage(3));
        await retain();
        await insertMessages(anOldMessage(4, { createdAt: 0 }), anOldMessage(5, { createdAt: OLD - 1 }));
        const count = (await retain())[retention.action === 'remove' ? 'removed' : 'anonymised'];
        // Those that are anonymised already are so once more.
        expect(count).toBe(retention.action === 'remove' ? 2 : 4);
        const numbers = await Promise.all([1, 4, 5].map(async (index) => (await found(index))?.phoneNumber));
        const gone = retention.action === 'remove' ? undefined : '0000000000';
        expect(numbers).toEqual(['9647712345678', gone, gone]);
        expect(await retain()).toEqual({ anonymised: 0, removed: 0 });
      },
    );

    it('a slice that fails changes neither messages nor its place', async () => {
      await insertProject(remove);
      await insertMessages(anOldMessage(1));
      const broken = {
        clock,
        unitOfWork: {
          ...ports().unitOfWork,
          run: <T>(work: Parameters<typeof run<T>>[0]) =>
            run(async (stores) => {
              await work(stores);
              throw new Error('killed');
            }),
        } as never,
      };
      await expect(new RetainMessages(broken).execute(PROJECT_ID, slicesOf())).rejects.toThrow('killed');
      expect(await found(1)).toEqual(anOldMessage(1));
      expect(await retain()).toEqual({ anonymised: 0, removed: 1 });
    });
  });

  describe('retention of campaigns', () => {
    const campaign = aCampaign({
      status: 'completed',
      startedAt: OLD,
      completedAt: OLD,
      totalRecipients: 2,
      sentCount: 2,
    });
    const recipients = [0, 1].map((position) =>
      aRecipient({
        id: anId(position + 1),
        campaignId: campaign.id,
        position,
        phoneNumber: aPhoneNumber(`964770123456${position}`),
        status: 'sent',
        errorMessage: 'No handset',
      }),
    );
    const retainCampaigns = (slices = slicesOf()) => new RetainCampaigns(ports()).execute(PROJECT_ID, slices);

    it('the recipients of an old campaign lose their numbers, and its sums stay', async () => {
      await insertProject(remove);
      await run(async (stores) => {
        await stores.campaigns.insert([campaign]);
        await stores.recipients.insert(recipients);
      });
      expect(await retainCampaigns()).toBe(2);
      expect(await read((stores) => stores.recipients.ofCampaign(campaign.id))).toEqual(
        recipients.map((recipient, index) => ({
          ...recipient,
          phoneNumber: index === 0 ? 'mmkcaagggggggggggggggggh' : 'mmkcaagggggggggggggggggi',
          phoneNumberAsSent: '0000000000',
          templateParameters: {},
          errorMessage: null,
        })),
      );
      const [sums] = await read(({ campaigns }) => campaigns.audit());
      expect(sums?.recipients.totalRecipients).toBe(2);
      expect(await retainCampaigns()).toBe(0);
    });

    it('the recipients of a campaign that ended a moment ago keep their numbers', async () => {
      await insertProject(remove);
      await run(async (stores) => {
        await stores.campaigns.insert([{ ...campaign, completedAt: NOW - 90 * DAY_MS }]);
        await stores.recipients.insert(recipients);
      });
      expect(await retainCampaigns()).toBe(0);
      expect(await read((stores) => stores.recipients.ofCampaign(campaign.id))).toEqual(recipients);
    });
  });

  describe('retention of campaigns that changes while it runs', () => {
    const count = SLICE_ROWS_FIRST + 1;
    const ended = (index: number, given: Partial<Campaign> = {}) =>
      aCampaign({
        id: anId(900 + index),
        status: 'completed',
        startedAt: OLD,
        completedAt: OLD + index,
        totalRecipients: count,
        sentCount: count,
        ...given,
      });
    const recipientsOf = (campaignId: string) =>
      Array.from({ length: count }, (_, position) =>
        aRecipient({
          id: anId(position + 1),
          campaignId,
          position,
          phoneNumber: aPhoneNumber(`96477000000${String(position).padStart(2, '0')}`),
          status: 'sent',
        }),
      );
    const retainCampaigns = (slices: Slices) => new RetainCampaigns(ports()).execute(PROJECT_ID, slices);

    it('recipients keep their numbers once retention is switched off', async () => {
      await insertProject(remove);
      const campaign = ended(1);
      await run(async (stores) => {
        await stores.campaigns.insert([campaign]);
        await stores.recipients.insert(recipientsOf(campaign.id));
      });
      expect(await retainCampaigns(slicesOf(undefined, () => setRetention(null)))).toBe(SLICE_ROWS_FIRST);
      await setRetention(remove);
      // The campaign begins anew: all its recipients are treated again.
      expect(await retainCampaigns(slicesOf())).toBe(count);
      expect(await retainCampaigns(slicesOf())).toBe(0);
    });

    it('a run that is ended reads no further campaign', async () => {
      await insertProject(remove);
      const reserved = ended(1, { sentCount: 0, deliveredCount: 0 });
      const due = ended(2);
      await run(async (stores) => {
        await stores.campaigns.insert([reserved, due]);
        await stores.recipients.insert(recipientsOf(due.id));
      });
      const running = new AbortController();
      expect(await retainCampaigns(slicesOf(running.signal, () => running.abort()))).toBe(0);
      expect(await retainCampaigns(slicesOf())).toBe(count);
    });
  });

  describe('retention of reports', () => {
    it('reports keep their files once retention is switched off while it runs', async () => {
      await insertProject(remove);
      const selection = {
        from: 0,
        to: NOW,
        filters: { startDate: '2025-01-01', endDate: '2026-01-01', phoneNumbers: [], statuses: [] },
      };
      const reports = Array.from({ length: SLICE_ROWS_FIRST + 1 }, (_, index) => ({
        ...newReport(
          { id: anId(index + 1), fileId: String(index).padStart(40, 'f') },
          { id: PROJECT_ID, slug: 'demo' },
          selection,
          OLD + index,
        ),
        recordCount: 1,
      }));
      await run((stores) => stores.reports.insert(reports));
      const slices = slicesOf(undefined, () => setRetention(null));
      await new RetainReports(ports()).execute(PROJECT_ID, slices);
      const after = await read((stores) => stores.reports.find(reports.map(({ id }) => id)));
      expect(after.filter(({ deletedAt }) => deletedAt === null).map(({ id }) => id)).toEqual([
        anId(SLICE_ROWS_FIRST + 1),
      ]);
    });

    it('an old report loses its file and the numbers of its filters', async () => {
      await insertProject(remove);
      const selection = {
        from: 0,
        to: NOW,
        filters: {
          startDate: '2025-01-01',
          endDate: '2026-01-01',
          phoneNumbers: ['9647701234567'],
          statuses: [],
        },
      };
      const [old, young] = [OLD, NOW - 90 * DAY_MS].map((createdAt, index) => ({
        ...newReport(
          { id: anId(index + 1), fileId: String(index).padStart(40, 'f') },
          { id: PROJECT_ID, slug: 'demo' },
          selection,
          createdAt,
        ),
        recordCount: 1,
      }));
      if (old === undefined || young === undefined) throw new Error('There are two reports');
      await run(({ reports }) => reports.insert([old, young]));
      await new RetainReports(ports()).execute(PROJECT_ID, slicesOf());
      expect(await read(({ reports }) => reports.find([old.id, young.id]))).toEqual([
        { ...old, deletedAt: NOW, updatedAt: NOW, filters: { ...selection.filters, phoneNumbers: [] } },
        young,
      ]);
      const next = await read(({ jobs }) => jobs.nextDue());
      expect(next).toEqual({ id: `reports/${old.id}/remove`, dueAt: NOW });
    });
  });

  describe('retention of webhook events', () => {
    it('events that are over go with the messages of their project, or after the days of the log', async () => {
      const eight: Retention = { days: 8, action: 'anonymise' };
      const event = (index: number, days: number, given: object = {}) =>
        aWebhookEvent({
          id: anId(index),
          orderingKey: `sms-${anId(index)}`,
          state: 'delivered',
          nextAttemptAt: null,
          createdAt: NOW - days * DAY_MS - 1,
          ...given,
        });
      const events = [
        event(1, 8),
        event(2, 7),
        event(3, 8, { projectId: OTHER_PROJECT_ID }),
        event(4, 15, { projectId: OTHER_PROJECT_ID }),
        event(5, 15, { state: 'pending', nextAttemptAt: NOW }),
      ];
      await run(async ({ webhookEvents, webhookAttempts }) => {
        await webhookEvents.insert(events);
        await webhookAttempts.insert(
          events.map(({ id, orderingKey }) => ({
            orderingKey,
            eventId: id,
            attemptNumber: 1,
            startedAt: OLD,
            durationMs: 1,
            status: 500,
            error: 'HTTP 500',
            response: 'No handset 9647712345678',
          })),
        );
      });
      await insertProject(eight);
      await new RetainWebhooks(ports()).execute(new Map([[PROJECT_ID, eight]]), slicesOf());
      const left = await run(({ webhookEvents }) => webhookEvents.lock(events.map(({ id }) => id)));
      expect(left.map(({ id }) => id)).toEqual([anId(2), anId(3), anId(5)]);
      const keys = events.map(({ orderingKey }) => orderingKey);
      const attempts = await read(({ webhookAttempts }) => webhookAttempts.ofOrderingKeys(keys, 9));
      expect(attempts.map(({ length }) => length)).toEqual([0, 1, 1, 0, 1]);
    });

    it('events stay as long as the setting of their slice says, whatever it was at the start', async () => {
      const eight: Retention = { days: 8, action: 'anonymise' };
      await insertProject(eight);
      const events = Array.from({ length: SLICE_ROWS_FIRST + 1 }, (_, index) =>
        aWebhookEvent({
          id: anId(index + 1),
          orderingKey: `sms-${anId(index + 1)}`,
          state: 'delivered',
          nextAttemptAt: null,
          createdAt: NOW - 9 * DAY_MS + index,
        }),
      );
      await run(({ webhookEvents }) => webhookEvents.insert(events));
      const slices = slicesOf(undefined, () => setRetention(null));
      await new RetainWebhooks(ports()).execute(new Map([[PROJECT_ID, eight]]), slices);
      const left = await run(({ webhookEvents }) => webhookEvents.lock(events.map(({ id }) => id)));
      expect(left.map(({ id }) => id)).toEqual([anId(SLICE_ROWS_FIRST + 1)]);
    });
  });
}
