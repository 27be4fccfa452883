import type { AddressInfo } from 'node:net';
import { createServer, type ReceivedPdu, type Session } from 'smpp';
import { groupBy } from '../../src/application/group-by.ts';
import { leaveUndecoded } from './undecoded-pdus.ts';

/** A receipt that was rejected comes again after this time, in milliseconds. */
const RECEIPT_RETRY_MS = 200;

/** Ids of one process are above those of a process that started a millisecond before. */
const IDS_PER_MS = 1_000;

const ESM_CLASS_RECEIPT = 0x04;
const ESM_CLASS_HEADER = 0x40;

// An SMSC of tests needs no texts, and has to be fast.
leaveUndecoded('submit_sm');

/** A message of a customer, whose receipt comes under its id. */
export interface SmscMessage {
  readonly id: string;
  /** Names the customer. */
  readonly systemId: string;
}

/** A `submit_sm` that the SMSC takes. */
export interface TakenSubmit extends SmscMessage {
  readonly destination: string;
  /** From 1. */
  readonly part: number;
  /** 1 for a text that is no part of a longer one. */
  readonly parts: number;
}

export interface LibrarySmscOptions {
  /** 0 for a free one. */
  readonly port: number;
  /** From a response to its receipt, in milliseconds. */
  readonly receiptDelayMs: number;
  /** Messages that an earlier process took and whose receipts were not acknowledged. */
  readonly unacknowledged?: readonly SmscMessage[];
  /** Called with what came together, before any of it gets a response. */
  readonly onTaken: (submits: readonly TakenSubmit[]) => void;
  /** Called when the receipt of a message was acknowledged. */
  readonly onAcknowledged: (id: string) => void;
}

interface Arrival {
  readonly customer: Customer;
  readonly session: Session;
  readonly pdu: ReceivedPdu;
}

/**
 * An SMSC on the server side of the package `smpp`. It takes every message, delivers it, and brings the receipt again until
 * it is acknowledged.
 */
export class LibrarySmsc {
  readonly #options: LibrarySmscOptions;
  readonly #customers = new Map<string, Customer>();
  #arrivals: Arrival[] = [];
  #lastId = Date.now() * IDS_PER_MS;

  constructor(options: LibrarySmscOptions) {
    this.#options = options;
    for (const { systemId, id } of options.unacknowledged ?? []) this.#customer(systemId).deliver([id]);
  }

  /** Resolves with the port. */
  listen(): Promise<number> {
    const server = createServer((session) => this.#accept(session));
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#options.port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    });
  }

  #accept(session: Session): void {
    session.socket.setNoDelay(true);
    session.on('bind_transceiver', (pdu) => {
      const customer = this.#customer(String(pdu.system_id));
      session.on('submit_sm', (submit) => this.#arrive({ customer, session, pdu: submit }));
      session.on('close', () => customer.forget(session));
      session.send(pdu.response({ system_id: 'TEST' }));
      customer.bind(session);
    });
    session.on('enquire_link', (pdu) => void session.send(pdu.response()));
    session.on('unbind', (pdu) => void session.send(pdu.response()));
    session.on('error', () => session.destroy());
  }

  #customer(systemId: string): Customer {
    const known = this.#customers.get(systemId);
    if (known !== undefined) return known;
    const customer = new Customer(systemId, this.#options.onAcknowledged);
    this.#customers.set(systemId, customer);
    return customer;
  }

  /** What comes in one round of the event loop is taken together. */
  #arrive(arrival: Arrival): void {
    if (this.#arrivals.length === 0) setImmediate(() => this.#take());
    this.#arrivals.push(arrival);
  }

  #take(): void {
    const taken = this.#arrivals.map((arrival) => {
      this.#lastId += 1;
      return { ...arrival, id: String(this.#lastId) };
    });
    this.#arrivals = [];
    this.#options.onTaken(
      taken.map(({ customer, id, pdu }) => ({
        id,
        systemId: customer.systemId,
        destination: String(pdu.destination_addr),
        ...partOf(pdu),
      })),
    );
    together([...new Set(taken.map(({ session }) => session))], () => {
      for (const { session, pdu, id } of taken) session.send(pdu.response({ message_id: id }));
    });
    setTimeout(() => {
      for (const [customer, own] of groupBy(taken, (each) => each.customer)) {
        customer.deliver(own.map(({ id }) => id));
      }
    }, this.#options.receiptDelayMs);
  }
}

/** The sessions of one customer, and the receipts that it has to get. */
class Customer {
  readonly systemId: string;
  readonly #onAcknowledged: (id: string) => void;
  readonly #sessions: Session[] = [];
  /** Receipts that are to be sent, by message id. */
  #due: string[] = [];
  /** By message id: the session that the receipt went over. */
  readonly #sent = new Map<string, Session>();
  #count = 0;

  constructor(systemId: string, onAcknowledged: (id: string) => void) {
    this.systemId = systemId;
    this.#onAcknowledged = onAcknowledged;
  }

  bind(session: Session): void {
    this.#sessions.push(session);
    this.deliver([]);
  }

  /** Its receipts without a response go over another session. */
  forget(session: Session): void {
    this.#sessions.splice(this.#sessions.indexOf(session), 1);
    const again = [...this.#sent].flatMap(([id, used]) => (used === session ? [id] : []));
    for (const id of again) this.#sent.delete(id);
    this.deliver(again);
  }

  /** Sends these receipts now, or with the next session. */
  deliver(ids: readonly string[]): void {
    for (const id of ids) this.#due.push(id);
    if (this.#sessions.length === 0) return;
    const due = this.#due;
    this.#due = [];
    together(this.#sessions, () => {
      for (const id of due) this.#send(id);
    });
  }

  #send(id: string): void {
    this.#count += 1;
    const session = this.#sessions[this.#count % this.#sessions.length];
    if (session === undefined) return;
    this.#sent.set(id, session);
    const text = `id:${id} sub:001 dlvrd:001 submit date:2611231200 done date:2611231201 stat:DELIVRD err:000 text:`;
    const fields = { esm_class: ESM_CLASS_RECEIPT, short_message: Buffer.from(text) };
    session.deliver_sm(fields, ({ command_status: status }) => {
      this.#sent.delete(id);
      if (status === 0) this.#onAcknowledged(id);
      else setTimeout(() => this.deliver([id]), RECEIPT_RETRY_MS);
    });
  }
}

/** As the header before the text says: 5, 0, 3, reference, parts, part. */
function partOf({ esm_class: esmClass, short_message: octets }: ReceivedPdu) {
  if ((Number(esmClass) & ESM_CLASS_HEADER) === 0 || !Buffer.isBuffer(octets)) return { part: 1, parts: 1 };
  return { part: octets[5] ?? 0, parts: octets[4] ?? 0 };
}

/** Sends what `write` sends with one system call for each session. */
function together(sessions: readonly Session[], write: () => void): void {
  for (const { socket } of sessions) socket.cork();
  write();
  for (const { socket } of sessions) socket.uncork();
}
