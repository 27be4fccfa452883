import { ContainerModule } from 'inversify';
import { describe, expect, it } from 'vitest';
import { SubmissionCapacity } from '../../src/application/attempts/submission-capacity.ts';
import { ports } from '../../src/bootstrap/tokens.ts';
import { HttpsReceiver, respondWith } from '../support/https-receiver.ts';
import { Gate } from '../support/job-collector.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { startService } from '../support/running-service.ts';
import { verification } from '../support/seeds.ts';

const LIMIT = 3;
const SENDS = 8;
const SECOND = 1_000;

const withReceiver = hasOpenssl ? it : it.skip;
const named = (title: string) => (hasOpenssl ? title : `${title} (skipped: ${OPENSSL_MISSING})`);

/** A service whose sms provider never responds. Its submit timeouts expire when the test says so. */
async function start(egress = {}) {
  const timeouts = new Set<() => void>();
  const module = new ContainerModule(({ rebind }) => {
    rebind(SubmissionCapacity).toConstantValue(new SubmissionCapacity({ inFlightMax: LIMIT }));
    rebind(ports.submitTimeout).toConstantValue((expired) => {
      timeouts.add(expired);
      return () => timeouts.delete(expired);
    });
  });
  const service = await startService({ overrides: [module], egress });
  const submitted: string[] = [];
  const full = new Gate();
  service.script(({ smsId, channel }) => {
    if (channel !== 'sms') return { result: 'accepted', receipts: [] };
    submitted.push(smsId);
    if (submitted.length >= LIMIT) full.open();
    return new Promise(() => {});
  });
  return {
    service,
    submitted,
    full,
    expire: () => {
      for (const expired of timeouts) expired();
      timeouts.clear();
    },
  };
}

describe('a provider that hangs', () => {
  withReceiver(
    named('a provider that hangs holds up neither other channels nor webhooks once it is at its limit'),
    async () => {
      const receiver = await HttpsReceiver.open();
      receiver.respond(respondWith(200));
      const { service, submitted, full, expire } = await start(receiver.egress);
      const send = (index: number, more: Record<string, unknown>) =>
        service.request('/sms', { body: verification(`96477000000${10 + index}`, more) });
      for (let index = 0; index < LIMIT; index += 1) await send(index, { provider: 'sms' });
      await full.opened;
      for (let index = LIMIT; index < SENDS; index += 1) await send(index, { provider: 'sms' });
      const { body } = await send(SENDS, {
        provider: 'whatsapp',
        deliveryReport: { webhookUrl: receiver.url('/status'), deliveryReportType: 'all' },
      });
      await service.inbox.next({ channel: 'whatsapp' });
      await receiver.arrived(1);
      expect(receiver.bodies()).toMatchObject([{ smsId: (body as { smsId: string }).smsId, status: 'sent' }]);
      expect(submitted).toHaveLength(LIMIT);
      // The provider comes back: what waited for it is submitted once, and the submissions that hung are not repeated.
      service.script(({ smsId, channel }) => {
        if (channel === 'sms') submitted.push(smsId);
        return null;
      });
      expire();
      await service.advance(20 * SECOND);
      expect(submitted).toHaveLength(SENDS);
      expect(new Set(submitted).size).toBe(SENDS);
    },
  );
});
