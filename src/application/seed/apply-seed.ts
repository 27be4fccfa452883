import type { Project } from '../../domain/access/project.ts';
import { lastFourOf } from '../../domain/access/project-key.ts';
import { depositEntry } from '../../domain/billing/ledger.ts';
import type { LowCredit } from '../../domain/billing/low-credit.ts';
import type { SenderId } from '../../domain/senders/sender-id.ts';
import { hasChecksum } from '../../domain/shared/checksum.ts';
import type { Money } from '../../domain/shared/money.ts';
import type { PlainSecret } from '../../domain/shared/sealed-secret.ts';
import { onlySecret } from '../../domain/webhooks/inbound-secrets.ts';
import type { InboundWebhook } from '../../domain/webhooks/inbound-webhook.ts';
import type { WhatsappBusiness } from '../../domain/whatsapp/whatsapp-resources.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { KeyHasher } from '../ports/key-hasher.ts';
import type { NewAccount } from '../ports/stores/billing-stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { SealWebhook } from '../webhooks/seal-webhook.ts';
import { SeedError } from './seed-error.ts';
import { insertSeedPrices, type SeedPrices } from './seed-prices.ts';

export interface SeedProject {
  readonly project: Project;
  /** The setting of the project, which has none before this one is sealed. */
  readonly lowCredit: LowCredit<PlainSecret> | null;
  readonly apiKeys: readonly string[];
  readonly account: Omit<NewAccount, 'projectId'>;
  readonly credit: Money;
  readonly senderIds: readonly SenderId[];
  readonly whatsappBusinesses: readonly WhatsappBusiness[];
  /** The inbound webhooks of the project's whatsapp numbers. */
  readonly inboundWebhooks: readonly {
    readonly whatsappPhoneId: string;
    readonly url: string;
    readonly secret: PlainSecret;
  }[];
}

export interface Seed {
  readonly projects: readonly SeedProject[];
  readonly prices: SeedPrices;
}

interface SeedPorts {
  readonly unitOfWork: UnitOfWork;
  readonly keyHasher: KeyHasher;
  readonly sealWebhook: Pick<SealWebhook, 'tried'>;
  readonly clock: Clock;
  readonly ids: Pick<IdSource, 'hex24'>;
}

/** Fills an empty database. */
export class ApplySeed {
  readonly #ports: SeedPorts;

  constructor(ports: SeedPorts) {
    this.#ports = ports;
  }

  /**
   * Resolves with whether the seed was applied; a database with a project stays as it is. Of several processes at the
   * same time one applies the seed. Throws `SeedError` before anything is written when an inbound webhook or a notice of low
   * credit has a URL that webhooks are never posted to.
   */
  async execute(seed: Seed): Promise<boolean> {
    try {
      return await this.#fill(seed);
    } catch (error) {
      const isEmpty = await this.#ports.unitOfWork.read((stores) => stores.projects.isEmpty());
      if (isEmpty) throw error;
      // Another process was faster, and its whole seed is there: it was one transaction.
      return false;
    }
  }

  async #fill({ projects, prices }: Seed): Promise<boolean> {
    const { unitOfWork, keyHasher, clock, ids } = this.#ports;
    return unitOfWork.run(async (stores) => {
      if (!(await stores.projects.isEmpty())) return false;
      const rejected: string[] = [];
      const accepted = projects.map((seeded, at) => this.#accepted(seeded, at, rejected));
      const webhooks = this.#acceptedWebhooks(projects, rejected);
      throwIfAny(rejected);
      await stores.priceVersions.nextRevision();
      // Another process that fills the database at the same time was waited for with the revision, and has filled it by now.
      if (!(await stores.projects.isEmpty())) throw new Error('The database is filled already');
      const now = clock.now();
      // Older than what is imported in the same millisecond.
      await insertSeedPrices(stores, prices, { id: ids.hex24(now - 1), now });
      await stores.projects.insert(accepted);
      await stores.accounts.insert(
        projects.map(({ project, account }) => ({ projectId: project.id, ...account })),
      );
      await stores.projects.insertKeys(
        projects.flatMap(({ project, apiKeys }) =>
          apiKeys.map((key) => ({
            digest: keyHasher.digest(key),
            hasChecksum: hasChecksum(key, keyHasher.checksum),
            projectId: project.id,
            lastFour: lastFourOf(key),
            createdAt: now,
          })),
        ),
      );
      await stores.senderIds.insert(projects.flatMap(({ senderIds }) => senderIds));
      for (const { project, whatsappBusinesses } of projects) {
        await stores.whatsapp.replace(project.id, whatsappBusinesses);
      }
      await stores.inboundWebhooks.save(webhooks);
      await stores.ledger.post(
        projects.map(({ project, credit }) =>
          depositEntry({ projectId: project.id, reference: `seed/${project.id}`, at: now }, credit),
        ),
      );
      return true;
    });
  }

  /** The project in its stored form. */
  #accepted({ project, lowCredit: given }: SeedProject, at: number, rejected: string[]): Project {
    if (given === null) return project;
    const lowCredit = this.#ports.sealWebhook.tried(given);
    if (lowCredit === null) rejected.push(`projects[${at}].lowCredit.webhookUrl`);
    return { ...project, settings: { ...project.settings, lowCredit } };
  }

  /** The inbound webhooks in their stored form. */
  #acceptedWebhooks(projects: readonly SeedProject[], rejected: string[]): readonly InboundWebhook[] {
    return projects.flatMap(({ project, inboundWebhooks }, at) =>
      inboundWebhooks.flatMap(({ whatsappPhoneId, url: webhookUrl, secret: webhookSecret }, index) => {
        const sealed = this.#ports.sealWebhook.tried({ webhookUrl, webhookSecret });
        if (sealed === null) {
          rejected.push(`projects[${at}].inboundWebhooks[${index}].url`);
          return [];
        }
        const secrets = onlySecret(sealed.webhookSecret);
        return [{ projectId: project.id, whatsappPhoneId, url: sealed.webhookUrl, ...secrets }];
      }),
    );
  }
}

function throwIfAny(rejected: readonly string[]): void {
  if (rejected.length === 0) return;
  throw new SeedError(
    rejected.map((path) => `✖ must be a public https address, on an allowed port\n  → at ${path}`).join('\n'),
  );
}
