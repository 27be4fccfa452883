import { expect, it } from 'vitest';
import { csvDecoder } from '../../../../src/adapters/csv/csv-decoder.ts';
import { readPriceFile } from '../../../../src/application/operators/prices/read-price-file.ts';

it('a file with the list of rows twice is rejected: a list that is not read would change prices unseen', async () => {
  const text = '{"telegram":1,"international":[],"international":[]}';
  await expect(readPriceFile('json', Buffer.from(text), csvDecoder)).rejects.toMatchObject({
    rejection: {
      kind: 'invalid-prices',
      mistakes: [{ line: null, field: 'international', problem: expect.stringContaining('once') }],
    },
  });
});
