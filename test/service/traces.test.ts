import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { openTelemetryInstrument } from '../../src/bootstrap/instruments/opentelemetry.ts';
import { portOf } from '../support/port-of.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

const NUMBER = '9647701234567';
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';
const CODE = verification(NUMBER).verificationCode;

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly parentSpanId?: string;
  readonly attributes: { readonly key: string; readonly value: object }[];
}

/** A receiver of OTLP over HTTP. */
async function aReceiver() {
  const bodies: string[] = [];
  const tokens = new Set<string | undefined>();
  const server = createServer(async (request, response) => {
    tokens.add(request.headers.authorization);
    if (request.url === '/v1/traces') bodies.push(await text(request));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  receivers.push(server);
  return {
    endpoint: `http://127.0.0.1:${portOf(server)}`,
    bodies,
    tokens,
    spans: (): readonly Span[] =>
      bodies.flatMap((body) =>
        (JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans.flatMap(
          ({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans),
        ),
      ),
  };
}

const logger = new RecordingLogger();
const receivers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of receivers.splice(0)) server.close();
});

async function aTracedService(endpoint: string) {
  const instrument = openTelemetryInstrument({
    endpoint,
    headers: { authorization: 'Bearer a-token' },
    version: '1.2.3',
    role: 'all',
    logger,
  });
  return startService({ instruments: [instrument], seed: seedWith({}) });
}

describe('the traces of a service', () => {
  it('a send has spans of its request, its units of work and its submission, the request in the trace of the caller', async () => {
    const receiver = await aReceiver();
    const service = await aTracedService(receiver.endpoint);
    const traceparent = `00-${TRACE_ID}-${SPAN_ID}-01`;
    const sent = await service.request('/sms', { headers: { traceparent }, body: verification(NUMBER) });
    const { smsId } = sent.body as { smsId: string };
    await service.advance(60_000);
    await service.close();

    const spans = receiver.spans();
    const request = spans.find(({ name }) => name === 'POST /sms');
    expect(request).toMatchObject({ traceId: TRACE_ID, parentSpanId: SPAN_ID });
    expect([...receiver.tokens]).toEqual(['Bearer a-token']);
    expect(spans.some(({ name }) => name === 'unit of work')).toBe(true);
    const submit = spans.find(({ name }) => name === 'submit');
    expect(submit?.attributes).toEqual([
      { key: 'barid.provider', value: { stringValue: 'simulator' } },
      { key: 'barid.channel', value: { stringValue: 'whatsapp' } },
      { key: 'barid.sms_id', value: { stringValue: smsId } },
      { key: 'barid.result', value: { stringValue: 'accepted' } },
    ]);
    const all = receiver.bodies.join('');
    for (const secret of [NUMBER, CODE, service.apiKey]) expect(all).not.toContain(secret);
  });

  it('a request whose caller does not sample its trace has no span', async () => {
    const receiver = await aReceiver();
    const service = await aTracedService(receiver.endpoint);
    const traceparent = `00-${TRACE_ID}-${SPAN_ID}-00`;
    await service.request('/healthz', { headers: { traceparent } });
    await service.request('/version');
    await service.close();
    const names = receiver.spans().map(({ name }) => name);
    expect(names).toContain('GET /version');
    expect(names).not.toContain('GET /healthz');
  });

  it('a malformed trace context begins a trace of its own', async () => {
    const receiver = await aReceiver();
    const service = await aTracedService(receiver.endpoint);
    const traceparent = `00-${'0'.repeat(32)}-${SPAN_ID}-01`;
    await service.request('/healthz', { headers: { traceparent } });
    await service.close();
    const [span] = receiver.spans().filter(({ name }) => name === 'GET /healthz');
    expect(span?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(span?.traceId).not.toBe('0'.repeat(32));
    expect(span?.parentSpanId ?? '').toBe('');
  });

  it('a receiver that is away costs no request, and the log says why spans are lost', async () => {
    const service = await aTracedService('http://127.0.0.1:9');
    expect((await service.request('/sms', { body: verification(NUMBER) })).status).toBe(200);
    await service.close();
    expect(logger.entries.at(-1)).toMatchObject({
      level: 'warn',
      event: 'trace_export_failed',
      fields: { reason: expect.stringMatching(/^The connection failed/) },
    });
  });

  it('a receiver that takes no spans is named in the log with its status', async () => {
    const receiver = createServer((_, response) => response.writeHead(401).end());
    await once(receiver.listen(0, '127.0.0.1'), 'listening');
    receivers.push(receiver);
    const service = await aTracedService(`http://127.0.0.1:${portOf(receiver)}`);
    await service.request('/version');
    await service.close();
    expect(logger.entries.at(-1)).toMatchObject({
      event: 'trace_export_failed',
      fields: { reason: 'HTTP 401' },
    });
  });
});
