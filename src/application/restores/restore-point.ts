import type { Message } from '../../domain/messages/message.ts';
import { clockBehindRestorePoint } from '../errors/database-unusable.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

/** The name of the restore point in the store of the installation. */
export const RESTORE_POINT = 'restore-point';

/** The name of the ids of messages from a backup that are dated later than the restore point, with commas between. */
export const RESTORED_AHEAD = 'restored-ahead';

/** Why a message that was stored before the restore point fails. */
export const RESTORED_REASON =
  'The database was restored from a backup: the message may have been sent before';

/**
 * The instant up to which messages come from a backup, and those of it that a clock dated later. After the backup was made,
 * another copy of the database went on: their next attempts may have been made there. So this one makes none of them.
 */
export class RestorePoint {
  readonly #ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock };
  #at = Number.NEGATIVE_INFINITY;
  #ahead: ReadonlySet<string> = new Set();

  constructor(ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock }) {
    this.#ports = ports;
  }

  /**
   * Reads the restore point. A process does so when it starts: a database is marked while no process works on it. Rejects with
   * `DatabaseUnusable` under a clock that is behind it.
   */
  async load(): Promise<void> {
    const [at, ahead] = await this.#ports.unitOfWork.read(({ installation }) =>
      Promise.all([installation.find(RESTORE_POINT), installation.find(RESTORED_AHEAD)]),
    );
    this.#at = at === null ? Number.NEGATIVE_INFINITY : Number(at);
    const now = this.#ports.clock.now();
    if (now < this.#at) throw clockBehindRestorePoint(now, this.#at);
    this.#ahead = new Set(ahead?.split(','));
  }

  /** Whether attempts of the message may have been made by a copy that went on after the backup. */
  covers({ smsId, createdAt }: Pick<Message, 'smsId' | 'createdAt'>): boolean {
    return createdAt <= this.#at || this.#ahead.has(smsId);
  }
}
