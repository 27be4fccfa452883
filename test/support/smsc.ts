import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

const PROGRAM = join(import.meta.dirname, 'smsc.pl');

/** Why the SMSC of the tests cannot run here; null when it can. With `REQUIRE_SERVICES=1` that is an error. */
export const SMSC_MISSING = ((): string | null => {
  if (spawnSync('perl', ['-MNet::SMPP', '-MJSON::PP', '-e', '1']).status === 0) return null;
  const reason = 'Perl with Net::SMPP is not installed (Debian: libnet-smpp-perl)';
  if (process.env.REQUIRE_SERVICES === '1') throw new Error(reason);
  return reason;
})();

/** What the SMSC tells. */
export type SmscEvent =
  | { readonly event: 'listening'; readonly port: number }
  | { readonly event: 'done'; readonly number: number }
  | {
      readonly event: 'bind';
      readonly connection: number;
      readonly system_id: string;
      readonly password: string;
      readonly system_type: string;
      readonly interface_version: number;
    }
  | SmscSubmit
  | { readonly event: 'deliver_sm_resp'; readonly sequence: number; readonly status: number }
  | { readonly event: 'enquire_link' | 'unbind' | 'closed'; readonly connection: number }
  | { readonly event: 'redelivering'; readonly sequences: readonly number[] }
  | { readonly event: 'undeliverable' }
  | { readonly event: 'other'; readonly command: number; readonly sequence: number; readonly status: number };

/** A `submit_sm` as it came. */
export interface SmscSubmit {
  readonly event: 'submit';
  readonly connection: number;
  /** As receipts name it. */
  readonly id: string;
  readonly source_addr_ton: number;
  readonly source_addr_npi: number;
  readonly source_addr: string;
  readonly dest_addr_ton: number;
  readonly dest_addr_npi: number;
  readonly destination_addr: string;
  readonly esm_class: number;
  readonly validity_period: string;
  readonly registered_delivery: number;
  readonly data_coding: number;
  /** In hex. */
  readonly short_message: string;
}

/**
 * What a `submit_sm` gets. `hold`: nothing until the order `release`. `receiptFirst`: a receipt of this state before the
 * response.
 */
export type SubmitPlan =
  | { readonly status: number }
  | { readonly id: string }
  | { readonly silent: true }
  | { readonly hold: true; readonly receiptFirst?: string }
  | { readonly nack: number }
  | { readonly close: true }
  | { readonly receiptFirst: string };

/** What the SMSC can be told to do. */
export type SmscOrder =
  /** The status of every bind from now on; below 0: no response. */
  | { readonly order: 'bind'; readonly status: number }
  | { readonly order: 'enquiries'; readonly responds: boolean }
  /** Reads nothing any more. */
  | { readonly order: 'deaf'; readonly on: boolean }
  | { readonly order: 'plan'; readonly submits: readonly SubmitPlan[] }
  /** What every `submit_sm` to this number gets, one plan after the other, from the first again after the last. */
  | { readonly order: 'number'; readonly number_called: string; readonly submits: readonly SubmitPlan[] }
  /** How ids are written, as a format of printf. */
  | { readonly order: 'ids'; readonly submit: string; readonly receipt: string }
  /** Every accepted submit gets a receipt of this state, which `redeliver` sends. */
  | { readonly order: 'receipts'; readonly stat: string }
  | { readonly order: 'sync' | 'release' | 'redeliver' | 'enquire_link' }
  /** One connection, or all of them. */
  | { readonly order: 'unbind' | 'close'; readonly connection?: number | undefined }
  | {
      readonly order: 'deliver';
      readonly fields: Readonly<Record<string, string | number>>;
      readonly octets: string;
    }
  | { readonly order: 'receipt'; readonly id: string; readonly stat: string }
  | { readonly order: 'raw'; readonly octets: string };

type EventOf<Name extends SmscEvent['event']> = Extract<SmscEvent, { readonly event: Name }>;

/** An SMSC in a process of its own, written in another language on another SMPP library. */
export class Smsc {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly events: SmscEvent[] = [];
  readonly #exited: Promise<unknown>;
  #checks: (() => void)[] = [];
  #orders = 0;

  private constructor(port: number) {
    this.#child = spawn('perl', [PROGRAM, String(port)], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#exited = once(this.#child, 'exit');
    this.#child.stdin.on('error', () => undefined);
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      this.events.push(JSON.parse(line) as SmscEvent);
      for (const check of [...this.#checks]) check();
    });
  }

  /** Listens on a free port, or on the one of an SMSC that is gone. */
  static async start(port = 0): Promise<Smsc> {
    const smsc = new Smsc(port);
    await smsc.seen('listening');
    return smsc;
  }

  get port(): number {
    return this.of('listening')[0]?.port ?? 0;
  }

  /** Every `submit_sm` that was sent before this call. */
  async submits(): Promise<readonly SmscSubmit[]> {
    await this.tell({ order: 'sync' });
    return this.of('submit');
  }

  of<Name extends SmscEvent['event']>(name: Name): readonly EventOf<Name>[] {
    return this.events.filter((each): each is EventOf<Name> => each.event === name);
  }

  /** Resolves with the events of this name once there are so many. */
  async seen<Name extends SmscEvent['event']>(name: Name, times = 1): Promise<readonly EventOf<Name>[]> {
    await this.when(() => this.of(name).length >= times);
    return this.of(name);
  }

  /** Resolves once this holds, which is asked after each event. */
  when(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!holds()) return;
        this.#checks = this.#checks.filter((each) => each !== check);
        resolve();
      };
      this.#checks.push(check);
      check();
    });
  }

  /** Resolves when the SMSC has carried it out. */
  async tell(order: SmscOrder): Promise<void> {
    this.#orders += 1;
    const number = this.#orders;
    this.#child.stdin.write(`${JSON.stringify({ ...order, number })}\n`);
    await this.seen('done', number);
  }

  /** Sends every delivery again that was not acknowledged; resolves when each has a response. None without a bind. */
  async redeliver(): Promise<void> {
    const before = this.of('redelivering').length;
    await this.tell({ order: 'redeliver' });
    const sequences = this.of('redelivering')[before]?.sequences ?? [];
    await this.when(() => {
      const responded = new Set(this.of('deliver_sm_resp').map(({ sequence }) => sequence));
      return sequences.every((sequence) => responded.has(sequence));
    });
  }

  /** Kills the process; resolves when it is gone. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}
