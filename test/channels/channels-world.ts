import type { SeedFile } from '../../src/bootstrap/config/seed-file.ts';
import type { Harness, HarnessOptions } from '../../src/bootstrap/harness/harness.ts';
import {
  ACCESS_TOKEN,
  APP_SECRET,
  CloudApiPeer,
  PLATFORM_PHONE_ID,
  VERIFY_TOKEN,
} from '../support/cloud-api-peer.ts';
import { startService } from '../support/running-service.ts';
import { LIVE_KEY, seedWith } from '../support/seeds.ts';
import { Smsc } from '../support/smsc.ts';
import { TelegramPeer } from '../support/telegram-peer.ts';
import { until } from '../support/until.ts';

const TELEGRAM_TOKEN = 'token-of-the-gateway';

const SECRETS: Readonly<Record<string, string>> = {
  TEST_META_TOKEN: ACCESS_TOKEN,
  TEST_META_APP_SECRET: APP_SECRET,
  TEST_META_VERIFY_TOKEN: VERIFY_TOKEN,
  TEST_TELEGRAM_TOKEN: TELEGRAM_TOKEN,
  TEST_SMSC_PASSWORD: 'secret',
};

type SeedProject = SeedFile['projects'][number];

/** A service whose live project has every channel, with the other side of each on this machine. */
export class ChannelsWorld {
  readonly meta: CloudApiPeer;
  readonly telegram: TelegramPeer;
  readonly smsc: Smsc;
  readonly service: Harness;

  private constructor(meta: CloudApiPeer, telegram: TelegramPeer, smsc: Smsc, service: Harness) {
    this.meta = meta;
    this.telegram = telegram;
    this.smsc = smsc;
    this.service = service;
  }

  /** Resolves once the service is bound to the SMSC. */
  static async open(
    project: Partial<SeedProject> = {},
    options: Pick<HarnessOptions, 'egress'> = {},
  ): Promise<ChannelsWorld> {
    Object.assign(process.env, SECRETS);
    const [meta, smsc] = await Promise.all([CloudApiPeer.open(), Smsc.start()]);
    const clock = { now: () => world?.service.now().getTime() ?? 0 };
    const telegram = new TelegramPeer(clock);
    await telegram.open();
    telegram.allow(TELEGRAM_TOKEN);
    let world: ChannelsWorld | null = null;
    const service = await startService({
      ...options,
      seed: seedWith({ environment: 'live', apiKeys: [LIVE_KEY], rateLimit: null, ...project }),
      channels: {
        whatsapp: {
          providers: {
            meta: {
              kind: 'cloud-api',
              accessToken: { env: 'TEST_META_TOKEN' },
              appSecret: { env: 'TEST_META_APP_SECRET' },
              verifyToken: { env: 'TEST_META_VERIFY_TOKEN' },
              phoneNumberId: PLATFORM_PHONE_ID,
              baseUrl: meta.url,
            },
          },
        },
        telegram: {
          providers: {
            gateway: {
              kind: 'telegram-gateway',
              token: { env: 'TEST_TELEGRAM_TOKEN' },
              baseUrl: telegram.url,
              callbackUrl: 'https://sms.example.com/callbacks/gateway',
            },
          },
        },
        sms: {
          providers: {
            smsc: {
              kind: 'smpp',
              url: `smpp://127.0.0.1:${smsc.port}`,
              systemId: 'barid',
              password: { env: 'TEST_SMSC_PASSWORD' },
              senderId: 'Barid',
            },
          },
        },
      },
    });
    world = new ChannelsWorld(meta, telegram, smsc, service);
    await smsc.seen('bind');
    await until(async () => (await world?.health('sms'))?.ok === true);
    return world;
  }

  async close(): Promise<void> {
    await Promise.all([this.telegram.close(), this.smsc.kill()]);
  }

  async health(channel: string): Promise<{ readonly ok: boolean; readonly detail: string } | undefined> {
    const { body } = await this.service.request('/readyz', { apiKey: null });
    const { dependencies } = body as {
      dependencies: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
    };
    return dependencies.find(({ name }) => name === channel);
  }

  /** Sends a message, and resolves with its id once everything that follows at once is done. */
  async send(body: Readonly<Record<string, unknown>>): Promise<string> {
    const reply = await this.service.request('/sms', { body });
    if (reply.status !== 200) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
    await this.service.advance(0);
    return (reply.body as { smsId: string }).smsId;
  }

  async track(smsId: string): Promise<Readonly<Record<string, unknown>>> {
    return (await this.service.request(`/sms/track/${smsId}`)).body as Record<string, unknown>;
  }

  async credit(): Promise<number> {
    return ((await this.service.request('/info')).body as { credit: number }).credit;
  }

  /** Sends a callback; resolves with the status of the reply. */
  async post(
    provider: string,
    { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  ): Promise<number> {
    const response = await fetch(`${await this.service.url}/callbacks/${provider}`, {
      method: 'POST',
      headers,
      body,
    });
    await response.arrayBuffer();
    return response.status;
  }
}
