import type { Environment } from '../../domain/access/project.ts';
import type { DeliveryReceipt, SubmitResult } from '../../domain/messages/chain-event.ts';
import type { Content, WhatsappSender } from '../../domain/messages/send-request.ts';
import type { Channel } from '../../domain/shared/channel.ts';
import type { PhoneNumber } from '../../domain/shared/phone-number.ts';
import type { InboundContent } from '../../domain/webhooks/inbound-event.ts';

/** One attempt of one message on its way to a channel. */
export interface Submission {
  readonly smsId: string;
  /** Position in the chain; with `smsId` it names this attempt to the channel and in its receipts. */
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
  /** The chain moves on after this time, so nothing should reach the handset later. */
  readonly attemptTimeoutMs: number;
}

/** A channel's later word on an attempt. It may come late, twice, in any order, or before the result. */
export interface SubmissionReceipt {
  readonly smsId: string;
  readonly attemptNumber: number;
  readonly receipt: DeliveryReceipt;
}

/** A whatsapp message somebody wrote to one of the projects' numbers. */
export interface InboundArrival {
  /** Our 24-hex id of the number it came in on. */
  readonly phoneNumberId: string;
  readonly contact: { readonly phoneNumber: string; readonly name: string };
  /** The channel's own id of the message, unique for the number: a second arrival of it is dropped. */
  readonly messageId: string;
  readonly content: InboundContent;
  /** Milliseconds since 1970. */
  readonly writtenAt: number;
}

/** Whoever carries messages of one channel: the simulator, an SMSC, Meta, Telegram. */
export interface ChannelProvider {
  /**
   * Submits each message once and resolves with one result per message, in the same order. Never rejects: a message whose
   * fate is not clear is `unknown`, one the provider did not take is `rejected`. A result that takes longer than
   * `SUBMIT_TIMEOUT_MS` counts as `unknown` until it comes.
   */
  submit(submissions: readonly Submission[]): Promise<readonly SubmitResult[]>;
}

/** The caller waits this long for submit results, in milliseconds. */
export const SUBMIT_TIMEOUT_MS = 10_000;

/** One carrier per channel; a project of the `dev` environment always gets the simulator. */
export interface ChannelProviders {
  /** The carrier of a channel for a project of this environment; there always is one. Calls no network. */
  of(channel: Channel, environment: Environment): ChannelProvider;
  /** The channels that have a provider for projects of this environment. */
  channelsFor(environment: Environment): readonly Channel[];
}
