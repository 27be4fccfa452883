import { keptSince, type Retention } from '../../domain/access/retention.ts';
import type { Message } from '../../domain/messages/message.ts';
import { anonymised, fateOf, type MessageFate } from '../../domain/retention/retained-message.ts';
import type { Clock } from '../ports/clock.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { currentRetention } from './current-retention.ts';
import type { Slices } from './slices.ts';

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
}

/** How many messages were anonymised, and how many removed. */
export interface RetainedCounts {
  readonly anonymised: number;
  readonly removed: number;
}

/**
 * Anonymises or removes the old messages of a project. A slice changes messages and notes its place in one transaction: a crash
 * leaves nothing half done, and the next run goes on where the last one ended. A message that is not over waits by its id.
 */
export class RetainMessages {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Treats what is due by the setting that the project has by now. */
  async execute(projectId: string, slices: Slices): Promise<RetainedCounts> {
    const counts = { anonymised: 0, removed: 0 };
    const count = (fates: Fates) => {
      counts.anonymised += fates.anonymise.length;
      counts.removed += fates.remove.length;
    };
    let after: string | null = null;
    await slices.each(async (rows) => {
      const slice = await this.#retryWaiting(projectId, after, rows);
      count(slice.fates);
      after = slice.last;
      return after !== null;
    });
    await slices.each(async (rows) => {
      const slice = await this.#next(projectId, rows);
      count(slice.fates);
      return slice.goesOn;
    });
    return counts;
  }

  /** `last` is null when no more of them wait. */
  #retryWaiting(projectId: string, after: string | null, rows: number) {
    return this.#ports.unitOfWork.run(async (stores) => {
      const retention = await currentRetention(stores, projectId);
      if (retention === null) return { fates: NO_FATES, last: null };
      const waiting = await stores.retention.waiting(projectId, after, rows);
      const fates = await this.#treat(stores, waiting, retention);
      const stillThere = new Set(fates.wait);
      await stores.retention.removeWaiting(
        projectId,
        waiting.filter((smsId) => !stillThere.has(smsId)),
      );
      return { fates, last: waiting.length < rows ? null : (waiting.at(-1) ?? null) };
    }, 'eventual');
  }

  #next(projectId: string, rows: number) {
    const { unitOfWork, clock } = this.#ports;
    return unitOfWork.run(async (stores) => {
      const retention = await currentRetention(stores, projectId);
      if (retention === null) return { fates: NO_FATES, goesOn: false };
      const aged = await stores.retention.agedMessages({
        projectId,
        before: keptSince(retention, clock.now()),
        after: await placeOf(stores, projectId, retention),
        limit: rows,
      });
      const last = aged.at(-1);
      if (last === undefined) return { fates: NO_FATES, goesOn: false };
      const fates = await this.#treat(
        stores,
        aged.map(({ id }) => id),
        retention,
      );
      await stores.retention.addWaiting(projectId, fates.wait);
      await stores.retention.savePlace({ projectId, subject: 'messages', action: retention.action, ...last });
      return { fates, goesOn: aged.length === rows };
    }, 'eventual');
  }

  async #treat({ messages, retention: store }: Stores, smsIds: readonly string[], retention: Retention) {
    if (smsIds.length === 0) return NO_FATES;
    const locked = await messages.lock(smsIds);
    const [open, campaigns] = await Promise.all([
      store.withOpenWebhook(smsIds),
      store.campaigns([...new Set(locked.flatMap(({ campaignId }) => campaignId ?? []))]),
    ]);
    const byId = new Map(campaigns.map((campaign) => [campaign.id, campaign]));
    const fates = fatesOf(locked, (message) =>
      fateOf(
        message,
        { hasOpenWebhook: open.has(message.smsId), campaign: byId.get(message.campaignId ?? '') ?? null },
        retention,
        this.#ports.clock.now(),
      ),
    );
    const anonymise = new Set(fates.anonymise);
    await store.anonymiseMessages(locked.filter(({ smsId }) => anonymise.has(smsId)).map(anonymised));
    await store.removeMessages(fates.remove);
    return fates;
  }
}

/**
 * Behind what the next messages lie; null from the first. What was anonymised by an earlier setting is removed by the new one.
 * What was accepted under a clock that was behind may lie before all that was treated.
 */
async function placeOf({ retention: store }: Stores, projectId: string, { action }: Retention) {
  const place = await store.place(projectId, 'messages');
  const isOfSetting = place !== null && place.action === action;
  return isOfSetting && !(await store.hasLeftOut(place)) ? place : null;
}

type Fates = Readonly<Record<MessageFate, readonly string[]>>;

const NO_FATES: Fates = { anonymise: [], remove: [], wait: [], keep: [] };

/** The ids of messages by their fates. One that is kept after all, by a clock that differs, waits as well. */
function fatesOf(messages: readonly Message[], fate: (message: Message) => MessageFate): Fates {
  const fates: Record<MessageFate, string[]> = { anonymise: [], remove: [], wait: [], keep: [] };
  for (const message of messages) {
    const its = fate(message);
    fates[its === 'keep' ? 'wait' : its].push(message.smsId);
  }
  return fates;
}
