import { expect } from 'vitest';
import type { SeedFile } from '../../src/bootstrap/config/seed-file.ts';
import type { Harness, HarnessOptions, HarnessReply } from '../../src/bootstrap/harness/harness.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Asiacell numbers: 80 IQD an sms in the demo. */
export const NUMBER = '9647701234567';
export const OTHER_NUMBER = '9647701234568';
export const SMS_ID = /^sms-[a-f0-9]{24}$/;

/** The ids of the demo's whatsapp resources. */
export const ACCOUNT_ID = '664def456abc789012345602';
export const PHONE_ID = '664def456abc789012345678';

export const text = (phoneNumber: string, more: Record<string, unknown> = {}) => ({
  phoneNumber,
  smsType: 'custom',
  customMessage: 'Your parcel is here.',
  ...more,
});

/** The demo's template with every parameter it needs. */
export const template = (phoneNumber: string, more: Record<string, unknown> = {}) => ({
  phoneNumber,
  smsType: 'whatsapp-template',
  templateName: 'order_update',
  whatsappAccountId: ACCOUNT_ID,
  whatsappPhoneId: PHONE_ID,
  templateParameters: { body: { 1: 'Layla', 2: 'A-17' }, buttons: { 0: { 1: 'A-17' } } },
  ...more,
});

/** A service whose first project differs from the demo; without a rate limit unless one is given. */
export function startWith(
  changes: Partial<SeedFile['projects'][number]> = {},
  options: Omit<HarnessOptions, 'seed'> = {},
): Promise<Harness> {
  return startService({ seed: seedWith({ rateLimit: null, ...changes }), ...options });
}

/** Sends a message and returns the reply. */
export function post(
  service: Harness,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<HarnessReply> {
  return service.request('/sms', { body, headers });
}

/** Sends a code, expects that it is accepted, and returns its `smsId`. */
export async function accepted(service: Harness, body: unknown = verification(NUMBER)): Promise<string> {
  const reply = await post(service, body);
  expect(reply).toMatchObject({ status: 200, body: { smsId: expect.stringMatching(SMS_ID) } });
  return (reply.body as { smsId: string }).smsId;
}

/** The tracked message. */
export async function track(service: Harness, smsId: string): Promise<Record<string, unknown>> {
  const { status, body } = await service.request(`/sms/track/${smsId}`);
  expect(status).toBe(200);
  return body as Record<string, unknown>;
}

/** What the project may still spend, in IQD. */
export async function creditOf(service: Harness): Promise<number> {
  return ((await service.request('/info')).body as { credit: number }).credit;
}

/** Status, slug and body of an error. */
export function errorOf({ status, headers, body }: HarnessReply) {
  return { status, code: headers.get('x-error-code'), body };
}
