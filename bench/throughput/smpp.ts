import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Child } from '../../test/support/child-process.ts';
import { printTable } from '../../test/support/table.ts';
import type { BareSmppHandlers } from '../servers/bare-smpp.ts';
import type { SmppServiceHandlers } from '../servers/smpp-service.ts';
import type { SmscHandlers } from '../servers/smsc.ts';
import type { Bench } from '../support/bench.ts';
import { THIS_CHECKOUT } from '../support/checkout.ts';
import { OpenMessages } from '../support/open-messages.ts';
import { pairedRatio } from '../support/report.ts';
import { median } from '../support/rounds.ts';

const ROUNDS = Number(process.env.SMPP_ROUNDS ?? 5);
const MESSAGES = Number(process.env.SMPP_MESSAGES ?? 20_000);
const WARM_UP_MESSAGES = 5_000;
const BINDS = 2;
const WINDOW = 100;
const RECEIPT_DELAY_MS = 100;
const SHARE_OF_CLIENT_MIN = 0.5;
const STALLED_MS = 60_000;

/**
 * Row 10: sms per second over one SMSC, from stored messages that come due until each is delivered and settled, beside a bare
 * client of the package `smpp` that stores nothing. Both have the same SMSC, binds and windows, and every message has its
 * receipt. The client is measured before and after each turn of the service. The service on the simulator shows what is left
 * without SMPP.
 */
export async function smpp(bench: Bench): Promise<void> {
  const smsc = await bench.open<SmscHandlers>(THIS_CHECKOUT, 'smsc', {
    SMSC_RECEIPT_DELAY_MS: String(RECEIPT_DELAY_MS),
  });
  const client = await bench.open<BareSmppHandlers>(THIS_CHECKOUT, 'bare-smpp', {
    SMSC_PORT: String(smsc.port),
    SMSC_BINDS: String(BINDS),
    SMSC_WINDOW: String(WINDOW),
  });
  const service = await openService(bench, 'smpp', {
    CHANNELS_FILE: channelsFile(bench, smsc.port),
    SMSC_PASSWORD: 'bench',
  });
  const simulator = await openService(bench, 'smpp-simulator', { SMS_PROVIDER: 'simulator' });

  const ofClient = async (count: number): Promise<number> => count / (await client.ask('submit', count));
  const ofService = async (count: number): Promise<number> => {
    const before = await smsc.ask('taken');
    const perSecond = await ofStored(service, count);
    const submits = (await smsc.ask('taken')) - before;
    if (submits !== count) throw new Error(`${submits} submits for ${count} messages`);
    return perSecond;
  };
  await ofClient(WARM_UP_MESSAGES);
  await ofService(WARM_UP_MESSAGES);
  await ofStored(simulator, WARM_UP_MESSAGES);
  const rates = { client: [await ofClient(MESSAGES)], service: [] as number[], simulator: [] as number[] };
  const shares: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = rates.client.at(-1) ?? 0;
    const perSecond = await ofService(MESSAGES);
    const after = await ofClient(MESSAGES);
    rates.simulator.push(await ofStored(simulator, MESSAGES));
    rates.service.push(perSecond);
    rates.client.push(after);
    shares.push(perSecond / ((before + after) / 2));
  }
  for (const { messages } of [service, simulator]) await messages.close();
  await bench.close([service.child, simulator.child, client, smsc]);

  const ratios = {
    simulator: pairedRatio(rates.simulator, rates.client.slice(1)),
    ofSimulator: pairedRatio(rates.service, rates.simulator),
  };
  printTable([
    [`sms over one SMSC, ${BINDS} binds with a window of ${WINDOW}`, 'per second', '× client', '× simulator'],
    ['a bare client of the package smpp', median(rates.client).toFixed(0), '1.00', ''],
    [
      'the service on the simulator, without SMPP',
      median(rates.simulator).toFixed(0),
      ratios.simulator.toFixed(2),
      '1.00',
    ],
    [
      '(10) the service, delivered and settled',
      median(rates.service).toFixed(0),
      median(shares).toFixed(2),
      ratios.ofSimulator.toFixed(2),
    ],
  ]);
  bench.bar(median(shares) >= SHARE_OF_CLIENT_MIN, `(10) at least ${SHARE_OF_CLIENT_MIN} of a bare client`);
}

/** The service, and its messages. */
interface SmppService {
  readonly child: Child<SmppServiceHandlers>;
  readonly messages: OpenMessages;
}

async function openService(
  bench: Bench,
  folder: string,
  environment: NodeJS.ProcessEnv,
): Promise<SmppService> {
  const databaseUrl = bench.sqliteUrl(THIS_CHECKOUT, folder);
  const child = await bench.open<SmppServiceHandlers>(THIS_CHECKOUT, 'smpp-service', {
    DATABASE_URL: databaseUrl,
    ...environment,
  });
  return { child, messages: new OpenMessages(databaseUrl) };
}

function channelsFile(bench: Bench, port: number): string {
  const file = join(bench.folder, 'channels.json');
  const settings = {
    kind: 'smpp',
    url: `smpp://127.0.0.1:${port}`,
    systemId: 'service',
    password: { env: 'SMSC_PASSWORD' },
    binds: BINDS,
    window: WINDOW,
  };
  writeFileSync(file, JSON.stringify({ sms: { providers: { smsc: settings } } }));
  return file;
}

/** Messages per second from the moment that so many come due until each is final. Rejects unless all are delivered. */
async function ofStored({ child, messages }: SmppService, count: number): Promise<number> {
  await child.ask('fill', count);
  const startedAt = performance.now();
  await child.ask('comeDue');
  if (!(await messages.end(STALLED_MS))) {
    throw new Error(`Not delivered in time: ${JSON.stringify(await child.ask('states'))}`);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const { delivered = 0, ...others } = await child.ask('states');
  if (Object.keys(others).length > 0) {
    throw new Error(`Beside ${delivered} delivered messages: ${JSON.stringify(others)}`);
  }
  return count / seconds;
}
