import { parseArgs } from 'node:util';
import { commit } from '../../test/support/commit.ts';
import { Bench } from '../support/bench.ts';
import { checkoutAt, THIS_CHECKOUT } from '../support/checkout.ts';
import { campaigns } from './campaigns.ts';
import { offered } from './offered.ts';
import { onServers } from './on-servers.ts';
import { oneProcess } from './one-process.ts';
import { reports } from './reports.ts';
import { smpp } from './smpp.ts';
import { storedMessages } from './stored-messages.ts';
import { webhooks } from './webhooks.ts';

/**
 * npm run bench [-- [--against CHECKOUT] [SECTION...]]
 *
 * Measures the service beside what it is compared with, in one run, in turn, and prints ratios: rates differ from
 * machine to machine, ratios within one run hardly do. `--against` measures the rows of another checkout in turn
 * with those of this one, and says how much of its figures this one reaches.
 */
const SECTIONS: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  'one-process': oneProcess,
  'stored-messages': storedMessages,
  'on-servers': onServers,
  offered,
  webhooks,
  smpp,
  campaigns,
  reports,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { against: { type: 'string' } },
});
const unknown = positionals.find((name) => !(name in SECTIONS));
if (unknown !== undefined) {
  throw new Error(`There is no section ${unknown}: the sections are ${Object.keys(SECTIONS).join(', ')}`);
}
const other = values.against === undefined ? [] : [await checkoutAt(values.against)];
console.log(`bench: commit ${commit()}${other.map(({ label }) => `, against ${label}`).join('')}`);
const bench = new Bench([THIS_CHECKOUT, ...other]);
try {
  for (const [name, measure] of Object.entries(SECTIONS)) {
    if (positionals.length === 0 || positionals.includes(name)) await measure(bench);
  }
  bench.printVerdicts();
} finally {
  await bench.stop();
}
