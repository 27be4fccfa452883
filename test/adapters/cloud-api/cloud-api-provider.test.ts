import { expect, it } from 'vitest';
import { aText } from '../../support/builders.ts';
import { aStatus, CloudApiPeer, callbackOf, signedCallback, wamidOf } from '../../support/cloud-api-peer.ts';
import { aWhatsappSubmission, cloudApi } from '../../support/cloud-api-world.ts';

it('the Cloud API provider sends a text, and its callback brings the signed receipt under the id that Meta gave', async () => {
  const peer = await CloudApiPeer.open();
  const { provider, callback } = cloudApi({ peer });
  const [result] = await provider.submit([
    aWhatsappSubmission({ content: aText(), text: 'Your parcel has arrived' }),
  ]);
  const providerMessageId = wamidOf('9647712345678');
  expect(result).toEqual({ kind: 'accepted', providerMessageIds: [providerMessageId] });
  expect(peer.messages()).toEqual([
    {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '9647712345678',
      type: 'text',
      text: { preview_url: false, body: 'Your parcel has arrived' },
    },
  ]);
  const content = callbackOf({ statuses: [aStatus(providerMessageId, 'delivered')] });
  expect(await callback.read(signedCallback(JSON.stringify(content)))).toEqual({
    kind: 'events',
    events: [
      {
        kind: 'receipt',
        receipt: { channel: 'whatsapp', providerMessageId, receipt: { kind: 'delivered' } },
      },
    ],
    malformed: 0,
  });
  await provider.close();
});
