import { describe, expect, it } from 'vitest';
import { newReport, type Report, type ReportSelection } from '../../src/domain/reports/report.ts';
import { iqd } from '../../src/domain/shared/money.ts';
import { aMessage, aNewAccount, anId, aPhoneNumber, aProject, NOW, PROJECT_ID } from '../support/builders.ts';
import { type Storage, storageOfSuite } from './storage.ts';

const OTHER_PROJECT_ID = '664abc000000000000000002';
const DAY_MS = 86_400_000;
const PAGE = { page: 1, limit: 50 };
const EXISTS = /unique|duplicate/i;

const selection: ReportSelection = {
  from: 1,
  to: Number.MAX_SAFE_INTEGER,
  filters: {
    startDate: '2030-01-01',
    endDate: '2030-01-31T10:00:00+03:00',
    phoneNumbers: ['+9647701234567', '07701234567'],
    statuses: ['sent', 'failed'],
  },
};

const aReport = (index: number, given: Partial<Report> = {}): Report => ({
  ...newReport(
    { id: anId(index), fileId: String(index).padStart(40, 'f') },
    { id: PROJECT_ID, slug: 'demo' },
    selection,
    NOW + index,
  ),
  ...given,
});

/** As lists have it. */
function summaryOf(report: Report | undefined) {
  const { filters: _, ...summary } = report ?? aReport(0);
  return summary;
}

/** What every report store promises, and the message store about reports. */
export function reportStoreContract(open: () => Promise<Storage>): void {
  const { run, read } = storageOfSuite(open);

  const insert = (...reports: readonly Report[]) =>
    run(async (stores) => {
      for (const id of [PROJECT_ID, OTHER_PROJECT_ID]) {
        await stores.projects.insert([aProject({ id, slug: id })]);
        await stores.accounts.insert([aNewAccount({ projectId: id })]);
      }
      await stores.reports.insert(reports);
    });

  describe('the report store', () => {
    it('the report store returns a report as it was inserted, by its id and by its file', async () => {
      const [made, deleted] = [
        aReport(1, { recordCount: 0 }),
        aReport(2, { recordCount: 7, updatedAt: NOW + 9, deletedAt: NOW + 8 }),
      ];
      await insert(deleted, made);
      expect(await read(({ reports }) => reports.find([made.id, deleted.id, anId(9)]))).toEqual([
        made,
        deleted,
      ]);
      expect(await run(({ reports }) => reports.lock([deleted.id, made.id]))).toEqual([made, deleted]);
      expect(await read(({ reports }) => reports.ofFile(deleted.fileId))).toEqual(deleted);
      expect(await read(({ reports }) => reports.ofFile('0'.repeat(40)))).toBeNull();
    });

    it('the report store rejects an id and a file that exist', async () => {
      await insert(aReport(1));
      await expect(run(({ reports }) => reports.insert([aReport(1, { fileId: '1' })]))).rejects.toThrow(
        EXISTS,
      );
      const sameFile = aReport(2, { fileId: aReport(1).fileId });
      await expect(run(({ reports }) => reports.insert([sameFile]))).rejects.toThrow(EXISTS);
    });

    it('the report store saves the count, the change and the deletion, and nothing else', async () => {
      const report = aReport(1);
      await insert(report);
      const saved = { ...report, recordCount: 5, updatedAt: NOW + 7, deletedAt: NOW + 7 };
      await run(({ reports }) => reports.save([{ ...saved, fileName: 'another' }]));
      expect(await read(({ reports }) => reports.find([report.id]))).toEqual([saved]);
    });

    it('the report store tells which reports of a project were requested after an instant, how large they are, and what is still to be made', async () => {
      await insert(
        aReport(1),
        aReport(2),
        aReport(3, { recordCount: 0 }),
        aReport(4, { deletedAt: NOW }),
        aReport(5, { projectId: OTHER_PROJECT_ID }),
        aReport(6, { recordCount: 7 }),
        aReport(7, { recordCount: 7, deletedAt: NOW }),
      );
      expect(await read(({ reports }) => reports.requested(PROJECT_ID, NOW + 1))).toEqual([
        { requestedAt: NOW + 2, records: 0, isUnmade: true },
        { requestedAt: NOW + 3, records: 0, isUnmade: false },
        { requestedAt: NOW + 4, records: 0, isUnmade: false },
        { requestedAt: NOW + 6, records: 7, isUnmade: false },
        { requestedAt: NOW + 7, records: 0, isUnmade: false },
      ]);
      expect(await read(({ reports }) => reports.requested(anId(99), 0))).toEqual([]);
    });

    it('the report store lists the made reports of a project in pages, the newest first', async () => {
      const made = [1, 2, 3].map((index) => aReport(index, { recordCount: index }));
      await insert(...made, aReport(4), aReport(5, { recordCount: 5, projectId: OTHER_PROJECT_ID }));
      const [first, second, third] = made;
      const all = { statuses: [], now: NOW };
      expect(await read(({ reports }) => reports.list(PROJECT_ID, all, PAGE))).toEqual(
        [third, second, first].map(summaryOf),
      );
      expect(await read(({ reports }) => reports.list(PROJECT_ID, all, { page: 2, limit: 2 }))).toEqual([
        summaryOf(first),
      ]);
    });

    it('the report store filters by the status that a report has now', async () => {
      const now = NOW + 30 * DAY_MS + 2;
      const made = [
        aReport(1, { recordCount: 1 }),
        aReport(2, { recordCount: 1 }),
        aReport(3, { recordCount: 1 }),
        aReport(4, { recordCount: 1, deletedAt: NOW + 5 }),
      ];
      await insert(...made);
      const idsOf = async (...statuses: ('available' | 'expired' | 'deleted')[]) =>
        (await read(({ reports }) => reports.list(PROJECT_ID, { statuses, now }, PAGE))).map(({ id }) => id);
      expect(await idsOf('available')).toEqual([anId(3)]);
      expect(await idsOf('expired')).toEqual([anId(2), anId(1)]);
      expect(await idsOf('deleted')).toEqual([anId(4)]);
      expect(await idsOf('deleted', 'available')).toEqual([anId(4), anId(3)]);
    });
  });

  describe('the messages of a report', () => {
    const message = (index: number, createdAt: number, projectId = PROJECT_ID) =>
      aMessage({ smsId: `sms-${anId(index)}`, projectId, createdAt });
    const idsOf = async (request: { from: number; to: number; limit?: number }) => {
      const pages: string[][] = [];
      for (let after: { createdAt: number; smsId: string } | null = null; ; ) {
        const page = await read(({ messages }) =>
          messages.reported({ projectId: PROJECT_ID, limit: 100, ...request, after }),
        );
        if (page.length === 0) return pages;
        pages.push(page.map(({ smsId }) => smsId.slice(-1)));
        after = page.at(-1) ?? null;
      }
    };

    it('the message store says when the newest message of all projects was created', async () => {
      await insert();
      expect(await read(({ messages }) => messages.newestAt())).toBeNull();
      await run(({ messages }) =>
        messages.insert([message(1, NOW + 7), message(2, NOW + 9, OTHER_PROJECT_ID), message(3, NOW + 8)]),
      );
      expect(await read(({ messages }) => messages.newestAt())).toBe(NOW + 9);
    });

    it('the message store names the open messages of all projects that were created after an instant', async () => {
      await insert();
      const ended = { ...message(4, NOW + 9), isFinal: true };
      await run(({ messages }) =>
        messages.insert([message(1, NOW), message(2, NOW + 1, OTHER_PROJECT_ID), message(3, NOW + 1), ended]),
      );
      const open = await read(({ messages }) => messages.openSince(NOW));
      expect([...open].sort()).toEqual([`sms-${anId(2)}`, `sms-${anId(3)}`]);
    });

    it('messages come in pages in the order of creation and then of their ids, each once', async () => {
      await run(({ messages }) =>
        messages.insert([
          message(5, NOW),
          message(3, NOW),
          message(4, NOW),
          message(1, NOW + 1),
          message(2, NOW - 1),
        ]),
      );
      expect(await idsOf({ from: 0, to: NOW + 9, limit: 2 })).toEqual([['2', '3'], ['4', '5'], ['1']]);
      expect(await idsOf({ from: 0, to: NOW + 9, limit: 5 })).toEqual([['2', '3', '4', '5', '1']]);
    });

    it('both ends of the range are in it, and other projects are not', async () => {
      await run(({ messages }) =>
        messages.insert([
          message(1, NOW - 1),
          message(2, NOW),
          message(3, NOW + 5),
          message(4, NOW + 6),
          message(5, NOW, OTHER_PROJECT_ID),
        ]),
      );
      expect(await idsOf({ from: NOW, to: NOW + 5 })).toEqual([['2', '3']]);
      expect(await idsOf({ from: NOW + 7, to: NOW + 9 })).toEqual([]);
      expect(await idsOf({ from: NOW + 5, to: NOW })).toEqual([]);
    });

    it('a message has what a report says about it', async () => {
      const number = aPhoneNumber('9647701234567');
      const stored = aMessage({
        campaignId: anId(7),
        phoneNumber: number,
        phoneNumberAsSent: '07701234567',
        senderId: 'Souq',
        content: { smsType: 'custom', customMessage: '****' },
        status: 'failed',
        isFinal: true,
        cost: iqd(80.5),
        createdAt: NOW,
        sentAt: NOW + 3,
        errorReason: 'خطأ',
      });
      await run(({ messages }) => messages.insert([stored]));
      expect(
        await read(({ messages }) =>
          messages.reported({ projectId: PROJECT_ID, from: NOW, to: NOW, after: null, limit: 1 }),
        ),
      ).toEqual([
        {
          smsId: stored.smsId,
          campaignId: anId(7),
          phoneNumber: number,
          phoneNumberAsSent: '07701234567',
          senderId: 'Souq',
          smsType: 'custom',
          status: 'failed',
          isFinal: true,
          cost: iqd(80.5),
          createdAt: NOW,
          sentAt: NOW + 3,
          errorReason: 'خطأ',
        },
      ]);
    });
  });
}
