import { Batcher } from '../batcher.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import type { AdvanceMessages, MessageEvent } from './advance-messages.ts';

interface NewsPorts {
  readonly unitOfWork: UnitOfWork;
  readonly advanceMessages: AdvanceMessages;
  readonly wakeSignal: WakeSignal;
  readonly clock: Clock;
}

/** Records what channels say, at once or later: one transaction per batch, whoever brings the news. */
export class ApplyMessageEvents {
  readonly #ports: NewsPorts;
  readonly #batcher: Batcher<MessageEvent, null>;

  constructor(ports: NewsPorts) {
    this.#ports = ports;
    this.#batcher = new Batcher((news) => this.#record(news), { clock: ports.clock });
  }

  /** Resolves when all of it is committed; news about unknown messages is ignored. */
  async execute(news: readonly MessageEvent[]): Promise<void> {
    await Promise.all(news.map((each) => this.#batcher.submit(each)));
  }

  async #record(news: readonly MessageEvent[]): Promise<readonly null[]> {
    const { unitOfWork, advanceMessages, wakeSignal } = this.#ports;
    await unitOfWork.run((stores) => advanceMessages.execute(stores, news));
    wakeSignal.wake();
    return news.map(() => null);
  }
}
