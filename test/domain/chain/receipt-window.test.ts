import { expect, it } from 'vitest';
import { LONGEST_RECEIPT_WINDOW_MS, receiptWindowMs } from '../../../src/domain/chain/receipt-window.ts';
import { CHANNELS } from '../../../src/domain/shared/channel.ts';

it('a receipt may take a day on sms and telegram, and three days on whatsapp, which is the longest', () => {
  const timeouts = Object.fromEntries(CHANNELS.map((channel) => [channel, receiptWindowMs(channel)]));
  expect(timeouts).toEqual({ sms: 86_400_000, whatsapp: 259_200_000, telegram: 86_400_000 });
  expect(LONGEST_RECEIPT_WINDOW_MS).toBe(259_200_000);
});
