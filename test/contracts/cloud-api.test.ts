import { expect, it } from 'vitest';
import { anSmsId, aPhoneNumber, aText } from '../support/builders.ts';
import { accept, aStatus, CloudApiPeer, callbackOf, failWith, wamidOf } from '../support/cloud-api-peer.ts';
import { aWhatsappSubmission, cloudApi } from '../support/cloud-api-world.ts';
import { brokenPromises, type ProviderUnderTest, withCallback } from './channel-provider.contract.ts';

/** What the last digit of a recipient makes Meta do. */
const KINDS = { '1': 'accepted', '2': 'rejected', '3': 'unknown', '4': 'accepted' } as const;
const DIGITS = ['1', '2', '3', '4'] as const;
const PROMPT_MS = 10_000;

it('the Cloud API provider keeps the contract of channel providers, with its receipts as callbacks', async () => {
  const peer = await CloudApiPeer.open();
  let opened = 0;
  const open = (): ProviderUnderTest => {
    opened += 1;
    // Each start has recipients of its own, because the ids of the peer follow from them.
    const numbers = DIGITS.map((digit) => aPhoneNumber(`96477${String(opened).padStart(7, '0')}${digit}`));
    const smsIds = new Map(numbers.map((number, index) => [String(number), anSmsId(100 * opened + index)]));
    const carried: string[] = [];
    peer.behave((request, response, count) => {
      const to = String(request.body?.to);
      carried.push(smsIds.get(to) ?? to);
      switch (KINDS[to.at(-1) as keyof typeof KINDS]) {
        case 'accepted':
          accept(request, response, count);
          peer.queue(callbackOf({ statuses: [aStatus(wamidOf(to), 'delivered')] }));
          return;
        case 'rejected':
          failWith(131026)(request, response, count);
          return;
        case 'unknown':
          response.destroy();
          return;
      }
    });
    const { provider, callback } = cloudApi({ peer });
    const { provider: started, bring } = withCallback(provider, callback);
    return {
      provider: started,
      letEventsCome: () => peer.bring(bring),
      submissions: DIGITS.map((digit, index) => ({
        submission: aWhatsappSubmission({
          smsId: anSmsId(100 * opened + index),
          phoneNumber: numbers[index] ?? aPhoneNumber(),
          content: aText(),
        }),
        kind: KINDS[digit],
      })),
      carried: () => carried,
      promptMs: PROMPT_MS,
    };
  };
  expect(await brokenPromises(open)).toEqual([]);
});
