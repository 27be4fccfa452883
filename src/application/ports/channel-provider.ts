import type { Environment } from '../../domain/access/project.ts';
import type { Backlog } from '../../domain/jobs/fair-share.ts';
import type { JobPriority } from '../../domain/jobs/job-priority.ts';
import type { Content, WhatsappSender } from '../../domain/messages/send-request.ts';
import type { ProviderCapacity } from '../../domain/providers/provider-capacity.ts';
import type { SubmitResult } from '../../domain/providers/submit-result.ts';
import type { Channel } from '../../domain/shared/channel.ts';
import type { PhoneNumber } from '../../domain/shared/phone-number.ts';
import type { ProviderEventSink } from './provider-events.ts';

/**
 * What waits for others at its provider for longer is not sent, over SMPP and over HTTP: the rest of `SUBMIT_TIMEOUT_MS` is for
 * the response. In milliseconds.
 */
export const PROVIDER_WAIT_MS = 4_000;

/** The reason of a message that its provider had no capacity for in time. */
export const WAITED_TOO_LONG_REASON = 'More messages wait than the provider takes';

/** One attempt of one message on its way to a channel provider. */
export interface Submission {
  readonly smsId: string;
  /** Position in the chain; with `smsId` it names this attempt. */
  readonly attemptNumber: number;
  readonly channel: Channel;
  readonly projectId: string;
  readonly environment: Environment;
  readonly phoneNumber: PhoneNumber;
  readonly senderId: string | null;
  readonly whatsappSender: WhatsappSender;
  readonly content: Content;
  /** The free text of the message in the project's language; empty for a template. */
  readonly text: string;
  /** The chain moves on this long after the call of the provider, so nothing should reach the handset later. */
  readonly attemptTimeoutMs: number;
  /** A provider that takes fewer messages than wait submits the most urgent ones first, and projects in rotation. */
  readonly priority: JobPriority;
}

/** Whether a provider can carry messages now, and in which way or why not. */
export interface ProviderHealth {
  readonly ok: boolean;
  readonly detail: string;
  /** Absent while its circuit is closed, and for a provider that has none. */
  readonly circuit?: 'open' | 'half-open';
}

/** What the other side said to the credentials. */
export interface ProviderCheck extends ProviderHealth {
  /** Nothing could be asked without sending a message; `ok` is then true. */
  readonly isUntried?: true;
}

/**
 * Carries the messages of a channel: the simulator, an SMSC, Meta, Telegram. Its constructor only keeps what it is given: an
 * `api` process and the commands make providers and never start them.
 */
export interface ChannelProvider {
  /** Its name in the configuration, which tells it from every other provider of the installation. */
  readonly name: string;
  /**
   * Called once, before the first submission. Events go to the sink from then on. Resolves although the other side cannot be
   * reached: the provider goes on trying, and its health says so.
   */
  start(sink: ProviderEventSink): Promise<void>;
  /**
   * Submits the message once. One call for each message, many at a time: no result waits for another. Never rejects: a message
   * whose fate is not clear is `unknown`, one the provider did not take is `rejected`. An accepted message has at least one id,
   * and no id is given to two messages of a channel, not even after a restart or by another process. A result that takes
   * longer than `SUBMIT_TIMEOUT_MS` counts as `unknown` until it comes.
   */
  submit(submission: Submission): Promise<SubmitResult>;
  /**
   * The listener is told of each submission that goes to the other side, by its backlog: others may begin then. A text in parts
   * is told of once, a submission that takes several requests once for each. There is one listener at most, and a provider at
   * which none ever waits tells it nothing.
   */
  whenHandedOver(listener: (backlog: Backlog) => void): void;
  /**
   * How many more submissions of a backlog go out at once, and how many of it and ahead of it wait: attempts begin only when they
   * soon go out. `free` and `ahead` are of the provider, `waiting` is of the backlog, `passing` and `ofRate` are of the project.
   * `NO_PROJECT` in place of a project tells what one has that submits nothing.
   * `UNLIMITED_CAPACITY` when none ever waits, `CLOSED_CAPACITY` when each is rejected at once.
   */
  capacity(backlog: Backlog): ProviderCapacity;
  /**
   * Takes back the submissions that the chain gave up on, so that the handset does not get them any more. It may fail, but never
   * rejects, and nobody waits for it. Absent when the provider cannot revoke.
   */
  revoke?(providerMessageIds: readonly string[]): Promise<void>;
  /** Known without asking the other side. A provider that was not started is ok: another process carries messages. */
  health(): ProviderHealth;
  /**
   * Asks the other side whether it takes the credentials, and sends no message. Never rejects, and needs no start. Takes
   * `SUBMIT_TIMEOUT_MS` at most.
   */
  check(): Promise<ProviderCheck>;
  /** Ends every connection; no event reaches the sink afterwards. May be called twice, and without a start. */
  close(): Promise<void>;
}

/** Which providers carry a channel. A project of the `dev` environment always gets the simulator. */
export interface ChannelProviders {
  /**
   * The providers to try for a number, the first one first; a later one gets what those before it rejected with a
   * cause. Empty when none is configured for the number.
   */
  route(channel: Channel, environment: Environment, phoneNumber: PhoneNumber): readonly ChannelProvider[];
  /** The channels that have a provider for projects of this environment. */
  channelsFor(environment: Environment): readonly Channel[];
  /** The providers of live projects, by channel. */
  live(): readonly { readonly channel: Channel; readonly provider: ChannelProvider }[];
  /** Every provider once. */
  all(): readonly ChannelProvider[];
}
