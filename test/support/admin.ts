import { expect } from 'vitest';
import type { Harness, HarnessReply, HarnessRequest } from '../../src/bootstrap/harness/harness.ts';
import { barid } from './barid.ts';

/** The token of the operator. */
export const ADMIN_TOKEN = 'admin-token-of-the-tests-0123456789';

/** A request of the operator. */
export function admin(service: Harness, path: string, request: HarnessRequest = {}): Promise<HarnessReply> {
  return service.request(`/admin${path}`, { apiKey: ADMIN_TOKEN, ...request });
}

/**
 * The body of a request of the operator, which has to succeed. Each has a millisecond of its own, so that records have an order.
 */
export async function done<Body = Record<string, unknown>>(
  service: Harness,
  path: string,
  request: HarnessRequest = {},
): Promise<Body> {
  const reply = await admin(service, path, request);
  await service.advance(1);
  expect(reply).toMatchObject({ status: 200 });
  return reply.body as Body;
}

/** The status and the code of a rejection. */
export function codeOf({ status, headers }: HarnessReply): readonly [status: number, code: string | null] {
  return [status, headers.get('x-error-code')];
}

/**
 * Runs a command of `barid admin` against a service or an address, as its program would. Each has a millisecond of its own.
 */
export async function runAdmin(
  service: Harness | string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = { ADMIN_TOKEN },
) {
  const url = typeof service === 'string' ? service : await service.url;
  const ended = await barid(['admin', '--url', url, ...words], { environment });
  if (typeof service !== 'string') await service.advance(1);
  return ended;
}

/** What a command of `barid admin` prints with `--json`; it has to succeed. */
export async function jsonOfAdmin<Body>(service: Harness, ...words: readonly string[]): Promise<Body> {
  const { code, printed, errors } = await runAdmin(service, ['--json', ...words]);
  expect([code, errors]).toEqual([0, []]);
  return JSON.parse(printed[0] ?? '') as Body;
}
