import { setTimeout as sleep } from 'node:timers/promises';
import { readSeed } from '../../src/bootstrap/config/seed-file.ts';
import type { NewRecipient } from '../../src/domain/campaigns/recipient.ts';
import { GROUP_MS } from '../../src/domain/campaigns/sending-rate.ts';
import type { PhoneNumber } from '../../src/domain/shared/phone-number.ts';
import { serve } from '../../test/support/child-process.ts';
import { LOAD_NUMBER_ID, LOAD_TEMPLATE_ID, whatsappLoadSeed } from '../../test/support/load-seed.ts';
import { startLoadService } from '../../test/support/load-service.ts';

/** The service as the environment configures it, with one rich project that runs campaigns. */

const POLL_MS = 5;

const seed = whatsappLoadSeed();
const submittedAt: number[] = [];
const { service, port } = await startLoadService({
  seed,
  onSubmission: () => submittedAt.push(performance.now()),
});
const { manageCampaigns, attachRecipients, startCampaigns, browseCampaigns } = service.roots;
const project = readSeed(seed).projects[0]?.project;
if (project === undefined) throw new Error('The seed has a project');

const handlers = {
  /** Milliseconds from the start of a campaign until its last message was handed to the provider. */
  startToHandOver: async (recipients: number): Promise<number> => {
    const campaignId = await draft(recipients);
    submittedAt.length = 0;
    const startedAt = performance.now();
    await startCampaigns.byHand({ project, campaignId, idempotency: null });
    await until(() => submittedAt.length === recipients);
    const ms = (submittedAt.at(-1) ?? Number.NaN) - startedAt;
    await ended([campaignId]);
    return ms;
  },
  /** Recipients per second from the first start until every recipient of every campaign is final. */
  startsToFinal: async ({ campaigns, recipients }: { campaigns: number; recipients: number }) => {
    const ids: string[] = [];
    for (let index = 0; index < campaigns; index += 1) ids.push(await draft(recipients));
    const startedAt = performance.now();
    await Promise.all(
      ids.map((campaignId) => startCampaigns.byHand({ project, campaignId, idempotency: null })),
    );
    await ended(ids);
    return (campaigns * recipients) / ((performance.now() - startedAt) / 1_000);
  },
  /** Messages per second that the provider was handed of one campaign. */
  sendingRate: async (recipients: number): Promise<number> => {
    const campaignId = await draft(recipients);
    submittedAt.length = 0;
    await startCampaigns.byHand({ project, campaignId, idempotency: null });
    await until(() => submittedAt.length === recipients);
    const [first = 0, last = 0] = [submittedAt[0], submittedAt.at(-1)];
    // The messages of the last group take the time of a group, like those before.
    return recipients / ((last - first + GROUP_MS) / 1_000);
  },
  /** Starts campaigns and resolves at once. */
  start: async ({ campaigns, recipients }: { campaigns: number; recipients: number }): Promise<void> => {
    for (let index = 0; index < campaigns; index += 1) {
      const campaignId = await draft(recipients);
      await startCampaigns.byHand({ project, campaignId, idempotency: null });
    }
  },
};
export type CampaignServiceHandlers = typeof handlers;

serve(port, handlers);
process.on('SIGTERM', () => service.stop().then(() => process.disconnect()));

/** A campaign with that many recipients that has not started. */
async function draft(count: number): Promise<string> {
  if (project === undefined) throw new Error('The seed has a project');
  const { id: campaignId } = await manageCampaigns.create(project, {
    name: 'Bench',
    templateId: LOAD_TEMPLATE_ID,
    whatsappPhoneId: LOAD_NUMBER_ID,
    scheduleType: null,
    scheduledFor: null,
  });
  const recipients = Array.from({ length: count }, (_, index): NewRecipient => {
    const phoneNumber = `9647${100_000_000 + index}` as PhoneNumber;
    return { phoneNumber, phoneNumberAsSent: phoneNumber, templateParameters: { body: { 1: 'Layla' } } };
  });
  await attachRecipients.execute({ project, campaignId, idempotency: null }, recipients);
  return campaignId;
}

/** Resolves when every recipient of the campaigns was delivered to. */
async function ended(campaignIds: readonly string[]): Promise<void> {
  const page = { page: 1, limit: 1 };
  for (const campaignId of campaignIds) {
    await until(async () => {
      if (project === undefined) return false;
      const { campaign } = await browseCampaigns.detail(
        { project, campaignId },
        { status: null, search: null },
        page,
      );
      return campaign.deliveredCount === campaign.totalRecipients;
    });
  }
}

async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await check())) await sleep(POLL_MS);
}
