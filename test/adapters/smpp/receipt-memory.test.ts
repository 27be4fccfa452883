import { expect, it } from 'vitest';
import { receiptOf } from '../../../src/adapters/smpp/receipt.ts';
import { heldMemory } from '../../support/held-memory.ts';

it.each([
  ['Latin', (text: string) => Buffer.from(text, 'latin1')],
  ['UCS-2', (text: string) => Buffer.from(text, 'utf16le').swap16()],
] as const)('a receipt of 60 KB in %s takes little memory once it is read', async (_, octetsOf) => {
  const read = (count: number) => {
    const text = `id:${String(count).padStart(20, '0')} stat:DELIVRD text:`;
    const octets = octetsOf(text.padEnd(60_000 / octetsOf('x').length, 'x'));
    return receiptOf(
      { esmClass: 4, octets, receiptedMessageId: null, messageState: null },
      { submitIds: 'as-is', receiptIds: 'as-is' },
    );
  };
  read(0);
  const before = await heldMemory();
  const receipts = Array.from({ length: 1_000 }, (_each, count) => read(count));
  const heldBytes = (await heldMemory()) - before;
  expect(receipts.at(-1)?.providerMessageId).toBe('00000000000000000999');
  expect(heldBytes / receipts.length, 'bytes that are held of a receipt').toBeLessThan(5_000);
});
