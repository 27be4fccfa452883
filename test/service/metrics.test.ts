import { describe, expect, it } from 'vitest';
import { aPrometheus } from '../adapters/prometheus/prometheus-world.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

const NUMBER = '9647701234567';

async function aService(options: Parameters<typeof startService>[0] = {}) {
  const world = aPrometheus();
  const service = await startService({ ...options, instruments: [world.instrument] });
  return { ...world, service };
}

describe('the metrics of a service', () => {
  it('a delivered message is counted from its request to the money that was captured', async () => {
    const { service, samples } = await aService();
    const sent = await service.request('/sms', { body: verification(NUMBER) });
    expect(sent.status).toBe(200);
    await service.advance(60_000);

    const found = await samples();
    const accepted = 'barid_messages_accepted_total{type="verification",source="single"}';
    expect(found.get(accepted)).toBe(1);
    expect(
      found.get('barid_http_request_duration_seconds_count{method="POST",route="/sms",status="2xx"}'),
    ).toBe(1);
    const final = [...found].filter(([name]) => name.startsWith('barid_messages_final_total'));
    expect(final).toEqual([['barid_messages_final_total{channel="whatsapp",status="delivered"}', 1]]);
    expect(
      found.get('barid_message_time_to_delivered_seconds_count{channel="whatsapp",source="single"}'),
    ).toBe(1);
    expect(found.get('barid_money_captured_iqd_total{channel="whatsapp"}')).toBe(
      (sent.body as { cost: number }).cost,
    );
    const submits =
      'barid_provider_submit_duration_seconds_count{channel="whatsapp",provider="simulator",result="accepted"}';
    expect(found.get(submits)).toBe(1);
    expect(found.get('barid_jobs_taken_total{kind="start-attempt"}')).toBe(1);
  });

  it('a rejected send is counted by its error code, and not as accepted', async () => {
    const { service, samples } = await aService();
    const sent = await service.request('/sms', { body: { phoneNumber: 'nobody' } });
    expect(sent.status).toBe(400);
    const found = await samples();
    expect(found.get(`barid_sends_rejected_total{code="${sent.headers.get('x-error-code')}"}`)).toBe(1);
    expect([...found.keys()].filter((name) => name.includes('messages_accepted'))).toEqual([]);
  });

  it('no label has an id, a number, a key or the path of a request', async () => {
    const { service, scrape } = await aService();
    const sent = await service.request('/sms', { body: verification(NUMBER) });
    const { smsId } = sent.body as { smsId: string };
    await service.request(`/sms/track/${smsId}`);
    await service.request(`/nowhere/${NUMBER}`);
    await service.request('/sms', { apiKey: 'sk_dev_wrong', body: {} });
    await service.advance(60_000);
    const text = await (await scrape()).text();
    expect(text).toContain('route="none"');
    for (const secret of [smsId, smsId.slice(4), NUMBER, service.apiKey, 'sk_dev', 'nowhere']) {
      expect(text).not.toContain(secret);
    }
    expect(text).not.toMatch(/[0-9a-f]{24}/);
  });

  it('a scrape tells the due jobs, the oldest of them, the workers and the queue', async () => {
    const { service, samples } = await aService();
    const found = await samples();
    expect(found.get('barid_jobs_due{priority="code"}')).toBe(0);
    expect(found.get('barid_jobs_oldest_due_seconds{priority="code"}')).toBe(0);
    expect(found.get('barid_dead_letter_jobs')).toBe(0);
    expect(found.get('barid_workers')).toBe(1);
    expect(found.get('barid_queue_connected')).toBe(1);
    expect(found.get('barid_webhook_circuits_open')).toBe(0);
    expect(found.get('barid_build_info{version="1.2.3",commit="unknown",role="all"}')).toBe(1);
    await service.close();
  });

  it('a provider of live projects is shown with its circuit', async () => {
    const { samples } = await aService({ providers: { sms: 'simulator' }, seed: seedWith({}) });
    const found = await samples();
    expect(found.get('barid_provider_up{channel="sms",provider="simulator"}')).toBe(1);
    expect(found.get('barid_provider_circuit_open{channel="sms",provider="simulator"}')).toBe(0);
  });

  it('the listener serves the metrics and nothing else', async () => {
    const { scrape } = await aService();
    const metrics = await scrape();
    expect(metrics.headers.get('content-type')).toContain('text/plain');
    expect((await scrape('/sms')).status).toBe(404);
    expect((await scrape('/')).status).toBe(404);
  });
});
