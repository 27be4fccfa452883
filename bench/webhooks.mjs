import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { POSTS_PER_ENDPOINT_MAX } from '../dist/application/ports/webhook-transport.js';
import { makeCertificate } from './certificate.mjs';
import { commit } from './chance.mjs';
import { startChild } from './child.mjs';
import { median } from './load.mjs';

/**
 * Webhooks per second that the service posts to one receiver, outcomes stored, beside a bare undici Pool with as
 * many connections, in one run, in turn.
 */
const ROUNDS = Number(process.env.WEBHOOK_ROUNDS ?? 15);
const EVENTS = Number(process.env.WEBHOOK_EVENTS ?? 30_000);
const WARM_UP_EVENTS = 10_000;
/** As many as the service lets itself have to one endpoint. */
const CONNECTIONS = POSTS_PER_ENDPOINT_MAX;
const BAR = 0.6;
const POLL_MS = 20;
const STALLED_MS = 60_000;

const SECRET = 'bench-webhook-secret';
/** As large as what the service posts. */
const BODY = JSON.stringify({
  smsId: `sms-${'0'.repeat(24)}`,
  deliveryReportType: 'all',
  isFinal: true,
  channel: 'sms',
  status: 'delivered',
});
const HEADERS = {
  'User-Agent': 'Barid-Webhooks/1.0',
  'Content-Type': 'application/json',
  'webhook-id': '0'.repeat(24),
  'webhook-timestamp': '1700000000',
  'webhook-signature': `v1,${'A'.repeat(43)}=`,
  'X-SVC-Webhook-Secret': SECRET,
};

/** Resolves with the medians: webhooks per second, and the service's share of what the Pool does before and after. */
export async function measureWebhooks({ rounds = ROUNDS, events = EVENTS, execArgv = [] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'barid-webhooks-'));
  const certificate = makeCertificate(folder);
  const children = [];
  const start = async (...given) => {
    const child = await startChild(...given);
    children.push(child);
    return child;
  };
  try {
    const receiver = await start('servers/receiver.mjs', {
      RECEIVER_KEY: certificate.key,
      RECEIVER_CERT: certificate.cert,
    });
    const url = `https://localhost:${receiver.port}/hook`;
    const pool = await start('servers/bare-pool.mjs', {
      POOL_URL: url,
      POOL_CA: certificate.ca,
      POOL_CONNECTIONS: String(CONNECTIONS),
    });
    const service = await start(
      'servers/webhook-service.mjs',
      {
        DATABASE_URL: `sqlite:${join(folder, 'data')}/barid.db`,
        QUEUE_URL: '',
        EGRESS_ALLOW: '127.0.0.1/32,::1/128',
        EGRESS_PORTS: String(receiver.port),
        NODE_EXTRA_CA_CERTS: certificate.ca,
      },
      { execArgv },
    );
    const bare = async (count) => count / (await pool.ask('post', { count, headers: HEADERS, body: BODY }));
    const posted = async (count) => {
      await service.ask('fill', { count, url, secret: SECRET });
      return count / (await secondsToPost(service, receiver, count));
    };
    await bare(WARM_UP_EVENTS);
    await posted(WARM_UP_EVENTS);
    const measured = [];
    let before = await bare(events);
    for (let round = 0; round < rounds; round += 1) {
      const perSecond = await posted(events);
      const after = await bare(events);
      const barePerSecond = (before + after) / 2;
      measured.push({ barePerSecond, perSecond, share: perSecond / barePerSecond });
      before = after;
    }
    return {
      barePerSecond: median(measured.map(({ barePerSecond }) => barePerSecond)),
      perSecond: median(measured.map(({ perSecond }) => perSecond)),
      share: median(measured.map(({ share }) => share)),
      rounds: measured,
      memoryMb: await service.ask('memoryMb'),
    };
  } finally {
    await Promise.all(children.filter((child) => !child.isOver()).map((child) => child.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** From the moment the events come due until every outcome is stored. Rejects when one was posted twice. */
async function secondsToPost(service, receiver, count) {
  const before = await receiver.ask('answered');
  const startedAt = performance.now();
  await service.ask('comeDue');
  const posted = async () => (await receiver.ask('answered')) - before >= count;
  // The receiver is asked first: counting rows costs the service time.
  while (!(await posted()) || (await service.ask('openEvents')) > 0) {
    if (performance.now() - startedAt > STALLED_MS) {
      throw new Error(`Not posted in time: ${JSON.stringify(await service.ask('states'))}`);
    }
    await sleep(POLL_MS);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const answered = (await receiver.ask('answered')) - before;
  if (answered !== count) throw new Error(`${answered} posts for ${count} events`);
  return seconds;
}

if (import.meta.filename === process.argv[1]) {
  const execArgv = (process.env.SERVICE_EXEC_ARGV ?? '').split(' ').filter((part) => part !== '');
  const { barePerSecond, perSecond, share, rounds, memoryMb } = await measureWebhooks({ execArgv });
  console.log(`webhooks: commit ${commit()}, ${EVENTS} events, ${ROUNDS} rounds, ${CONNECTIONS} connections`);
  for (const round of rounds) {
    console.log(
      `round: bare Pool ${round.barePerSecond.toFixed(0)}/s, service ${round.perSecond.toFixed(0)}/s, share ${round.share.toFixed(2)}`,
    );
  }
  console.log(`bare Pool ${barePerSecond.toFixed(0)}/s`);
  console.log(`service   ${perSecond.toFixed(0)}/s with outcomes stored, ${memoryMb} MB`);
  console.log(`${share >= BAR ? 'holds ' : 'MISSED'}  ${share.toFixed(2)} of the bare Pool, bar ${BAR}`);
  process.exitCode = share >= BAR ? 0 : 1;
}
