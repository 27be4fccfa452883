import { expect, it } from 'vitest';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import {
  attach,
  BODY,
  dataOf,
  NUMBER_ID,
  NUMBERS,
  post,
  read,
  recipient,
  started,
  startWithCampaigns,
  TEMPLATE_ID,
} from '../support/campaigns.ts';
import {
  channelsOf,
  MetaAccount,
  SEED_ACCOUNT_ID,
  SEED_PHONE_ID,
  seedWithAccount,
} from '../support/meta-account.ts';
import { startService } from '../support/running-service.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const [NUMBER] = NUMBERS;

/** `order_update` in Arabic, which takes two parameters; in English it takes one. */
const arabic = (status: string) => ({
  name: 'order_update',
  category: 'MARKETING',
  status,
  language: 'ar',
  components: [{ type: 'BODY', text: 'مرحبا {{1}}، طلبك {{2}} في الطريق.' }],
});
const IN_ARABIC = {
  to: NUMBER,
  template: {
    name: 'order_update',
    language: { code: 'ar' },
    components: [
      {
        type: 'body',
        parameters: [
          { type: 'text', text: 'ليلى' },
          { type: 'text', text: 'A-17' },
        ],
      },
    ],
  },
};

const languageOf = (message: Readonly<Record<string, unknown>>) =>
  (message as { template: { language: { code: string } } }).template.language.code;

/** A live project with `order_update` in English and in Arabic, both approved, in this order. */
async function open() {
  const meta = await MetaAccount.open();
  meta.templateStatus = 'APPROVED';
  meta.moreTemplates = [arabic('APPROVED')];
  const service = await startService({ seed: seedWithAccount(), channels: channelsOf({ meta }) });
  await service.advance(0);
  return { meta, service };
}

/** Starts a campaign of the Arabic template, and sends nothing yet. */
async function startedInArabic(service: Harness): Promise<string> {
  const { body } = await service.request('/whatsapp/resources');
  const account = (
    body as {
      data: { businesses: { whatsappAccounts: { templates: { id: string; language: string }[] }[] }[] };
    }
  ).data.businesses[0]?.whatsappAccounts[0];
  const templateId = account?.templates.find(({ language }) => language === 'ar')?.id;
  const { _id } = dataOf(await post(service, '', { ...BODY, templateId }));
  dataOf(await attach(service, _id, [recipient(NUMBER, { body: { 1: 'ليلى', 2: 'A-17' } })]));
  dataOf(await post(service, `/${_id}/start`));
  return _id;
}

it('a campaign goes out in the language of its template, also when another language has the same name', async () => {
  const { meta, service } = await open();
  const id = await startedInArabic(service);
  await service.advance(0);
  expect(meta.peer.messages()).toMatchObject([IN_ARABIC]);
  expect(await read(service, id)).toMatchObject({ category: 'MARKETING', sentCount: 1, reservedAmount: 90 });
});

it('a campaign whose template is paused on its way fails, and does not go out in another language of the name', async () => {
  const { meta, service } = await open();
  meta.fails = ({ method }) => method === 'POST';
  const id = await startedInArabic(service);
  await service.advance(0);
  meta.moreTemplates = [arabic('PAUSED')];
  // Resources are fetched after an hour, and what waits is tried within ten minutes.
  await service.advance(HOUR_MS + 11 * MINUTE_MS);
  expect(await read(service, id)).toMatchObject({
    status: 'failed',
    errorMessage: 'The template does not exist, or is not approved',
    failedCount: 1,
    billingStatus: 'released',
  });
  expect(new Set(meta.peer.messages().map(languageOf))).toEqual(new Set(['ar']));
  await service.assertQuiet();
});

it('a message of a campaign that was stored with the name of its template only is sent as before', async () => {
  const { meta, service } = await open();
  meta.fails = ({ method }) => method === 'POST';
  const id = await startedInArabic(service);
  await service.advance(0);
  const [{ smsId = '' } = {}] = (await read(service, id)).recipients;
  await service.service.roots.unitOfWork.run(async ({ messages, retention }) => {
    const [message] = await messages.lock([smsId]);
    if (message === undefined) throw new Error('The recipient has a message');
    const { templateId: _, ...whatsappSender } = message.whatsappSender;
    // Of all stores only that of the retention writes the sender of a stored message again.
    await retention.anonymiseMessages([{ ...message, whatsappSender }]);
  });
  meta.fails = () => false;
  await service.advance(MINUTE_MS);
  expect(meta.peer.messages().map(languageOf)).toEqual(['ar', 'en']);
  expect(await read(service, id)).toMatchObject({ sentCount: 1 });
});

it('a template that is sent one by one is the first approved one of its name', async () => {
  const { meta, service } = await open();
  const { status } = await service.request('/sms', {
    body: {
      phoneNumber: NUMBER,
      smsType: 'whatsapp-template',
      templateName: 'order_update',
      whatsappAccountId: SEED_ACCOUNT_ID,
      whatsappPhoneId: SEED_PHONE_ID,
      templateParameters: { body: { 1: 'Layla' } },
    },
  });
  await service.advance(0);
  expect([status, meta.peer.messages().map(languageOf)]).toEqual([200, ['en']]);
});

it('a campaign of a dev project shows in the inbox which template it sent', async () => {
  const service = await startWithCampaigns();
  await started(service, [NUMBER]);
  await service.settle();
  expect(service.inbox.all()).toMatchObject([
    { whatsappSender: { phoneId: NUMBER_ID, templateName: 'order_update', templateId: TEMPLATE_ID } },
  ]);
});
