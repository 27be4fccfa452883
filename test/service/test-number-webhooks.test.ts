import { describe, expect, it } from 'vitest';
import { HttpsReceiver } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { startService } from '../support/running-service.ts';
import { verification } from '../support/seeds.ts';

const DAYS_8 = 8 * 24 * 3_600_000;

const withReceiver = hasOpenssl ? describe : describe.skip;
const named = (title: string) => (hasOpenssl ? title : `${title} (skipped: ${OPENSSL_MISSING})`);

/**
 * What a customer is told of a verification over whatsapp, telegram and sms, and the second after the send; the
 * last line of each is final.
 */
const TOLD: Readonly<Record<string, readonly string[]>> = {
  '0001': ['0 whatsapp sent', '1 whatsapp delivered'],
  '0002': ['0 whatsapp sent', '30 whatsapp delivered'],
  '0003': ['0 whatsapp sent', '86460 sms sent'],
  '0004': ['0 whatsapp sent', '1 whatsapp delivered'],
  '0005': ['0 whatsapp sent', '1 whatsapp delivered'],
  '0006': ['0 sms failed'],
  '0007': ['0 telegram sent', '1 telegram delivered'],
  '0008': ['0 whatsapp sent', '1 whatsapp delivered'],
  '0009': ['0 sms sent', '1 sms delivered'],
  '0010': ['0 whatsapp sent', '31 telegram delivered'],
  '0011': ['5 whatsapp sent', '5 whatsapp delivered'],
  '0012': ['0 whatsapp sent', '1 whatsapp delivered'],
  '0013': ['0 whatsapp sent', '1 whatsapp delivered'],
  '0014': ['0 whatsapp sent', '32 whatsapp delivered'],
  '0015': ['0 whatsapp sent', '1 whatsapp delivered'],
  '0016': ['0 telegram sent', '1 telegram delivered'],
};

withReceiver(named('the webhooks of the numbers with a fixed outcome'), () => {
  it.each(Object.entries(TOLD))('a customer is told of a send to 999…%s: %j', async (digits, told) => {
    const receiver = await HttpsReceiver.open();
    const service = await startService({ egress: receiver.egress });
    const sentAt = service.now().getTime() / 1_000;
    const { body } = await service.request('/sms', {
      body: verification(`999123456${digits}`, {
        provider: 'whatsapp-telegram-sms',
        deliveryReport: { webhookUrl: receiver.url(), deliveryReportType: 'all' },
      }),
    });
    const { smsId } = body as { smsId: string };
    await service.advance(DAYS_8);
    const bodies = receiver.bodies();
    const seconds = receiver.requests.map(({ headers }) => Number(headers['webhook-timestamp']) - sentAt);
    expect(bodies.map(({ channel, status }, index) => `${seconds[index]} ${channel} ${status}`)).toEqual(
      told,
    );
    expect(bodies.map(({ isFinal }) => isFinal)).toEqual(told.map((_, index) => index === told.length - 1));
    expect(new Set(bodies.map((each) => each.smsId))).toEqual(new Set([smsId]));
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(told.length);
    await service.assertQuiet();
  });
});
