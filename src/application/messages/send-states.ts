import type { Project } from '../../domain/access/project.ts';
import type { Account } from '../../domain/billing/account.ts';
import type { PriceList } from '../../domain/billing/pricing.ts';
import type { SendState } from '../../domain/messages/send-policy.ts';
import type { SendRequest } from '../../domain/messages/send-request.ts';
import { windowMs } from '../../domain/rate-limiting/rate-limiter.ts';
import { rateLimitFor } from '../../domain/sandbox/sandbox-send.ts';
import type { SenderId } from '../../domain/senders/sender-id.ts';
import type { WhatsappBusiness } from '../../domain/whatsapp/whatsapp-resources.ts';
import type { ChannelProviders } from '../ports/channel-provider.ts';
import type { Stores } from '../ports/stores.ts';
import type { PendingSend } from './send-command.ts';

/** What every send can have: the prices, and the channels of an environment. */
export interface SendCatalog extends Pick<ChannelProviders, 'channelsFor'> {
  readonly prices: PriceList;
}

interface Reads {
  readonly accounts: readonly Account[];
  readonly senderIds: readonly SenderId[];
  readonly whatsapp: ReadonlyMap<string, readonly WhatsappBusiness[]>;
  readonly acceptedAt: Map<string, number[]>;
}

/** What the sends of one batch are decided by: read in bulk, and carried on from each accepted send to the next. */
export class SendStates {
  readonly #accounts: Map<string, Account>;
  readonly #acceptedAt: Map<string, number[]>;
  readonly #reads: Reads;
  readonly #catalog: SendCatalog;

  /** Locks the accounts of the sends first, so that everything else is read as the batch before has left it. */
  static async read(
    stores: Stores,
    sends: readonly PendingSend[],
    catalog: SendCatalog,
    now: number,
  ): Promise<SendStates> {
    const withSenderId = sends.filter(({ request }) => request.senderId !== null);
    const withWhatsapp = sends.filter(({ request }) => namesWhatsappResources(request));
    const [accounts, acceptedAt, senderIds, whatsapp] = await Promise.all([
      stores.accounts.lock(projectIdsOf(sends)),
      readAcceptedAt(stores, sends, now),
      withSenderId.length === 0 ? [] : stores.senderIds.byProjectIds(projectIdsOf(withSenderId)),
      withWhatsapp.length === 0 ? new Map() : stores.whatsapp.byProjectIds(projectIdsOf(withWhatsapp)),
    ]);
    return new SendStates({ accounts, acceptedAt, senderIds, whatsapp }, catalog);
  }

  private constructor(reads: Reads, catalog: SendCatalog) {
    this.#reads = reads;
    this.#catalog = catalog;
    this.#accounts = new Map(reads.accounts.map((account) => [account.projectId, account]));
    this.#acceptedAt = reads.acceptedAt;
  }

  /** What this send is decided by. Throws when its project has no account. */
  before({ project, request }: PendingSend): SendState {
    return {
      project,
      account: this.accountOf(project),
      prices: this.#catalog.prices,
      availableChannels: this.#catalog.channelsFor(project.environment),
      senderId: this.#reads.senderIds.find(
        (each) => each.projectId === project.id && each.senderId === request.senderId,
      ),
      whatsappBusinesses: this.#reads.whatsapp.get(project.id) ?? [],
      acceptedAt: this.#acceptedAt.get(handsetKey(project.id, request)) ?? [],
    };
  }

  /** The sends behind this one see its hold, and count it for the rate limit. */
  accept({ project, request }: PendingSend, account: Account, now: number): void {
    this.#accounts.set(project.id, account);
    const key = handsetKey(project.id, request);
    this.#acceptedAt.set(key, [...(this.#acceptedAt.get(key) ?? []), now]);
  }

  accountOf(project: Project): Account {
    const account = this.#accounts.get(project.id);
    if (account === undefined) throw new Error(`Project ${project.id} has no account`);
    return account;
  }
}

async function readAcceptedAt(
  stores: Stores,
  sends: readonly PendingSend[],
  now: number,
): Promise<Map<string, number[]>> {
  const queries = new Map(
    sends.flatMap(({ project, request }) => {
      const limit = rateLimitFor(project, request.phoneNumber);
      if (limit === null) return [];
      const { phoneNumber } = request;
      const since = now - windowMs(limit);
      const query = { projectId: project.id, phoneNumber, since, limit: limit.maxRequests };
      return [[handsetKey(project.id, request), query] as const];
    }),
  );
  if (queries.size === 0) return new Map();
  const instants = await stores.messages.acceptedAt([...queries.values()]);
  return new Map([...queries.keys()].map((key, index) => [key, [...(instants[index] ?? [])]]));
}

function handsetKey(projectId: string, { phoneNumber }: SendRequest): string {
  return `${projectId} ${phoneNumber}`;
}

function projectIdsOf(sends: readonly PendingSend[]): readonly string[] {
  return [...new Set(sends.map(({ project }) => project.id))];
}

/** A template without an account is rejected whatever accounts there are. */
function namesWhatsappResources({ whatsappSender }: SendRequest): boolean {
  const { accountId, phoneId, templateName } = whatsappSender;
  return accountId !== null || phoneId !== null || templateName !== null;
}
