import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import type { OpenApi } from '../../src/adapters/http/openapi/open-api.ts';
import { type DocumentedOperation, operationsOf } from '../generated/operations.ts';
import { MAIN_PROGRAM } from '../support/compiled-service.ts';
import { portOf } from '../support/port-of.ts';
import { startProgram } from '../support/program.ts';
import { LIVE_KEY, seedWith, verification } from '../support/seeds.ts';

const CANARIES = {
  code: '7305914862',
  text: 'Your parcel waits at the blue door',
  'template parameter': 'Grey-heron-parameter',
  'secret of a webhook': 'grey-heron-webhook-secret',
  'secret of an inbound webhook': `svc_live_sk${'c0ffee'.repeat(10)}abcd`,
  'token of a provider': 'grey-heron-access-token-0123456789',
  'secret of a provider': 'grey-heron-app-secret-0123456789',
  'token of the operator': 'grey-heron-admin-token-0123456789abcdef',
  'key of nobody': `sk_live_${'beef'.repeat(10)}`,
  'key of a project': LIVE_KEY,
};
const SECRET_KEY = 'ab'.repeat(32);
const NUMBERS = ['9647701234571', '9647701234572', '9647701234573'];
const START_MS_MAX = 30_000;
const POLL_MS = 20;
const TIME_LIMIT_MS = 120_000;

interface Reply {
  readonly status: number;
  readonly text: string;
}

describe('a service that fails in many ways', () => {
  const closed: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closed.splice(0).reverse()) await close();
  });

  /** A server that fails, and repeats what it was sent in the reason. */
  async function startTelltale(): Promise<number> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const said = `${request.url} ${request.headers.authorization} ${Buffer.concat(chunks)}`;
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { code: 100, message: said } }));
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closed.push(() => server.close());
    return portOf(server);
  }

  /** A collector of traces: everything that it is sent, as text. */
  async function startCollector(): Promise<{ readonly port: number; readonly received: () => string }> {
    const chunks: Buffer[] = [];
    const server = createServer((request, response) => {
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => response.end());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closed.push(() => server.close());
    return { port: portOf(server), received: () => Buffer.concat(chunks).toString('utf8') };
  }

  async function start() {
    const folder = mkdtempSync(join(tmpdir(), 'barid-canaries-'));
    closed.push(() => rmSync(folder, { recursive: true }));
    const platform = await startTelltale();
    const [seedFile, channelsFile] = [join(folder, 'seed.json'), join(folder, 'channels.json')];
    const seed = seedWith({ environment: 'live', apiKeys: [LIVE_KEY], rateLimit: null });
    const whatsapp = whatsappOf(seed);
    const inboundWebhooks = [
      {
        phoneNumberId: whatsapp.whatsappPhoneId,
        url: 'https://hooks.example.com/inbound',
        secret: CANARIES['secret of an inbound webhook'],
      },
    ];
    const [project] = seed.projects;
    writeFileSync(seedFile, JSON.stringify({ ...seed, projects: [{ ...project, inboundWebhooks }] }));
    const meta = {
      kind: 'cloud-api',
      accessToken: { env: 'META_TOKEN' },
      appSecret: { env: 'META_SECRET' },
      verifyToken: { env: 'META_SECRET' },
      phoneNumberId: '1234567890',
      baseUrl: `http://127.0.0.1:${platform}`,
    };
    writeFileSync(
      channelsFile,
      JSON.stringify({
        whatsapp: { providers: { meta } },
        sms: { providers: { simulator: { kind: 'simulator' } } },
      }),
    );
    const file = join(folder, 'barid.db');
    const metricsPort = await freePort();
    const collector = await startCollector();
    const child = startProgram([MAIN_PROGRAM], {
      PATH: process.env.PATH,
      PORT: '0',
      DATABASE_URL: `sqlite:${file}`,
      REPORTS_DIR: folder,
      SEED_FILE: seedFile,
      CHANNELS_FILE: channelsFile,
      META_TOKEN: CANARIES['token of a provider'],
      META_SECRET: CANARIES['secret of a provider'],
      ADMIN_TOKEN: CANARIES['token of the operator'],
      SECRET_KEY,
      LOG_LEVEL: 'debug',
      METRICS_PORT: String(metricsPort),
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
    });
    let written = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        written += text;
      });
    }
    closed.push(async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    const startedAt = performance.now();
    const addressOf = () => /listens on (http:\S+)/.exec(written)?.[1];
    while (addressOf() === undefined) {
      if (child.exitCode !== null || performance.now() - startedAt > START_MS_MAX) throw new Error(written);
      await delay(POLL_MS);
    }
    const url = addressOf() ?? '';
    return {
      file,
      whatsapp,
      written: () => written,
      traces: collector.received,
      metrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
      ask: async (method: string, path: string, key: string, body?: string): Promise<Reply> => {
        const response = await fetch(`${url}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${key}`,
            'idempotency-key': randomUUID(),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body }),
        });
        return { status: response.status, text: await response.text() };
      },
      stop: async () => {
        child.kill('SIGTERM');
        await once(child, 'exit');
      },
    };
  }

  it(
    'no code, text, key or secret is in its log, its metrics, its traces, its audit log or an error',
    async () => {
      const service = await start();
      const key = CANARIES['key of a project'];
      const token = CANARIES['token of the operator'];
      const documents = await Promise.all([
        service.ask('GET', '/openapi.json', key),
        service.ask('GET', '/admin/openapi.json', token),
      ]);
      const [operations, ofOperators] = documents.map(({ text }) =>
        operationsOf(JSON.parse(text) as OpenApi),
      );

      const errors: Reply[] = [];
      for (const body of sends(service.whatsapp)) {
        const { status, text } = await service.ask('POST', '/sms', key, JSON.stringify(body));
        if (status !== 200) throw new Error(`A send was rejected: ${text}`);
      }
      for (const [operation, right] of [
        ...(operations ?? []).map((each) => [each, key] as const),
        ...(ofOperators ?? []).map((each) => [each, token] as const),
      ]) {
        for (const [used, path, body] of failuresOf(operation, right)) {
          const reply = await service.ask(operation.method, path, used, body);
          if (reply.status >= 400) errors.push(reply);
        }
      }
      // Everything that is to be tried was tried, and what is final is stored.
      while (openMessages(service.file) > 0) await delay(POLL_MS);
      const metrics = await service.metrics();
      await service.stop();
      expect(metrics).toContain('barid_');
      expect(service.traces()).toContain('/sms');

      expect(errors.length).toBeGreaterThan(100);
      expect(errors.filter(({ status }) => status >= 500)).toEqual([]);
      const audit = rowsOf(service.file, 'SELECT * FROM audit_records');
      const places = {
        log: service.written(),
        metrics,
        'audit log': JSON.stringify(audit),
        errors: texts(errors),
      };
      const found = Object.entries(places).flatMap(([place, text]) =>
        Object.entries(CANARIES)
          .filter(([, canary]) => text.includes(canary))
          .map(([name, canary]) => `${name} in ${place}: …${around(text, canary)}`),
      );
      expect(found).toEqual([]);
      expect(NUMBERS.filter((each) => service.written().includes(each))).toEqual([]);
    },
    TIME_LIMIT_MS,
  );
});

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const port = portOf(server);
  await once(server.close(), 'close');
  return port;
}

const texts = (replies: readonly Reply[]) => replies.map(({ text }) => text).join('\n');

function around(text: string, canary: string): string {
  const at = text.indexOf(canary);
  return text.slice(Math.max(0, at - 200), at + canary.length + 50);
}

function whatsappOf(seed: ReturnType<typeof seedWith>) {
  const account = seed.projects[0]?.whatsapp?.businesses[0]?.whatsappAccounts?.[0];
  return { whatsappAccountId: account?.id, whatsappPhoneId: account?.phoneNumbers?.[0]?.id };
}

/** One of each kind; the whatsapp provider rejects them all, and the webhooks go nowhere. */
function sends(whatsapp: ReturnType<typeof whatsappOf>): readonly unknown[] {
  const deliveryReport = {
    webhookUrl: 'https://hooks.example.com/hook',
    deliveryReportType: 'all',
    webhookSecret: CANARIES['secret of a webhook'],
  };
  const [code = '', text = '', template = ''] = NUMBERS;
  return [
    verification(code, { verificationCode: CANARIES.code, provider: 'whatsapp-sms', deliveryReport }),
    { phoneNumber: text, smsType: 'custom', customMessage: CANARIES.text, provider: 'sms', deliveryReport },
    {
      phoneNumber: template,
      smsType: 'whatsapp-template',
      templateName: 'order_update',
      ...whatsapp,
      templateParameters: {
        body: { 1: CANARIES['template parameter'], 2: 'x' },
        buttons: { 0: { 1: 'x' } },
      },
      provider: 'whatsapp',
      deliveryReport,
    },
  ];
}

/** Requests to an operation that cannot succeed, full of what is secret. */
function* failuresOf(
  operation: DocumentedOperation,
  right: string,
): Generator<readonly [key: string, path: string, body?: string]> {
  const fields = Object.keys(Object(operation.body?.properties));
  for (const canary of Object.values(CANARIES)) {
    const path = operation.path.replaceAll(/\{[^}]+\}/g, encodeURIComponent(canary));
    const query = operation.parameters
      .filter((each) => each.in === 'query')
      .map(({ name }) => `${name}=${encodeURIComponent(canary)}`)
      .join('&');
    yield operation.body === null
      ? [CANARIES['key of nobody'], path]
      : [CANARIES['key of nobody'], path, '{}'];
    if (path !== operation.path || query !== '') yield [right, `${path}?${query}`];
    if (operation.body === null) continue;
    yield [right, path, `{"customMessage":"${canary}`];
    yield [right, path, JSON.stringify(Object.fromEntries(fields.map((name) => [name, canary])))];
    yield [right, path, JSON.stringify({ [canary]: canary })];
    yield [right, path, JSON.stringify(Object.fromEntries(fields.map((name) => [name, [canary]])))];
  }
}

function openMessages(file: string): number {
  return (rowsOf(file, 'SELECT COUNT(*) AS open FROM messages WHERE is_final = 0')[0] as { open: number })
    .open;
}

function rowsOf(file: string, query: string): readonly unknown[] {
  const database = new Sqlite(file, { readonly: true });
  try {
    return database.prepare(query).all();
  } finally {
    database.close();
  }
}
