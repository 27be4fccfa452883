import { expect, it } from 'vitest';
import { withMaskedReason } from '../../../src/domain/providers/delivery-receipt.ts';

const masked = (text: string) => text.replace('secret', '***');

it('the reason of a failure is masked, and nothing else of a receipt', () => {
  expect(withMaskedReason({ kind: 'failed', reason: 'the secret is wrong' }, masked)).toEqual({
    kind: 'failed',
    reason: 'the *** is wrong',
  });
  const delivered = {
    kind: 'delivered',
    charge: { billable: true, model: 'secret', category: 'x' },
  } as const;
  expect(withMaskedReason(delivered, masked)).toBe(delivered);
});
