import { expect, it } from 'vitest';
import { AesSecretBox } from '../../src/adapters/node/aes-secret-box.ts';
import { inboundEventsOf } from '../../src/bootstrap/commands/webhooks-command.ts';
import { destinationKey } from '../../src/domain/webhooks/destination.ts';
import { startService } from '../support/running-service.ts';
import { seedWith } from '../support/seeds.ts';

const NUMBER_ID = '664def456abc789012345678';
const HOUR = 3_600_000;

it('an event whose secret was sealed under a lost key is discarded at the end of its schedule', async () => {
  const service = await startService({
    seed: seedWith({
      inboundWebhooks: [
        {
          phoneNumberId: NUMBER_ID,
          url: 'https://example.com/inbound',
          secret: `svc_live_sk${'0123456789abcdef'.repeat(4)}`,
        },
      ],
    }),
  });
  const { roots } = service.service;
  const otherBox = new AesSecretBox({ secretKey: Buffer.alloc(32, 9) });
  await roots.unitOfWork.run(async ({ inboundWebhooks }) => {
    const [webhook] = await inboundWebhooks.byWhatsappPhoneIds([NUMBER_ID]);
    if (webhook === undefined) throw new Error('The number is configured');
    await inboundWebhooks.save([{ ...webhook, secret: otherBox.seal('another secret') }]);
  });
  await service.writeTo(NUMBER_ID, '9647709999999', { type: 'text', content: { text: 'hello' } });
  const [event] = await inboundEventsOf(roots, NUMBER_ID);
  if (event === undefined) throw new Error('The message became an event');
  expect(event).toMatchObject({ state: 'pending', attempts: 1, lastError: 'secret-unreadable' });
  await service.advance(49 * HOUR);
  expect((await inboundEventsOf(roots, NUMBER_ID))[0]?.state).toBe('discarded');
  const endpoints = await roots.unitOfWork.read(({ circuitBreakers }) =>
    circuitBreakers.read([destinationKey(event)]),
  );
  expect(endpoints).toEqual(new Map());
  await service.assertQuiet();
});
