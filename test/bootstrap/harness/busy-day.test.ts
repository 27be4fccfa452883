import { expect, it } from 'vitest';
import { BUSY_RETRY_MS } from '../../../src/domain/chain/busy-retry.ts';
import { read, started, startWithCampaigns } from '../../support/campaigns.ts';

const HOUR_MS = 60 * 60_000;
/** Two hundred tries one after another: not once more on every wiring, where a broker carries each. */
const BUSY_DAY_TIMEOUT_MS = 90_000;

it(
  'a recipient for whom the provider stays busy for a day fails',
  async () => {
    const harness = await startWithCampaigns();
    const id = await started(harness, ['9990000000203', '9647700000002']);
    await harness.advance(23 * HOUR_MS);
    expect(await read(harness, id)).toMatchObject({ status: 'running', sentCount: 1, failedCount: 0 });
    // The last try of the day may come up to half a minute behind it.
    await harness.advance(HOUR_MS + BUSY_RETRY_MS);
    const ended = await read(harness, id);
    expect(ended).toMatchObject({ status: 'completed', sentCount: 1, failedCount: 1, reconciledAmount: 60 });
    expect(ended.recipients[0]).toMatchObject({
      status: 'failed',
      errorMessage: 'Too many messages were sent to this number',
    });
    await harness.assertQuiet();
  },
  BUSY_DAY_TIMEOUT_MS,
);
