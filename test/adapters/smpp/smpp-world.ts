import { SmppProvider, type SmppProviderOptions } from '../../../src/adapters/smpp/smpp-provider.ts';
import type { ProviderEvent } from '../../../src/application/ports/provider-events.ts';
import { NOW } from '../../support/builders.ts';
import { peerConnections } from '../../support/provider-tls.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { ManualTimeouts } from './manual-timeouts.ts';

export const ENQUIRE_LINK_MS = 30_000;

/** A provider with all that it is made of, in the hands of a test. */
export class SmppWorld {
  readonly timers = new ManualTimeouts();
  readonly logger = new RecordingLogger();
  readonly clock = { at: NOW, now: () => this.clock.at };
  uptimeMs = 0;
  readonly provider: SmppProvider;
  readonly events: ProviderEvent[] = [];
  /** How many events each call of the sink had. */
  readonly batches: number[] = [];
  isStorageAway = false;
  /** The id of a receipt that the sink never takes. */
  unrecordable: string | null = null;
  /** The id of a receipt whose project is locked. */
  locked: string | null = null;
  #isHeld = false;
  #areReceiptsHeld = false;
  #held: (() => void)[] = [];
  #checks: (() => void)[] = [];

  constructor(port: number, given: Partial<SmppProviderOptions> = {}) {
    this.provider = new SmppProvider({
      name: 'smsc',
      address: { host: '127.0.0.1', port, tls: false },
      ...peerConnections,
      credentials: { systemId: 'barid', password: 'secret', systemType: 'VMA' },
      binds: 1,
      window: 50,
      perSecond: null,
      enquireLinkMs: ENQUIRE_LINK_MS,
      submit: {
        defaultSenderId: 'Barid',
        source: null,
        destination: { ton: 1, npi: 1 },
        dataCodingGsm: 0,
      },
      ids: { submitIds: 'as-is', receiptIds: 'as-is' },
      clock: this.clock,
      uptime: () => this.uptimeMs,
      logger: this.logger,
      timeouts: this.timers.timeouts,
      random: () => 0.5,
      ...given,
    });
  }

  /** Resolves once every bind is up. */
  async start(binds = 1): Promise<void> {
    await this.begin();
    await this.logger.seen('smpp_bind_opened', binds);
  }

  /** Starts the provider, and waits for no bind. */
  begin(): Promise<void> {
    return this.provider.start(async (events, settled) => {
      this.batches.push(events.length);
      this.#check();
      const isHeld = this.#isHeld || (this.#areReceiptsHeld && events.some(({ kind }) => kind === 'receipt'));
      if (isHeld) await new Promise<void>((resolve) => this.#held.push(resolve));
      for (const [index, event] of events.entries()) {
        const id = event.kind === 'receipt' ? event.receipt.providerMessageId : '';
        if (id === this.locked) continue;
        const failure =
          this.isStorageAway || id === this.unrecordable ? new Error('The event cannot be recorded') : null;
        if (failure === null) this.events.push(event);
        else if (settled === undefined) throw failure;
        settled?.(index, failure);
      }
      this.#check();
    });
  }

  /** The sink takes no event until it is released. */
  holdSink(): void {
    this.#isHeld = true;
  }

  /** The same for calls with receipts only. */
  holdReceipts(): void {
    this.#areReceiptsHeld = true;
  }

  /** Lets the calls of the sink that wait go on. */
  releaseSink(): void {
    for (const release of this.#held.splice(0)) release();
  }

  /** The same for every later call. */
  releaseAlways(): void {
    this.#isHeld = false;
    this.#areReceiptsHeld = false;
    this.releaseSink();
  }

  /** Resolves once the sink was called so often. */
  called(times: number): Promise<void> {
    return this.#when(() => this.batches.length >= times);
  }

  /** Resolves once the sink took so many events in all. */
  came(count: number): Promise<void> {
    return this.#when(() => this.events.length >= count);
  }

  #when(holds: () => boolean): Promise<void> {
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

  #check(): void {
    for (const check of [...this.#checks]) check();
  }
}
