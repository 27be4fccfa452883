import { isoOf } from '../../domain/shared/instant.ts';
import {
  mergeAccount,
  newIdsNeeded,
  type PlatformAccount,
  withoutNewRows,
} from '../../domain/whatsapp/merge-account.ts';
import { accountsIn, type WhatsappAccount } from '../../domain/whatsapp/whatsapp-resources.ts';
import { EventLoopShare } from '../concurrency/event-loop-share.ts';
import { messageOf } from '../errors/error-text.ts';
import { StorageAway } from '../errors/storage-unavailable.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventLoop } from '../ports/event-loop.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Logger } from '../ports/logger.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WhatsappPlatform } from '../ports/whatsapp-platform.ts';
import { liveTrees } from './live-trees.ts';
import { lockedTreeOf } from './tree-of.ts';

interface SyncPorts {
  readonly unitOfWork: UnitOfWork;
  readonly platform: WhatsappPlatform;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly eventLoop: EventLoop;
}

/** What one synchronisation did. An account that several projects have counts once, each of their trees by itself. */
export interface WhatsappSyncCounts {
  readonly accounts: number;
  /** Accounts that the platform did not give whole, or that could not be stored for all their projects. */
  readonly failed: number;
  /** Trees of projects that changed. */
  readonly changed: number;
}

/** Brings the stored numbers and templates of live projects in line with the platform. */
export class SyncWhatsapp {
  readonly #ports: SyncPorts;
  /** The whole tree of a project is read and written for each of its accounts. */
  readonly #share: EventLoopShare;

  constructor(ports: SyncPorts) {
    this.#ports = ports;
    this.#share = new EventLoopShare(ports.eventLoop);
  }

  /**
   * Reads each account once, one after another, and merges it into the trees of the projects that have it. New numbers and
   * templates of an account that several projects have are not added: they may be another project's. An account that fails keeps
   * no other from being read, nor a tree that cannot be stored another, also when storing it ends its connection. Rejects when
   * the storage stays away; what was merged before stays. When `signal` aborts, resolves soon with what was done so far, and
   * waits for no platform.
   */
  async execute(signal?: AbortSignal): Promise<WhatsappSyncCounts> {
    const projectsByAccount = await this.#projectsByAccount();
    const aborted = abortOf(signal);
    let failed = 0;
    let changed = 0;
    for (const [whatsappBusinessId, projectIds] of projectsByAccount) {
      if (signal?.aborted === true) break;
      const result = await Promise.race([this.#ports.platform.accountOf(whatsappBusinessId), aborted]);
      if (result === null) break;
      if (result.kind === 'unavailable') {
        failed += 1;
        this.#logFailure(whatsappBusinessId, result.reason);
        continue;
      }
      const read = { platform: result.account, isShared: projectIds.length > 1 };
      let isStored = true;
      for (const projectId of projectIds) {
        try {
          const merge = () => this.#merge(projectId, whatsappBusinessId, read);
          if (await this.#share.run(merge)) changed += 1;
        } catch (error) {
          // Rejects when the storage is still away, or locked by another process.
          if (error instanceof StorageAway) await this.#ports.unitOfWork.run(async () => {});
          isStored = false;
          this.#logFailure(whatsappBusinessId, messageOf(error));
        }
      }
      if (!isStored) failed += 1;
    }
    return { accounts: projectsByAccount.size, failed, changed };
  }

  #logFailure(account: string, reason: string): void {
    this.#ports.logger.warn('whatsapp_sync_failed', { account, reason });
  }

  /** By the platform's id of the account. */
  async #projectsByAccount(): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = new Map<string, string[]>();
    for await (const [projectId, businesses] of liveTrees(this.#ports.unitOfWork)) {
      const accountIds = accountsIn(businesses).map(({ whatsappBusinessId }) => whatsappBusinessId);
      for (const id of new Set(accountIds)) found.set(id, [...(found.get(id) ?? []), projectId]);
    }
    return found;
  }

  /** Whether the tree changed. Locked, so that two processes give one new number one id. */
  #merge(
    projectId: string,
    whatsappBusinessId: string,
    { platform, isShared }: { readonly platform: PlatformAccount; readonly isShared: boolean },
  ): Promise<boolean> {
    const { unitOfWork, clock, ids } = this.#ports;
    return unitOfWork.run(async (stores) => {
      const now = clock.now();
      const before = await lockedTreeOf(stores, projectId);
      let isChanged = false;
      const merged = (account: WhatsappAccount): WhatsappAccount => {
        if (account.whatsappBusinessId !== whatsappBusinessId) return account;
        const after = mergeAccount(account, isShared ? withoutNewRows(account, platform) : platform, {
          ids: Array.from({ length: newIdsNeeded(platform) }, () => ids.hex24(now)),
          createdAt: isoOf(now),
        });
        isChanged ||= JSON.stringify(after) !== JSON.stringify(account);
        return after;
      };
      const after = before.map((business) => ({
        ...business,
        whatsappAccounts: business.whatsappAccounts.map(merged),
      }));
      if (isChanged) await stores.whatsapp.replace(projectId, after);
      return isChanged;
    });
  }
}

/** Resolves with null when the signal aborts; never without one. */
function abortOf(signal: AbortSignal | undefined): Promise<null> {
  return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(null), { once: true }));
}
