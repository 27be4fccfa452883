import { performance } from 'node:perf_hooks';
import { StorageLocked } from '../../application/errors/storage-locked.ts';
import { MinuteLog } from '../../application/minute-log.ts';
import type {
  ChannelProvider,
  ProviderHealth,
  Submission,
} from '../../application/ports/channel-provider.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { LateAcceptance, ProviderEventSink } from '../../application/ports/provider-events.ts';
import type { Backlog } from '../../domain/jobs/fair-share.ts';
import { withMaskedReason } from '../../domain/providers/delivery-receipt.ts';
import type { ProviderCapacity } from '../../domain/providers/provider-capacity.ts';
import { rejectedAs, type SubmitResult } from '../../domain/providers/submit-result.ts';
import { reasonMask } from '../../domain/shared/secret-mask.ts';
import type { MessageIdForms } from '../../domain/sms/message-id-forms.ts';
import { type OutgoingEvents, OutgoingMessage, type OutgoingOptions } from './outgoing-message.ts';
import { PartReferences } from './part-references.ts';
import { ESME_ROK, ESME_RX_T_APPN, type IncomingPdu } from './pdu.ts';
import type { ConnectTcp, ConnectTls, SmscAddress, Timeouts } from './pdu-connection.ts';
import { isReceipt, receiptOf } from './receipt.ts';
import { LOCKED_RESPONSE_MS, ReceiptInbox } from './receipt-inbox.ts';
import { SmppBind } from './smpp-bind.ts';
import { SmppSession, type SmscCredentials } from './smpp-session.ts';
import { SubmitDeadlines } from './submit-deadlines.ts';
import { hasSenderOfSmpp, type SubmitSettings, submitFieldsOf } from './submit-fields.ts';
import { SubmitQueue } from './submit-queue.ts';

/** How long `start` waits for the binds, in milliseconds. */
export const START_TIMEOUT_MS = 2_000;
/** How long `close` waits for messages in parts that were begun, in milliseconds: a stop ends within 30 s. */
export const BEGUN_TIMEOUT_MS = 7_000;
/** How long `close` waits for the sink, and then for the response to its unbind, in milliseconds. */
export const CLOSE_TIMEOUT_MS = 1_000;

/** How long the PDUs of one SMSC, over all its binds, are read in one round of the event loop, in milliseconds. */
export const READING_MS_MAX = 2;

export const WINDOW_DEFAULT = 50;
export const ENQUIRE_LINK_DEFAULT_MS = 30_000;

export interface SmppProviderOptions {
  readonly name: string;
  readonly address: SmscAddress;
  readonly connectTcp: ConnectTcp;
  /** For an address with TLS. */
  readonly connectTls: ConnectTls;
  readonly credentials: SmscCredentials;
  /** Connections at one time. */
  readonly binds: number;
  /** `submit_sm` without a response at one time, for each bind. */
  readonly window: number;
  /** `submit_sm` in any second, over all binds; null for no limit. */
  readonly perSecond: number | null;
  /** Between two `enquire_link`, in milliseconds. */
  readonly enquireLinkMs: number;
  readonly submit: SubmitSettings;
  readonly ids: MessageIdForms;
  readonly clock: Clock;
  /** Milliseconds that a clock which is put back does not change; only differences count. That of the process when absent. */
  readonly uptime?: () => number;
  readonly logger: Logger;
  readonly timeouts: Timeouts;
  /** At least 0 and below 1. */
  readonly random: () => number;
}

/**
 * Carries sms over an SMSC that speaks SMPP 3.4, with binds as transceiver that are opened again whenever they end. It never
 * sends a message twice: what the SMSC may have taken is `unknown`.
 */
export class SmppProvider implements ChannelProvider {
  readonly #options: SmppProviderOptions;
  readonly #uptime: () => number;
  readonly #binds: readonly SmppBind[];
  readonly #queue: SubmitQueue;
  readonly #deadlines: SubmitDeadlines;
  readonly #inbox: ReceiptInbox;
  readonly #outgoing: OutgoingOptions;
  readonly #log: MinuteLog;
  readonly #masked: (text: string) => string;
  /** Null before the start. */
  #sink: ProviderEventSink | null = null;
  #closed: Promise<void> | null = null;

  constructor(options: SmppProviderOptions) {
    const { name, timeouts, random, logger, uptime = () => performance.now() } = options;
    this.#options = options;
    this.#uptime = uptime;
    this.#log = new MinuteLog(options);
    this.#masked = reasonMask([options.credentials.password]);
    const references = new PartReferences(random);
    this.#outgoing = {
      partsOf: (submission) =>
        submitFieldsOf(submission, options.submit, () => references.next(submission.phoneNumber)),
      submitIds: options.ids.submitIds,
    };
    this.#inbox = new ReceiptInbox({
      onFailures: (failures) => this.#logFailures(failures),
      lockedResponse: timeouts(LOCKED_RESPONSE_MS),
    });
    const onChange = (): void => this.#queue.pump();
    const newSession = (): SmppSession => {
      const session: SmppSession = this.#session((pdu) => this.#deliver(session, pdu), onChange);
      return session;
    };
    this.#binds = Array.from(
      { length: options.binds },
      () => new SmppBind({ name, newSession, timeouts, random, logger, onChange }),
    );
    this.#queue = new SubmitQueue({
      sessions: () => this.#openSessions(),
      window: options.window * options.binds,
      perSecond: options.perSecond,
      uptime,
      timeouts,
    });
    this.#deadlines = new SubmitDeadlines({
      timeouts,
      onUnwritten: (message) => this.#queue.drop(message),
    });
  }

  get name(): string {
    return this.#options.name;
  }

  async start(sink: ProviderEventSink): Promise<void> {
    this.#sink = sink;
    this.#inbox.open(sink);
    const attempts = Promise.all(this.#binds.map((bind) => bind.start()));
    // The first messages would be rejected while the binds are opened.
    await this.#within(START_TIMEOUT_MS, attempts);
  }

  submit(submission: Submission): Promise<SubmitResult> {
    if (!hasSenderOfSmpp(submission, this.#options.submit)) {
      return Promise.resolve(rejectedAs('sender', 'SMPP cannot carry this sender ID'));
    }
    return new Promise((resolve) => {
      const events: OutgoingEvents = {
        settled: resolve,
        takenLate: (providerMessageIds) => {
          const { smsId, attemptNumber, channel } = submission;
          void this.#tellAccepted({ smsId, attemptNumber, channel, providerMessageIds });
        },
        partWritten: () => {
          deadlines.end(message);
          deadlines = this.#deadlines.begin(message);
        },
        finished: () => deadlines.end(message),
      };
      const message = new OutgoingMessage(submission, this.#outgoing, events, this.#uptime());
      let deadlines = this.#deadlines.begin(message);
      this.#queue.add(message);
    });
  }

  whenHandedOver(listener: (backlog: Backlog) => void): void {
    this.#queue.whenHandedOver(listener);
  }

  capacity(backlog: Backlog): ProviderCapacity {
    return this.#queue.capacity(backlog);
  }

  /**
   * An `api` process has no binds: it is ok there, as a provider without connections is. Names no host: everybody may read it.
   */
  health(): ProviderHealth {
    if (this.#sink === null) return { ok: true, detail: 'bound by workers' };
    const up = this.#openSessions().length;
    const binds = `${up} of ${this.#binds.length} binds up`;
    const down = this.#binds.find(({ session }) => session === null);
    return { ok: up > 0, detail: down === undefined ? binds : `${binds}: ${down.reason}` };
  }

  /** Names the host, for an operator. */
  async check(): Promise<ProviderHealth> {
    const { host, port } = this.#options.address;
    // A receipt that comes over this connection is for the process that sends: the SMSC brings it again.
    const session: SmppSession = this.#session(({ sequence }) =>
      session.respond('deliver_sm', sequence, ESME_RX_T_APPN),
    );
    const result = await session.bind();
    await session.unbind(CLOSE_TIMEOUT_MS);
    if (result.kind === 'failed') return { ok: false, detail: `${host}:${port}: ${result.reason}` };
    return { ok: true, detail: `${host}:${port} took the bind` };
  }

  close(): Promise<void> {
    this.#closed ??= this.#shutDown();
    return this.#closed;
  }

  async #shutDown(): Promise<void> {
    await this.#within(BEGUN_TIMEOUT_MS, this.#queue.endBegun());
    this.#queue.close();
    await this.#within(CLOSE_TIMEOUT_MS, this.#inbox.close());
    await Promise.all(this.#binds.map((bind) => bind.close(CLOSE_TIMEOUT_MS)));
    this.#queue.pump();
  }

  #within(ms: number, work: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.timeouts(ms)(resolve);
      work.then(() => {
        cancel();
        resolve();
      });
    });
  }

  #openSessions(): readonly SmppSession[] {
    const sessions: SmppSession[] = [];
    for (const { session } of this.#binds) if (session !== null) sessions.push(session);
    return sessions;
  }

  #session(onDelivery: (pdu: IncomingPdu) => void, onChange: () => void = () => {}): SmppSession {
    const { address, connectTcp, connectTls, credentials, binds, window, enquireLinkMs, timeouts } =
      this.#options;
    return new SmppSession({
      address,
      connectTcp,
      connectTls,
      credentials,
      window,
      enquireLinkMs,
      readingMs: READING_MS_MAX / binds,
      timeouts,
      onDelivery,
      onInvalid: (problem) => this.#log.warn('smpp_pdu_invalid', { provider: this.name, problem }),
      onFault: (error) => this.#options.logger.error('smpp_pdu_failed', error, { provider: this.name }),
      onChange,
    });
  }

  /** It waits for no receipt, also when the provider is being closed: the response of the SMSC does not come again. */
  async #tellAccepted(acceptance: LateAcceptance): Promise<void> {
    try {
      await this.#sink?.([{ kind: 'accepted', acceptance }]);
    } catch (error) {
      this.#logFailures([error]);
    }
  }

  #logFailures(failures: readonly unknown[]): void {
    const provider = this.name;
    const others = failures.filter((failure) => !(failure instanceof StorageLocked));
    const locked = failures.length - others.length;
    if (locked > 0) this.#log.warn('provider_receipts_locked', { provider }, locked);
    if (others.length > 0) {
      const count = others.length;
      this.#options.logger.error('provider_event_failed', others[0], { provider, count });
    }
  }

  /** What cannot be used is acknowledged: the SMSC would bring it again for ever. */
  #deliver(session: SmppSession, { sequence, delivery }: IncomingPdu): void {
    if (delivery !== null && !isReceipt(delivery)) {
      this.#log.warn('smpp_message_ignored', { provider: this.name, problem: 'not a receipt' });
      session.respond('deliver_sm', sequence);
      return;
    }
    const receipt = delivery === null ? null : receiptOf(delivery, this.#options.ids);
    if (receipt === null) {
      this.#log.warn('smpp_pdu_invalid', {
        provider: this.name,
        problem: delivery === null ? 'deliver_sm' : 'receipt',
      });
      session.respond('deliver_sm', sequence);
      return;
    }
    const shown = { ...receipt, receipt: withMaskedReason(receipt.receipt, this.#masked) };
    this.#inbox.add(shown, (isRecorded) =>
      session.respond('deliver_sm', sequence, isRecorded ? ESME_ROK : ESME_RX_T_APPN),
    );
  }
}
