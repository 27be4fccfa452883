import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { OpenApi } from '../../src/adapters/http/openapi/open-api.ts';
import { DEMO_SEED } from '../../src/bootstrap/config/demo-seed.ts';
import type { SeedFile } from '../../src/bootstrap/config/seed-file.ts';
import { type Harness, startHarness } from '../../src/bootstrap/harness/harness.ts';
import { portOf } from '../support/port-of.ts';
import type { Target } from './generated-run.ts';

/** Longer than everything that a message, a webhook or a campaign waits for. */
const LAST_DELAY_MS = 4 * 24 * 60 * 60 * 1000;
const CREDIT = 10_000_000;
export const API_KEYS = [0, 1].map((n) => `sk_dev_${String(n).repeat(40)}`);

const CREDENTIALS = ['GENERATED_ACCESS_TOKEN', 'GENERATED_APP_SECRET', 'GENERATED_VERIFY_TOKEN'] as const;
const CLOUD_API = {
  kind: 'cloud-api',
  accessToken: { env: CREDENTIALS[0] },
  appSecret: { env: CREDENTIALS[1] },
  verifyToken: { env: CREDENTIALS[2] },
};

/** A harness with two projects that share nothing. */
export class GeneratedService {
  readonly harness: Harness;
  readonly port: number;
  readonly #receiver: Server;
  readonly #receiverPort: number;

  static async start(): Promise<GeneratedService> {
    // Webhooks go to a port that closes every connection: they fail at once, and reach nothing else.
    const receiver = createServer((socket) => socket.destroy());
    await once(receiver.listen(0, '127.0.0.1'), 'listening');
    for (const name of CREDENTIALS) process.env[name] = 'of-the-test';
    const harness = await startHarness({
      seed: twoProjects(),
      // Callbacks have somebody to go to; no live project sends anything.
      channels: { whatsapp: { providers: { meta: CLOUD_API } } },
      // One campaign would wait for another that comes from the same number.
      keepsPlatformLimits: false,
      egress: { allow: ['127.0.0.1/32'], ports: [portOf(receiver)] },
    });
    return new GeneratedService(harness, Number(new URL(await harness.url).port), receiver);
  }

  private constructor(harness: Harness, port: number, receiver: Server) {
    this.harness = harness;
    this.port = port;
    this.#receiver = receiver;
    this.#receiverPort = portOf(receiver);
  }

  /** The document as it is served. */
  async document(): Promise<OpenApi> {
    return (await this.harness.request('/openapi.json')).body as OpenApi;
  }

  /** The service as a run sees it, at its own port or at that of a server in front of it. */
  target(port = this.port): Target {
    const { harness } = this;
    return {
      port,
      apiKeys: API_KEYS,
      webhookUrl: `https://127.0.0.1:${this.#receiverPort}/hook`,
      advance: (ms) => harness.advance(ms),
      settle: () => harness.settle(),
      submissions: () => harness.inbox.all().length,
    };
  }

  /** Waits until everything is over, and throws unless every account equals its ledger. */
  async assertQuiet(): Promise<void> {
    await this.harness.advance(LAST_DELAY_MS);
    await this.harness.assertQuiet();
  }

  async close(): Promise<void> {
    await this.harness.close();
    this.#receiver.close();
  }
}

function twoProjects(): SeedFile {
  const [demo] = DEMO_SEED.projects;
  if (demo === undefined) throw new Error('The demo has a project');
  return { ...DEMO_SEED, projects: API_KEYS.map((apiKey, n) => projectOf(demo, apiKey, n)) };
}

type Project = SeedFile['projects'][number];

/** The demo under names and ids of its own, with what else requests can name. */
function projectOf(demo: Project, apiKey: string, n: number): Project {
  const id = (last: number): string => `66${n}def456abc78901234${String(last).padStart(4, '0')}`;
  const [sender] = demo.senderIds ?? [];
  const [business] = demo.whatsapp?.businesses ?? [];
  const [account] = business?.whatsappAccounts ?? [];
  const [number] = account?.phoneNumbers ?? [];
  const [order] = account?.templates ?? [];
  if (!sender || !business || !account || !number || !order)
    throw new Error('The demo has whatsapp and a sender ID');
  return {
    ...demo,
    name: `Project ${n}`,
    slug: `project-${n}`,
    apiKeys: [apiKey],
    credit: CREDIT,
    rateLimit: null,
    senderIds: [
      { ...sender, senderId: `Sender${n}` },
      { ...sender, senderId: `Waiting${n}`, status: 'pending' },
    ],
    whatsapp: {
      businesses: [
        {
          ...business,
          id: id(1),
          // The newest is named most often, so the one with templates comes last.
          whatsappAccounts: [
            { ...account, id: id(6), phoneNumbers: [{ ...number, id: id(7) }], templates: [] },
            {
              ...account,
              id: id(2),
              phoneNumbers: [{ ...number, id: id(3), messagingLimit: 'TIER_UNLIMITED' }],
              templates: [
                { ...order, id: id(4), name: `order_${n}` },
                { ...order, id: id(5), name: `offer_${n}`, category: 'MARKETING' },
              ],
            },
          ],
        },
      ],
    },
  };
}
