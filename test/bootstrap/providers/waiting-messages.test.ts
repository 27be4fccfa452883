import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  PROVIDER_REQUESTS_MAX,
  UndiciProviderHttp,
} from '../../../src/adapters/egress/providers/undici-provider-http.ts';
import { nodeHmac } from '../../../src/adapters/node/node-hmac.ts';
import { cloudApiKind } from '../../../src/bootstrap/providers/cloud-api.ts';
import { httpGatewayKind } from '../../../src/bootstrap/providers/http-gateway.ts';
import type { ProviderTools } from '../../../src/bootstrap/providers/provider-kind.ts';
import { secretIn } from '../../../src/bootstrap/providers/secret.ts';
import { telegramGatewayKind } from '../../../src/bootstrap/providers/telegram-gateway.ts';
import { aSubmission, NOW } from '../../support/builders.ts';
import { PLATFORM_PHONE_ID } from '../../support/cloud-api-peer.ts';
import { aLinkedBusiness, directoryOf } from '../../support/cloud-api-world.ts';
import { IDLE_EVENT_LOOP } from '../../support/idle-event-loop.ts';
import { portOf } from '../../support/port-of.ts';
import { providerTls } from '../../support/provider-tls.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { submitAll } from '../../support/submit-all.ts';

const silent = createServer(() => undefined);

beforeAll(async () => {
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
});

afterAll(() => {
  silent.closeAllConnections();
  silent.close();
});

const tools: ProviderTools = {
  name: 'busy',
  clock: { now: () => NOW },
  eventLoop: IDLE_EVENT_LOOP,
  logger: new RecordingLogger(),
  hmac: nodeHmac,
  whatsappDirectory: directoryOf([aLinkedBusiness()]),
  timedTls: providerTls,
  http: () => new UndiciProviderHttp({ waitMs: 100, timeoutMs: 400 }),
};
const secret = secretIn({ SECRET: 'a-secret' });
const env = { env: 'SECRET' };
const url = () => `http://127.0.0.1:${portOf(silent)}`;

const gateway = () =>
  httpGatewayKind.make(
    httpGatewayKind.settings(secret).parse({
      request: { method: 'POST', url: `${url()}/send`, json: { to: '{to}', text: '{text}' } },
      success: { id: '/id' },
    }),
    tools,
  );
const telegram = (checkSendAbility: boolean) => () =>
  telegramGatewayKind.make(
    telegramGatewayKind.settings(secret).parse({ token: env, checkSendAbility, baseUrl: url() }),
    tools,
  );
const cloudApi = () =>
  cloudApiKind.make(
    {
      accessToken: 'token',
      appSecret: 'app-secret',
      verifyToken: 'verify-token',
      phoneNumberId: PLATFORM_PHONE_ID,
      verificationTemplate: undefined,
      version: 'v25.0',
      baseUrl: url(),
    },
    tools,
  );

it.each([
  ['HTTP gateway', 'sms', gateway],
  ['Telegram Gateway', 'telegram', telegram(false)],
  ['Telegram Gateway that is asked first', 'telegram', telegram(true)],
  ['Cloud API', 'whatsapp', cloudApi],
] as const)(
  'a message that waits too long for the connections of a %s may be tried later',
  async (_, channel, make) => {
    const { provider } = make();
    const submissions = Array.from({ length: PROVIDER_REQUESTS_MAX + 1 }, () =>
      aSubmission({ channel, environment: 'live' }),
    );
    const results = await submitAll(provider, submissions);
    await provider.close();
    expect(results.at(-1)).toEqual({
      kind: 'rejected',
      reason: 'More messages wait than the provider takes',
      endsChain: false,
      cause: 'limited',
    });
  },
);
