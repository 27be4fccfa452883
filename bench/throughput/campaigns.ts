import { join } from 'node:path';
import { MESSAGES_PER_SECOND } from '../../src/domain/campaigns/sending-rate.ts';
import type { CampaignServiceHandlers } from '../servers/campaign-service.ts';
import type { Bench } from '../support/bench.ts';
import { THIS_CHECKOUT } from '../support/checkout.ts';
import { printRows, rateOf } from '../support/report.ts';
import { acceptedToDelivered, median, ROUNDS, ratesInTurn } from '../support/rounds.ts';

const RECIPIENTS = 1_000;
const CAMPAIGNS = 50;
const HAND_OVER_MS_MAX = 300;
const SENDING_RATE_ERROR_MAX = 0.05;

/**
 * Campaigns on SQLite: from the start to the last hand-over, many at a time from the start to the last final status beside
 * single messages, and the sending rate of a number.
 */
export async function campaigns(bench: Bench): Promise<void> {
  const handOverMs = await inOneProcess(bench, 'hand-over', 'off', async (service) => {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      times.push(await service.ask('startToHandOver', RECIPIENTS));
    }
    return median(times);
  });
  console.log(`start of ${RECIPIENTS} recipients to the last hand-over: ${handOverMs.toFixed(0)} ms`);
  bench.bar(handOverMs <= HAND_OVER_MS_MAX, `last hand-over within ${HAND_OVER_MS_MAX} ms of the start`);

  const rate = await inOneProcess(bench, 'rate', 'on', (service) => service.ask('sendingRate', RECIPIENTS));
  console.log(`sending rate of a number: ${rate.toFixed(1)} messages per second`);
  bench.bar(
    Math.abs(rate / MESSAGES_PER_SECOND - 1) <= SENDING_RATE_ERROR_MAX,
    `sending rate within ${SENDING_RATE_ERROR_MAX * 100} % of ${MESSAGES_PER_SECOND} per second`,
  );

  let rounds = 0;
  const [single, recipients] = await ratesInTurn(['single', 'recipients'] as const, async (row) => {
    rounds += 1;
    if (row === 'recipients') {
      return inOneProcess(bench, `final-${rounds}`, 'off', (service) =>
        service.ask('startsToFinal', { campaigns: CAMPAIGNS, recipients: RECIPIENTS }),
      );
    }
    const file = `single-${rounds}`;
    const service = await bench.openOnSqlite(THIS_CHECKOUT, file);
    const perSecond = await acceptedToDelivered(service, bench.sqliteUrl(THIS_CHECKOUT, file));
    await bench.close([service]);
    return perSecond;
  });
  if (single === undefined || recipients === undefined) throw new Error('Both rows were measured');
  const accepted = { label: '(4) accepted to delivered, every row written', measured: [single] };
  const sent = { label: `recipients of ${CAMPAIGNS} campaigns, start to final`, measured: [recipients] };
  printRows(bench, 'campaigns', [{ header: '× (4)', of: accepted }], [accepted, sent]);
  bench.bar(rateOf(sent) >= rateOf(accepted), 'recipients at least as fast as (4)');
}

async function inOneProcess(
  bench: Bench,
  file: string,
  limits: 'on' | 'off',
  measure: (service: Awaited<ReturnType<typeof open>>) => Promise<number>,
): Promise<number> {
  const service = await open(bench, file, limits);
  const measured = await measure(service);
  await bench.close([service]);
  return measured;
}

function open(bench: Bench, file: string, limits: 'on' | 'off') {
  return bench.open<CampaignServiceHandlers>(THIS_CHECKOUT, 'campaign-service', {
    DATABASE_URL: `sqlite:${join(bench.folder, file, 'barid.db')}`,
    CAMPAIGN_LIMITS: limits,
  });
}
