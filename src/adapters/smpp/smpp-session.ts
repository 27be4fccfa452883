import { smppStatus } from '../../domain/sms/smpp-status.ts';
import { type AwaitedResponse, type OnResponse, OutstandingRequests } from './outstanding-requests.ts';
import { encodePdu } from './packaged-pdu.ts';
import {
  ESME_RBINDFAIL,
  ESME_RINVCMDID,
  ESME_RINVPASWD,
  ESME_RINVSYSID,
  ESME_ROK,
  INTERFACE_VERSION,
  type IncomingPdu,
  isNack,
} from './pdu.ts';
import { PduConnection, type PduConnectionOptions } from './pdu-connection.ts';
import type { SubmitFields } from './pdu-writer.ts';

/** To connect and to bind, in milliseconds. */
export const BIND_TIMEOUT_MS = 8_000;
/** An SMSC that does not respond to `enquire_link` within this time is gone, in milliseconds. */
export const ENQUIRE_LINK_TIMEOUT_MS = 10_000;
/** An SMSC that has unbound responds to what it took before within this time, in milliseconds. */
export const UNBOUND_TIMEOUT_MS = 2_000;

export interface SmscCredentials {
  readonly systemId: string;
  readonly password: string;
  readonly systemType: string;
}

export interface SmppSessionOptions extends PduConnectionOptions {
  readonly credentials: SmscCredentials;
  /** `submit_sm` without a response at one time. */
  readonly window: number;
  readonly enquireLinkMs: number;
  /** A `deliver_sm` came; it is responded to with `respond`. */
  readonly onDelivery: (pdu: IncomingPdu) => void;
  /** The SMSC sent what makes no sense. */
  readonly onInvalid: (problem: string) => void;
  /** What a PDU brought could not be worked on, by a fault of this program. */
  readonly onFault: (error: unknown) => void;
  /** The session takes more than before, or nothing any more. */
  readonly onChange: () => void;
}

/** How a bind ended. `areCredentialsRejected`: it makes no sense to try again soon. */
export type BindResult =
  | { readonly kind: 'bound' }
  | { readonly kind: 'failed'; readonly reason: string; readonly areCredentialsRejected: boolean };

/** `unbound`: the SMSC takes nothing more, and may respond to what it took. */
type State = 'new' | 'binding' | 'bound' | 'unbinding' | 'unbound' | 'closing' | 'ended';

const UNBOUND = 'The SMSC unbound the session';
const SILENT = 'The SMSC does not respond';

const CREDENTIALS_REJECTED: ReadonlySet<number> = new Set([ESME_RBINDFAIL, ESME_RINVPASWD, ESME_RINVSYSID]);

/** One connection with one bind as transceiver, from its beginning to its end. */
export class SmppSession {
  readonly #options: SmppSessionOptions;
  readonly #connection: PduConnection;
  readonly #requests: OutstandingRequests;
  /** Resolves with the reason once the session is over. */
  readonly ended: Promise<string>;
  #resolveEnded: (reason: string) => void = () => {};
  #state: State = 'new';
  #received = 0;
  #hasServed = false;
  /** A response is overdue, and nothing came since. */
  #isSilent = false;
  /** Of the next enquiry, of its response, or of the responses that an unbind has left. */
  #cancelTimer: () => void = () => {};
  #isEnquiring = false;
  /** It takes more than it did before this round. */
  #takesMore = false;

  constructor(options: SmppSessionOptions) {
    this.#options = options;
    this.#requests = new OutstandingRequests(options.onInvalid);
    this.#connection = new PduConnection(options, {
      onPdu: (pdu) => this.#take(pdu),
      onRead: () => this.#tellChange(),
      onInvalid: options.onInvalid,
      onFault: options.onFault,
      onClosing: () => {
        this.#state = 'closing';
        this.#cancelTimer();
      },
      onOver: (reason) => this.#end(reason),
    });
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /** Whether it is bound, also while its SMSC does not respond. */
  get isBound(): boolean {
    return this.#state === 'bound';
  }

  /** Whether its SMSC sent anything after the bind but the end. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  /** Whether it is bound and its SMSC responds. */
  get isUsable(): boolean {
    return this.#state === 'bound' && !this.#isSilent;
  }

  /** Why it is not usable any more, before it is over; null when it is, or never was. */
  get problem(): string | null {
    if (this.#state === 'unbound') return UNBOUND;
    return this.#state === 'bound' && this.#isSilent ? SILENT : null;
  }

  /** How many more `submit_sm` it takes now. */
  get capacity(): number {
    return this.isUsable ? this.#options.window - this.#requests.submits : 0;
  }

  /** Connects and binds; called once. Never rejects. */
  bind(): Promise<BindResult> {
    const { credentials, timeouts } = this.#options;
    this.#state = 'binding';
    return new Promise((resolve) => {
      const finish = (result: BindResult): void => {
        cancel();
        resolve(result);
        if (result.kind === 'failed') this.#end(result.reason);
      };
      const fail = (reason: string, areCredentialsRejected = false): void =>
        finish({ kind: 'failed', reason, areCredentialsRejected });
      const cancel = timeouts(BIND_TIMEOUT_MS)(() => fail('The SMSC did not respond to the bind'));
      this.ended.then((reason) => fail(reason));
      const fields = {
        system_id: credentials.systemId,
        password: credentials.password,
        system_type: credentials.systemType,
        interface_version: INTERFACE_VERSION,
      };
      this.#connection.connect(() =>
        this.#request('bind_transceiver', fields, (response) => {
          if (response === null) return fail('The SMSC closed the connection');
          const { status } = response;
          if (status !== ESME_ROK || isNack(response)) {
            return fail(`The bind failed: ${smppStatus(status).reason}`, CREDENTIALS_REJECTED.has(status));
          }
          // The connection is over already, and `ended` says why.
          if (this.#state !== 'binding') return;
          this.#state = 'bound';
          this.#enquireLater();
          finish({ kind: 'bound' });
        }),
      );
    });
  }

  /** Sends a `submit_sm` while there is capacity; returns its number. `done` is called once, with null when the session ends. */
  submit(fields: SubmitFields, done: OnResponse): number {
    const sequence = this.#begin('submit_sm_resp', done);
    this.#connection.submit(sequence, fields);
    return sequence;
  }

  /**
   * The response of this `submit_sm` is overdue: `done` is not called any more, and its place in the window is free. `late` is
   * called with a response that comes after all. A silent SMSC is asked whether it is there.
   */
  abandon(sequence: number, late: (response: IncomingPdu) => void): void {
    const receivedBefore = this.#requests.abandon(sequence, late);
    if (receivedBefore === null) return;
    // An SMSC that responded to others since then is only slow.
    if (this.#state === 'bound' && receivedBefore === this.#received) {
      this.#isSilent = true;
      this.#enquire();
    }
    this.#options.onChange();
  }

  /** Responds to a request of the SMSC; nothing when the session is over. */
  respond(command: 'deliver_sm' | 'enquire_link' | 'unbind', sequence: number, status = ESME_ROK): void {
    if (command === 'deliver_sm') this.#connection.respondToDelivery(sequence, status);
    else this.#connection.write(encodePdu(`${command}_resp`, sequence, { command_status: status }));
  }

  /** Unbinds and closes; takes `limitMs` at most. Responses that come meanwhile still count. */
  async unbind(limitMs: number): Promise<void> {
    if (this.#state === 'bound') {
      this.#state = 'unbinding';
      const cancel = this.#options.timeouts(limitMs)(() => this.#connection.close('The session was closed'));
      this.#request('unbind', {}, () => this.#end('The session was closed'));
      await this.ended;
      cancel();
    } else if (this.#state === 'unbound' || this.#state === 'closing') {
      await this.ended;
    } else {
      this.#end('The session was closed');
    }
  }

  #take(pdu: IncomingPdu): void {
    const wasSilent = this.#isSilent;
    this.#isSilent = false;
    this.#received += 1;
    if (this.#state === 'bound' && pdu.command !== 'unbind') this.#hasServed = true;
    if (pdu.isResponse) this.#requests.take(pdu);
    else this.#takeRequest(pdu);
    if (wasSilent || pdu.isResponse) this.#takesMore = true;
    if (this.#state === 'unbound' && this.#requests.submits === 0) {
      this.#connection.closeSoon();
      this.#connection.close(UNBOUND);
    }
  }

  /** Once for all PDUs of a round. */
  #tellChange(): void {
    if (!this.#takesMore) return;
    this.#takesMore = false;
    this.#options.onChange();
  }

  #takeRequest(pdu: IncomingPdu): void {
    switch (pdu.command) {
      case 'deliver_sm':
        this.#options.onDelivery(pdu);
        break;
      case 'enquire_link':
        this.respond('enquire_link', pdu.sequence);
        break;
      case 'unbind':
        this.respond('unbind', pdu.sequence);
        this.#unbound();
        break;
      case 'alert_notification':
      case 'outbind':
        // Neither has a response.
        break;
      default:
        this.#options.onInvalid('command');
        this.#connection.write(encodePdu('generic_nack', pdu.sequence, { command_status: ESME_RINVCMDID }));
    }
  }

  #request(
    command: 'bind_transceiver' | 'enquire_link' | 'unbind',
    fields: Readonly<Record<string, string | number>>,
    done: OnResponse,
  ): void {
    this.#connection.write(encodePdu(command, this.#begin(`${command}_resp`, done), fields));
  }

  #begin(response: AwaitedResponse, done: OnResponse): number {
    return this.#requests.begin(response, this.#received, done);
  }

  /** An SMSC that is stopped in good order unbinds, and then responds to what it took. */
  #unbound(): void {
    if (this.#state !== 'bound' && this.#state !== 'binding') return;
    this.#state = 'unbound';
    this.#cancelTimer();
    this.#cancelTimer = this.#options.timeouts(UNBOUND_TIMEOUT_MS)(() => this.#connection.close(UNBOUND));
    this.#takesMore = true;
  }

  #enquireLater(): void {
    if (this.#state !== 'bound') return;
    this.#cancelTimer();
    this.#cancelTimer = this.#options.timeouts(this.#options.enquireLinkMs)(() => this.#enquire());
  }

  #enquire(): void {
    if (this.#isEnquiring || this.#state !== 'bound') return;
    this.#isEnquiring = true;
    this.#cancelTimer();
    this.#cancelTimer = this.#options.timeouts(ENQUIRE_LINK_TIMEOUT_MS)(() => this.#connection.close(SILENT));
    this.#request('enquire_link', {}, (response) => {
      this.#isEnquiring = false;
      if (response !== null) this.#enquireLater();
    });
  }

  #end(reason: string): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#cancelTimer();
    this.#connection.end();
    this.#resolveEnded(reason);
    this.#requests.end();
    this.#options.onChange();
  }
}
