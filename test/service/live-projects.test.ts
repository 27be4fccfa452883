import { describe, expect, it } from 'vitest';
import type { HarnessOptions } from '../../src/bootstrap/harness/harness.ts';
import { startService } from '../support/running-service.ts';
import { LIVE_KEY, seedWith, verification } from '../support/seeds.ts';

const NUMBER = '9647701234567';

const start = (providers: HarnessOptions['providers'] = {}) =>
  startService({ seed: seedWith({ environment: 'live', apiKeys: [LIVE_KEY] }), providers });

describe('a live project', () => {
  it('a live project has no channel while none is configured, and its sends are errors that cost nothing', async () => {
    const service = await start();
    for (const provider of ['sms', 'whatsapp', 'telegram', 'whatsapp-sms']) {
      const reply = await service.request('/sms', { body: verification(NUMBER, { provider }) });
      const first = provider === 'whatsapp-sms' ? 'whatsapp' : provider;
      expect(reply.status).toBe(400);
      expect(reply.headers.get('x-error-code')).toBe('channel-not-available');
      expect(reply.body).toEqual({ error: `The channel ${first} is not available to this project` });
    }
    const auto = await service.request('/sms', { body: verification(NUMBER) });
    expect([auto.status, auto.headers.get('x-error-code')]).toEqual([400, 'unsupported-destination']);
    expect(auto.body).toEqual({ error: 'No channel that carries this message is available to this project' });
    expect((await service.request('/info')).body).toMatchObject({ credit: 15_000 });
    expect(service.inbox.all()).toEqual([]);
    await service.assertQuiet();
  });

  it('a live project has the channels whose simulator is written out, alone and in auto', async () => {
    const service = await start({ sms: 'simulator' });
    const { body } = await service.request('/sms', { body: verification(NUMBER) });
    await service.advance(1_000);
    const { smsId } = body as { smsId: string };
    expect((await service.request(`/sms/track/${smsId}`)).body).toMatchObject({
      status: 'delivered',
      channelFlow: [{ channel: 'sms', tried: true, success: true }],
    });
    const whatsapp = await service.request('/sms', {
      body: verification(NUMBER, { provider: 'whatsapp-sms' }),
    });
    expect(whatsapp.headers.get('x-error-code')).toBe('channel-not-available');
    await service.assertQuiet();
  });

  it('/readyz shows the channels of live projects', async () => {
    const service = await start({ sms: 'simulator' });
    const none = 'no provider: live projects do not have this channel';
    expect((await service.request('/readyz')).body).toMatchObject({
      status: 'ready',
      dependencies: [
        { name: 'database' },
        { name: 'queue' },
        { name: 'jobs', ok: true, critical: false, detail: 'none due' },
        { name: 'workers', ok: true, critical: false, detail: '1 seen, the last one 0 s ago' },
        { name: 'sms', ok: true, critical: false, detail: 'simulator, nothing is sent' },
        { name: 'whatsapp', ok: true, critical: false, detail: none },
        { name: 'telegram', ok: true, critical: false, detail: none },
      ],
    });
  });
});

it('a dev project has every channel, whatever is configured', async () => {
  const service = await startService();
  for (const provider of ['sms', 'whatsapp', 'telegram']) {
    const reply = await service.request('/sms', { body: verification(NUMBER, { provider }) });
    expect(reply.status).toBe(200);
  }
});
