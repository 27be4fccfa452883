import { randomBytes } from 'node:crypto';
import type { ContainerModule } from 'inversify';
import { HTTPS_PORT } from '../../adapters/egress/webhooks/webhook-url.ts';
import type { ObservedReply } from '../../adapters/http/server/writing/observed-reply.ts';
import { PinoLogger } from '../../adapters/pino/pino-logger.ts';
import { RabbitJobQueue } from '../../adapters/rabbitmq/job-queue.ts';
import type { SimulatedScript } from '../../adapters/simulator/simulator.ts';
import { problemsOf, unfinishedIn } from '../../application/billing/audit-ledger.ts';
import { FailoverJobQueue } from '../../application/jobs/failover-job-queue.ts';
import type { Submission } from '../../application/ports/channel-provider.ts';
import type { Campaign } from '../../domain/campaigns/campaign.ts';
import type { Recipient } from '../../domain/campaigns/recipient.ts';
import type { Message } from '../../domain/messages/message.ts';
import type { SubmissionOutcome } from '../../domain/sandbox/sandbox-outcomes.ts';
import { byName } from '../../domain/shared/by-name.ts';
import { CHANNELS, type Channel } from '../../domain/shared/channel.ts';
import type { InboundContent } from '../../domain/webhooks/inbound-event.ts';
import { type ChannelsConfig, parseChannels, simulated } from '../config/channels-file.ts';
import { SECRET_KEY_BYTES } from '../config/config-entries.ts';
import { DEMO_API_KEY, DEMO_SEED } from '../config/demo-seed.ts';
import type { EgressConfig } from '../config/egress-config.ts';
import { readSeed, type SeedFile } from '../config/seed-file.ts';
import type { Instrument } from '../instrument.ts';
import { Service } from '../service.ts';
import { handsetOf, Inbox } from './inbox.ts';
import { MovableClock } from './movable-clock.ts';
import { type HarnessWiring, openWiring } from './wiring.ts';

export type { SimulatedMessage, SimulatedScript } from '../../adapters/simulator/simulator.ts';
export type { SeedFile } from '../config/seed-file.ts';
export type { InboxFilter, InboxMessage } from './inbox.ts';

export interface HarnessOptions {
  /** What the service starts with; the demo project without one. */
  readonly seed?: SeedFile;
  /** The first instant, anything `Date` understands but no year before 1970; 2030-01-01T00:00:00Z without one. */
  readonly now?: string | number;
  /** Called with every reply of the HTTP interface; throw to report one that is wrong. */
  readonly observeReply?: (seen: ObservedReply) => void;
  /**
   * Lets webhooks reach a receiver on this machine: the ranges and ports they may go to (public addresses and
   * 443 without), and the authority its certificate comes from.
   */
  readonly egress?: Partial<EgressConfig>;
  /** The channels of live projects, `simulator` each; live projects have none without. Dev projects have all. */
  readonly providers?: Partial<Record<Channel, 'simulator'>>;
  /** The content of a channels file, whose providers are stand-ins on this machine; `providers` comes before it. */
  readonly channels?: unknown;
  /** Whether campaigns keep the sending rate and the daily limit of the platform; they do without. */
  readonly keepsPlatformLimits?: boolean;
  /**
   * More or other adapters; later modules win.
   * @internal
   */
  readonly overrides?: readonly ContainerModule[];
  /**
   * What stands around the ports; nothing without.
   * @internal
   */
  readonly instruments?: readonly Instrument[];
  /**
   * The token of the admin interface, which is off without.
   * @internal
   */
  readonly adminToken?: string;
  /** Printed to standard error when set; a harness is silent without. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
}

export interface HarnessRequest {
  readonly method?: string;
  readonly apiKey?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export interface HarnessReply {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed when it is JSON, the text of everything else; null without a body. */
  readonly body: unknown;
}

/** A campaign as it is stored: amounts in thousandths of an IQD, instants in milliseconds since 1970. */
export interface StoredCampaign extends Campaign {
  readonly recipients: readonly Recipient[];
}

const RESULTS: ReadonlySet<unknown> = new Set(['accepted', 'rejected', 'unavailable', 'unknown']);
const DEFAULT_NOW = '2030-01-01T00:00:00Z';
const LOOPBACK = '127.0.0.1';

/**
 * The whole service inside the calling process, for other programs' tests: a database of its own, a clock that
 * moves only by `advance`, a simulator that follows a script, an inbox with the messages that reached handsets.
 * `HARNESS_DATABASE_URL` and `HARNESS_QUEUE_URL` put the same tests on PostgreSQL and RabbitMQ.
 */
export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  const clock = new MovableClock(firstInstant(options.now ?? DEFAULT_NOW));
  const inbox = new Inbox();
  const seed = readSeed(options.seed ?? DEMO_SEED);
  const channels = channelsOf(options);
  const wiring = await openWiring(process.env);
  try {
    const service = new Service({
      role: 'all',
      database: wiring.database,
      queue: wiring.queue,
      channels,
      secretKey: randomBytes(SECRET_KEY_BYTES),
      egress: { allow: [], ports: [HTTPS_PORT], ...options.egress },
      clock,
      logger: new PinoLogger({ level: options.logLevel ?? 'silent' }),
      watchesClock: false,
      seed,
      onSubmission: (message) => inbox.receive(message),
      overrides: options.overrides ?? [],
      instruments: options.instruments ?? [],
      ...(options.adminToken === undefined ? {} : { adminToken: options.adminToken }),
      ...(options.keepsPlatformLimits === undefined
        ? {}
        : { keepsPlatformLimits: options.keepsPlatformLimits }),
      ...(options.observeReply === undefined ? {} : { observeReply: options.observeReply }),
    });
    await start(service);
    return new Harness(service, wiring, clock, inbox, firstKey(options.seed));
  } catch (error) {
    await wiring.close();
    throw error;
  }
}

/** Stops the service again when it does not start. */
async function start(service: Service): Promise<void> {
  try {
    await service.start();
    const { jobQueue } = service.roots;
    const broker = jobQueue instanceof FailoverJobQueue ? jobQueue.broker : null;
    if (broker instanceof RabbitJobQueue) await broker.ready();
  } catch (error) {
    await service.stop();
    throw error;
  }
}

function channelsOf({ providers = {}, channels = {} }: HarnessOptions): ChannelsConfig {
  const file = parseChannels(JSON.stringify(channels), process.env);
  return byName(CHANNELS, (channel) => (providers[channel] === undefined ? file[channel] : simulated()));
}

export class Harness {
  /** Every message that reached a handset: what its channel rejected is not here. */
  readonly inbox: Inbox;
  /** The first API key of the seed. */
  readonly apiKey: string;
  readonly #service: Service;
  readonly #wiring: HarnessWiring;
  readonly #clock: MovableClock;
  #url: Promise<string> | null = null;
  #closed: Promise<void> | null = null;
  #script: SimulatedScript = () => null;
  /** What the script threw first, until a call has thrown it. */
  #scriptFailure: unknown = null;
  /** Numbers and the channels they are not on. */
  readonly #unreachable = new Set<string>();

  /** @internal */
  constructor(service: Service, wiring: HarnessWiring, clock: MovableClock, inbox: Inbox, apiKey: string) {
    this.#service = service;
    this.#wiring = wiring;
    this.#clock = clock;
    this.inbox = inbox;
    this.apiKey = apiKey;
    service.roots.simulator.follow((submission) => {
      const { phoneNumber, channel } = submission;
      return this.#unreachable.has(`${phoneNumber} ${channel}`)
        ? { result: 'rejected', reason: `The number is not on ${channel}` }
        : this.#scripted(submission);
    });
  }

  /** What the script says. The service takes a script that throws for a provider that failed: the test has to hear of it too. */
  async #scripted(submission: Submission): Promise<SubmissionOutcome | null> {
    try {
      const outcome = await this.#script(submission);
      if (outcome !== null && !RESULTS.has(outcome?.result)) {
        throw new Error(`A script returned ${JSON.stringify(outcome)}: result is ${[...RESULTS].join(', ')}`);
      }
      return outcome;
    } catch (error) {
      this.#scriptFailure ??= error;
      this.inbox.fail(error);
      throw error;
    }
  }

  /** Where the HTTP interface is; the port is opened when this is first read. Rejects once the harness is closed. */
  get url(): Promise<string> {
    if (this.#closed !== null) return Promise.reject(new Error('The harness is closed'));
    this.#url ??= this.#service.listen(0, LOOPBACK).then((port) => `http://${LOOPBACK}:${port}`);
    return this.#url;
  }

  /** One request to the HTTP interface, with the seed's first key unless told otherwise. */
  async request(path: string, request: HarnessRequest = {}): Promise<HarnessReply> {
    if (!path.startsWith('/')) throw new Error(`The path of a request begins with /, such as /sms: ${path}`);
    const apiKey = request.apiKey === undefined ? this.apiKey : request.apiKey;
    const response = await fetch(`${await this.url}${path}`, {
      method: request.method ?? (request.body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: bodyOf(response.headers.get('content-type'), text),
    };
  }

  now(): Date {
    return new Date(this.#clock.now());
  }

  /**
   * Moves the clock by milliseconds, a part of one counts as one, and stops at every instant at which work is due. All due work
   * is done before the promise resolves. Rejects for a negative number and for none, and with what a script threw meanwhile.
   */
  async advance(ms: number): Promise<void> {
    if (!Number.isFinite(ms) || ms < 0)
      throw new RangeError(`advance(${ms}): the clock moves by 0 ms or more`);
    const target = this.#clock.now() + Math.ceil(ms);
    await this.settle();
    for (
      let next = await this.#nextDueAt();
      next !== null && next <= target;
      next = await this.#nextDueAt()
    ) {
      this.#clock.moveTo(Math.max(next, this.#clock.now()));
      await this.settle();
    }
    this.#clock.moveTo(target);
    await this.settle();
    await this.#service.roots.workerHeartbeat.beat();
  }

  /** Does all work that is due at the present instant. Rejects with what a script threw meanwhile. */
  async settle(): Promise<void> {
    const { roots } = this.#service;
    do {
      roots.wakeSignal.wake();
      await this.#service.idle();
    } while (((await this.#nextDueAt()) ?? Number.POSITIVE_INFINITY) <= this.#clock.now());
    const failure = this.#scriptFailure;
    this.#scriptFailure = null;
    if (failure !== null) throw failure;
  }

  /** Decides the outcome of later submissions, in place of an earlier script; null leaves one to its number. */
  script(script: SimulatedScript): void {
    this.#script = script;
  }

  /**
   * Makes a channel reject later submissions to a number, so that its messages fall back. Every call adds one channel;
   * a script does not restore it. Takes every spelling that a send takes, and throws for what is no phone number or no channel.
   */
  without(phoneNumber: string, channel: Channel): void {
    if (!CHANNELS.includes(channel)) {
      throw new Error(`"${channel}" is no channel: the channels are ${CHANNELS.join(', ')}`);
    }
    this.#unreachable.add(`${handsetOf(phoneNumber)} ${channel}`);
  }

  /**
   * Throws unless no work is left, every hold is resolved and every account equals its ledger. The error names the
   * work, the holds and the accounts.
   */
  async assertQuiet(): Promise<void> {
    await this.settle();
    const audit = await this.#service.roots.auditLedger.execute();
    const problems = [...problemsOf(audit), ...unfinishedIn(audit)];
    if (problems.length > 0)
      throw new Error(`The service is not quiet at ${this.now().toISOString()}:\n${problems.join('\n')}`);
  }

  /** A handset writes to one of the projects' whatsapp numbers, named by our 24-hex id. Takes every spelling of the handset's. */
  async writeTo(whatsappPhoneId: string, from: string, content: InboundContent): Promise<void> {
    const contact = { phoneNumber: handsetOf(from), name: '' };
    this.#service.roots.simulator.write({ whatsappPhoneId, contact, content });
    await this.settle();
  }

  /** The stored message, for what the interface does not show. */
  async message(smsId: string): Promise<Message | null> {
    const [message] = await this.#service.roots.unitOfWork.run((stores) => stores.messages.lock([smsId]));
    return message ?? null;
  }

  /** The stored campaign with its recipients in the order of attaching; null when there is none. */
  campaign(id: string): Promise<StoredCampaign | null> {
    return this.#service.roots.unitOfWork.run(async (stores) => {
      const [campaign] = await stores.campaigns.lock([id]);
      return campaign === undefined
        ? null
        : { ...campaign, recipients: await stores.recipients.ofCampaign(id) };
    });
  }

  /**
   * The program behind the harness, for tests of the program itself: `service.roots` holds its ports and use cases.
   * @internal
   */
  get service(): Service {
    return this.#service;
  }

  /** Stops the service, releases its database and deletes its queues. May be called twice. */
  close(): Promise<void> {
    this.#closed ??= this.#service.stop().finally(() => this.#wiring.close());
    return this.#closed;
  }

  /** `await using harness = await startHarness()` closes it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #nextDueAt(): Promise<number | null> {
    const { roots } = this.#service;
    const job = await roots.unitOfWork.read((stores) => stores.jobs.nextDue());
    const receipt = roots.providerEvents.nextDueAt();
    if (job === null || receipt === null) return job?.dueAt ?? receipt;
    return Math.min(job.dueAt, receipt);
  }
}

/** Every instant of the service counts from 1970, and work that was due before would come again for ever. */
function firstInstant(now: string | number): number {
  const instant = new Date(now).getTime();
  if (!(instant >= 0)) throw new RangeError(`now: ${now} is no instant since 1970`);
  return instant;
}

function bodyOf(mediaType: string | null, text: string): unknown {
  if (text === '') return null;
  return mediaType?.startsWith('application/json') === true ? JSON.parse(text) : text;
}

function firstKey(seed: SeedFile | undefined): string {
  return seed === undefined ? DEMO_API_KEY : (seed.projects[0]?.apiKeys[0] ?? '');
}
