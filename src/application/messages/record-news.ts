import { Batcher } from '../batcher.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WorkSignal } from '../ports/work-signal.ts';
import type { AdvanceMessages, MessageNews } from './advance-messages.ts';

interface NewsPorts {
  readonly unitOfWork: UnitOfWork;
  readonly advanceMessages: AdvanceMessages;
  readonly workSignal: WorkSignal;
  readonly clock: Clock;
}

/** Records what channels say, at once or later: one transaction per batch, whoever brings the news. */
export class RecordNews {
  readonly #ports: NewsPorts;
  readonly #batcher: Batcher<MessageNews, null>;

  constructor(ports: NewsPorts) {
    this.#ports = ports;
    this.#batcher = new Batcher((news) => this.#record(news), { clock: ports.clock });
  }

  /** Resolves when all of it is committed; news about unknown messages is ignored. */
  async execute(news: readonly MessageNews[]): Promise<void> {
    await Promise.all(news.map((each) => this.#batcher.submit(each)));
  }

  async #record(news: readonly MessageNews[]): Promise<readonly null[]> {
    const { unitOfWork, advanceMessages, workSignal } = this.#ports;
    await unitOfWork.run((stores) => advanceMessages.execute(stores, news));
    workSignal.wake();
    return news.map(() => null);
  }
}
