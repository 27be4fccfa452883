import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UndiciProviderHttp } from '../../src/adapters/egress/providers/undici-provider-http.ts';
import { nodeHmac } from '../../src/adapters/node/node-hmac.ts';
import { TelegramGatewayCallback } from '../../src/adapters/telegram-gateway/telegram-gateway-callback.ts';
import { TelegramGatewayProvider } from '../../src/adapters/telegram-gateway/telegram-gateway-provider.ts';
import { SUBMIT_TIMEOUT_MS } from '../../src/domain/providers/submit-result.ts';
import { anSmsId, aPhoneNumber, aSubmission, NOW } from '../support/builders.ts';
import { portOf } from '../support/port-of.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { BAD_GATEWAY, TelegramPeer } from '../support/telegram-peer.ts';
import { brokenPromises, type ProviderUnderTest, withCallback } from './channel-provider.contract.ts';

const clock = { now: () => NOW };
const peer = new TelegramPeer(clock);

/** The endpoints of this service, by path: what a report that came in gets for a status. */
const endpoints = new Map<string, (headers: Record<string, string>, body: Buffer) => Promise<number>>();
const service: Server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', async () => {
    const endpoint = endpoints.get(request.url ?? '');
    const status = await endpoint?.(request.headers as Record<string, string>, Buffer.concat(chunks));
    response.writeHead(status ?? 404).end();
  });
});

const REACHED = '9647712345601';
const NOT_ON_TELEGRAM = '9647712345602';
const UNCLEAR = '9647712345603';

let opened = 0;

/** The provider with its callback and a stand-in, over real connections. Each has a token of its own. */
function telegram(checkSendAbility: boolean): ProviderUnderTest {
  opened += 1;
  const token = `AAE-contract-token-${opened}`;
  const path = `/callbacks/telegram-${opened}`;
  peer.allow(token);
  const inner = new TelegramGatewayProvider({
    name: 'telegram',
    http: new UndiciProviderHttp(),
    clock,
    logger: new RecordingLogger(),
    token,
    baseUrl: peer.url,
    senderUsername: null,
    callbackUrl: `http://127.0.0.1:${portOf(service)}${path}`,
    checkSendAbility,
  });
  const callback = new TelegramGatewayCallback({ token, hmac: nodeHmac, clock });
  const { provider, bring } = withCallback(inner, callback);
  endpoints.set(path, async (headers, body) => {
    const isCommitted = await bring({ method: 'POST', query: new URLSearchParams(), headers, body });
    return isCommitted ? 200 : 503;
  });
  const isOurs = ({ authorization }: { readonly authorization: string }) =>
    authorization === `Bearer ${token}`;
  const rows = [
    [REACHED, 'accepted'],
    [NOT_ON_TELEGRAM, 'rejected'],
    [UNCLEAR, 'unknown'],
    [REACHED, 'accepted'],
  ] as const;
  return {
    provider,
    submissions: rows.map(([phoneNumber, kind], index) => ({
      submission: aSubmission({
        smsId: anSmsId(index),
        channel: 'telegram',
        environment: 'live',
        phoneNumber: aPhoneNumber(phoneNumber),
      }),
      kind,
    })),
    carried: () =>
      peer.calls
        .filter((call) => isOurs(call) && call.method === 'sendVerificationMessage')
        .map(({ parameters }) => String(parameters.payload)),
    async letEventsCome() {
      for (const { requestId, message } of peer.requests.values()) {
        if (String(message?.callback_url).endsWith(path)) peer.report(requestId, 'delivered');
      }
      await peer.sendReports(token);
    },
    promptMs: SUBMIT_TIMEOUT_MS,
  };
}

describe('the contract of channel providers', () => {
  beforeAll(async () => {
    await peer.open();
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    peer.misbehave(`+${NOT_ON_TELEGRAM}`, { kind: 'error', code: 'PHONE_NUMBER_NOT_FOUND' });
    peer.misbehave(`sendVerificationMessage +${UNCLEAR}`, BAD_GATEWAY);
  });

  afterAll(async () => {
    await peer.close();
    await new Promise((resolve) => service.close(resolve));
  });

  it('the Telegram Gateway provider keeps the contract of channel providers', async () => {
    expect(await brokenPromises(() => telegram(false))).toEqual([]);
  });

  it('the Telegram Gateway provider keeps the contract when it checks the ability to send', async () => {
    expect(await brokenPromises(() => telegram(true))).toEqual([]);
  });
});
