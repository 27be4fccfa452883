import { describe, expect, it } from 'vitest';
import type { Harness, HarnessReply } from '../../src/bootstrap/harness/harness.ts';
import { ADMIN_TOKEN, codeOf } from '../support/admin.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

const NUMBER = '9647701234567';
const PRICES = { korekTelecom: 10, asiaCell: 20.5, zainIraq: 30, others: 40 };
const HEX24 = /^[0-9a-f]{24}$/;

const start = () =>
  startService({ adminToken: ADMIN_TOKEN, seed: seedWith({ senderIds: [], rateLimit: null }) });

async function admin(service: Harness, method: string, path: string, body?: unknown): Promise<HarnessReply> {
  const request = { method, apiKey: ADMIN_TOKEN, ...(body === undefined ? {} : { body }) };
  const reply = await service.request(`/admin${path}`, request);
  await service.advance(1);
  return reply;
}

const send = (service: Harness) =>
  service.request('/sms', { body: verification(NUMBER, { provider: 'sms', senderId: 'Souq' }) });
const OWN = '/projects/demo/sender-ids';

describe('sender IDs of operators', () => {
  it('a sender ID is requested, approved, priced and rejected while the service runs, and each change is recorded', async () => {
    const service = await start();
    expect(codeOf(await send(service))).toEqual([400, 'sender-id-not-found']);
    const requested = await admin(service, 'POST', OWN, { senderId: 'Souq', pricePerSms: PRICES });
    expect(requested).toMatchObject({
      status: 200,
      body: { id: expect.stringMatching(HEX24), senderId: 'Souq', status: 'pending', reason: null },
    });
    expect((await admin(service, 'GET', '/sender-ids?status=pending')).body).toEqual({
      senderIds: [requested.body],
      next: null,
    });
    expect(codeOf(await send(service))).toEqual([400, 'sender-id-not-accepted']);

    expect((await admin(service, 'POST', `${OWN}/Souq/approve`)).body).toMatchObject({ status: 'accepted' });
    const first = await send(service);
    expect(first).toMatchObject({ status: 200, body: { cost: 20.5 } });
    await admin(service, 'PATCH', `${OWN}/Souq`, { pricePerSms: { asiaCell: 33.125 } });
    expect((await send(service)).body).toMatchObject({ cost: 33.125 });
    const { smsId } = first.body as { smsId: string };
    expect((await service.request(`/sms/track/${smsId}`)).body).toMatchObject({ cost: 20.5 });

    await admin(service, 'POST', `${OWN}/Souq/reject`, { reason: 'A bank' });
    expect(codeOf(await send(service))).toEqual([400, 'sender-id-not-accepted']);
    const { id } = requested.body as { id: string };
    expect((await service.request('/sender-ids')).body).toEqual({
      success: true,
      data: [{ _id: id, senderId: 'Souq', status: 'rejected', pricePerSms: { ...PRICES, asiaCell: 33.125 } }],
    });
    expect((await admin(service, 'GET', `${OWN}?status=rejected`)).body).toMatchObject({
      senderIds: [{ id, reason: 'A bank' }],
    });
    expect((await admin(service, 'POST', `${OWN}/${id}/approve`)).body).toMatchObject({
      status: 'accepted',
      reason: null,
    });
    const { records } = (await admin(service, 'GET', '/audit')).body as { records: object[] };
    expect(records).toMatchObject([
      { action: 'sender-id-approved', before: { status: 'rejected', reason: 'A bank' } },
      { action: 'sender-id-rejected', after: { id, senderId: 'Souq', status: 'rejected', reason: 'A bank' } },
      { action: 'sender-id-priced', before: { pricePerSms: PRICES } },
      { action: 'sender-id-approved', before: { status: 'pending' }, after: { status: 'accepted' } },
      { action: 'sender-id-requested', before: null, after: { senderId: 'Souq', pricePerSms: PRICES } },
    ]);
    await service.advance(86_400_000);
    await service.assertQuiet();
  });

  it('a decision or a price that is there already changes nothing and is not recorded', async () => {
    const service = await start();
    await admin(service, 'POST', OWN, { senderId: 'Souq', pricePerSms: PRICES });
    await admin(service, 'POST', `${OWN}/Souq/approve`);
    await admin(service, 'POST', `${OWN}/Souq/approve`);
    await admin(service, 'PATCH', `${OWN}/Souq`, { pricePerSms: { others: 40 } });
    await admin(service, 'PATCH', `${OWN}/Souq`, { pricePerSms: {} });
    expect((await admin(service, 'GET', '/audit')).body).toMatchObject({
      records: [{ action: 'sender-id-approved' }, { action: 'sender-id-requested' }],
    });
  });

  it('a request that cannot be done has a documented error and changes nothing', async () => {
    const service = await start();
    const cases: [string, string, unknown, number, string][] = [
      ['POST', '/projects/none/sender-ids', { senderId: 'A', pricePerSms: PRICES }, 404, 'project-not-found'],
      ['POST', OWN, { senderId: 'Twelve chars', pricePerSms: PRICES }, 400, 'validation-failed'],
      ['POST', OWN, { senderId: '', pricePerSms: PRICES }, 400, 'validation-failed'],
      ['POST', OWN, { senderId: 'A\u0007', pricePerSms: PRICES }, 400, 'validation-failed'],
      ['POST', OWN, { senderId: 'A', pricePerSms: { ...PRICES, others: 0.0005 } }, 400, 'validation-failed'],
      ['POST', OWN, { senderId: 'A', pricePerSms: { ...PRICES, others: -1 } }, 400, 'validation-failed'],
      ['POST', OWN, { senderId: 'A', pricePerSms: { others: 1 } }, 400, 'validation-failed'],
      ['POST', `${OWN}/A/approve`, undefined, 404, 'unknown-sender-id'],
      ['POST', `${OWN}/A/reject`, {}, 400, 'validation-failed'],
      ['POST', `${OWN}/A/reject`, { reason: 'No' }, 404, 'unknown-sender-id'],
      ['PATCH', `${OWN}/A`, { pricePerSms: { others: 1 } }, 404, 'unknown-sender-id'],
      ['GET', `${OWN}?status=new`, undefined, 400, 'validation-failed'],
    ];
    for (const [method, path, body, ...expected] of cases) {
      expect([path, ...codeOf(await admin(service, method, path, body))]).toEqual([path, ...expected]);
    }
    expect((await admin(service, 'GET', '/audit')).body).toEqual({ records: [], next: null });
    await admin(service, 'POST', OWN, { senderId: 'A', pricePerSms: PRICES });
    const again = await admin(service, 'POST', OWN, { senderId: 'A', pricePerSms: PRICES });
    expect(codeOf(again)).toEqual([409, 'sender-id-taken']);
    await admin(service, 'POST', '/projects/demo/archive');
    const late = await admin(service, 'POST', OWN, { senderId: 'B', pricePerSms: PRICES });
    expect(codeOf(late)).toEqual([409, 'project-archived']);
  });

  it('of two operators who request one name at once, one gets it', async () => {
    const service = await start();
    const body = { senderId: 'Souq', pricePerSms: PRICES };
    const replies = await Promise.all([1, 2, 3, 4].map(() => admin(service, 'POST', OWN, body)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  it('the list of sender IDs has pages with a cursor', async () => {
    const service = await start();
    for (const senderId of ['A', 'B', 'C']) {
      await admin(service, 'POST', OWN, { senderId, pricePerSms: PRICES });
    }
    const names: string[] = [];
    for (let path: string | null = '?limit=2'; path !== null; ) {
      const { body } = await admin(service, 'GET', `/sender-ids${path}`);
      const page = body as { senderIds: { senderId: string }[]; next: string | null };
      names.push(...page.senderIds.map(({ senderId }) => senderId));
      path = page.next === null ? null : `?limit=2&cursor=${page.next}`;
    }
    expect(names).toEqual(['A', 'B', 'C']);
  });
});
