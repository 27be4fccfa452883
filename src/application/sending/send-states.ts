import type { Project } from '../../domain/access/project.ts';
import type { Account } from '../../domain/billing/account.ts';
import type { PriceList } from '../../domain/billing/pricing.ts';
import type { SendState } from '../../domain/messages/send-policy.ts';
import type { SendRequest } from '../../domain/messages/send-request.ts';
import { rateWindow } from '../../domain/rate-limiting/rate-limiter.ts';
import { rateLimitFor } from '../../domain/sandbox/sandbox-send.ts';
import type { SenderId } from '../../domain/senders/sender-id.ts';
import type { WhatsappBusiness } from '../../domain/whatsapp/whatsapp-resources.ts';
import { accountOf } from '../billing/account-of.ts';
import type { ChannelProviders } from '../ports/channel-provider.ts';
import type { AcceptedAtQuery } from '../ports/stores/message-store.ts';
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
  readonly acceptedAt: AcceptedAt;
}

/**
 * When earlier sends to the handset of each send were accepted. Sends to one handset share one list, to which those of
 * this batch are added. A send without a rate limit has no list.
 */
type AcceptedAt = ReadonlyMap<PendingSend, number[]>;

/** What the sends of one batch are decided by: read in bulk, and carried on from each accepted send to the next. */
export class SendStates {
  readonly #accounts: Map<string, Account>;
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
  }

  /** What this send is decided by. Throws when its project has no account. */
  before(send: PendingSend): SendState {
    const { project, request } = send;
    return {
      project,
      account: this.accountOf(project),
      prices: this.#catalog.prices,
      availableChannels: this.#catalog.channelsFor(project.environment),
      senderId: this.#reads.senderIds.find(
        (each) => each.projectId === project.id && each.senderId === request.senderId,
      ),
      whatsappBusinesses: this.#reads.whatsapp.get(project.id) ?? [],
      acceptedAt: this.#reads.acceptedAt.get(send) ?? [],
    };
  }

  /** The sends behind this one see its hold, and count it for the rate limit. */
  accept(send: PendingSend, account: Account, now: number): void {
    this.#accounts.set(send.project.id, account);
    this.#reads.acceptedAt.get(send)?.push(now);
  }

  accountOf(project: Project): Account {
    return accountOf(project.id, this.#accounts.get(project.id));
  }
}

async function readAcceptedAt(
  stores: Stores,
  sends: readonly PendingSend[],
  now: number,
): Promise<AcceptedAt> {
  const bySend = new Map<PendingSend, number[]>();
  const byHandset = new Map<string, number[]>();
  const queries: AcceptedAtQuery[] = [];
  for (const send of sends) {
    const { id: projectId } = send.project;
    const { phoneNumber } = send.request;
    const limit = rateLimitFor(send.project, phoneNumber);
    if (limit === null) continue;
    const handset = `${projectId} ${phoneNumber}`;
    const known = byHandset.get(handset);
    const instants = known ?? [];
    bySend.set(send, instants);
    if (known !== undefined) continue;
    byHandset.set(handset, instants);
    queries.push({ projectId, phoneNumber, ...rateWindow(limit, now), limit: limit.maxRequests });
  }
  if (queries.length === 0) return bySend;
  const stored = await stores.messages.acceptedAt(queries);
  for (const [index, instants] of [...byHandset.values()].entries()) instants.push(...(stored[index] ?? []));
  return bySend;
}

function projectIdsOf(sends: readonly PendingSend[]): readonly string[] {
  return [...new Set(sends.map(({ project }) => project.id))];
}

/** A template without an account is rejected whatever accounts there are. */
function namesWhatsappResources({ whatsappSender }: SendRequest): boolean {
  const { accountId, phoneId, templateName } = whatsappSender;
  return accountId !== null || phoneId !== null || templateName !== null;
}
