/** What the tests of the transport share: receivers of this machine, and transports that may reach them. */
import type { TlsOptions } from 'node:tls';
import {
  UndiciWebhookTransport,
  type UndiciWebhookTransportOptions,
} from '../../../../src/adapters/egress/webhooks/undici-webhook-transport.ts';
import type { DeliveryResult } from '../../../../src/domain/webhooks/delivery-result.ts';
import { withCertificateAuthority } from '../../../support/certificates.ts';
import { hasOpenssl } from '../../../support/openssl.ts';
import { type Behaviour, TlsReceiver } from '../../../support/tls-receiver.ts';

export const HOST = 'receiver.example.com';
/** The deadline for receivers that never end a response. */
export const DEADLINE_MS = 600;
/** The deadline for all others. It is so far that no response times out on a busy machine. */
export const FAR_DEADLINE_MS = 8_000;
/** How late a timeout may come on a busy machine. */
export const TIMEOUT_TOLERANCE_MS = 500;
export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** Null where the openssl command line is missing; the tests are skipped then. */
export const certificates = hasOpenssl
  ? withCertificateAuthority((authority) => ({
      ca: authority.ca,
      good: authority.issue(HOST, 2),
      expired: authority.issue(HOST, -1),
      otherName: authority.issue('other.example.com', 2),
      selfSigned: authority.selfSigned(HOST),
      ofAddress: authority.issue('127.0.0.1', 2),
      local: authority.issue('localhost', 2),
      localExpired: authority.issue('localhost', -1),
      localSelfSigned: authority.selfSigned('localhost'),
    }))
  : null;

const opened: { close(): Promise<void> }[] = [];

/** Ends everything the last test opened, transports first. */
export async function closeAll(): Promise<void> {
  for (const one of opened.splice(0)) await one.close();
}

export async function receive(behave: Behaviour, options: TlsOptions = {}): Promise<TlsReceiver> {
  const receiver = await TlsReceiver.open({ ...certificates?.good, ...options }, behave);
  opened.push(receiver);
  return receiver;
}

/** A transport that reaches a port of this machine, with a far deadline. */
export function transportTo(
  port: number,
  options: UndiciWebhookTransportOptions = {},
): UndiciWebhookTransport {
  return openTransport({
    timeoutMs: FAR_DEADLINE_MS,
    ...reaching(port),
    ...options,
  });
}

export function openTransport(options: UndiciWebhookTransportOptions): UndiciWebhookTransport {
  const transport = new UndiciWebhookTransport(options);
  opened.unshift(transport);
  return transport;
}

/** What a transport needs to reach a receiver of this machine. */
export function reaching(port: number): UndiciWebhookTransportOptions {
  return {
    allowedNetworks: ['127.0.0.1/32'],
    allowedPorts: [port],
    ca: certificates?.ca ?? '',
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
  };
}

export const requestTo = (port: number, path = '/hook') => ({
  projectId: 'p',
  url: `https://${HOST}:${port}${path}`,
  headers: { 'Content-Type': 'application/json', 'X-SVC-Webhook-Secret': 's3cret' },
  body: '{"text":"سڵاو 😀"}',
});

/** The result of a request, and the milliseconds it took. */
export async function timed(
  sent: Promise<DeliveryResult>,
): Promise<{ readonly result: DeliveryResult; readonly durationMs: number }> {
  const startedAt = performance.now();
  const result = await sent;
  return { result, durationMs: performance.now() - startedAt };
}

/** The result of one request to a receiver that behaves like this. */
export async function resultOf(behave: Behaviour, options: TlsOptions = {}): Promise<DeliveryResult> {
  const receiver = await receive(behave, options);
  return transportTo(receiver.port).send(requestTo(receiver.port));
}
