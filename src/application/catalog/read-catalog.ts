import type { Project } from '../../domain/access/project.ts';
import { creditOf } from '../../domain/billing/account.ts';
import type { InternationalPrice } from '../../domain/billing/pricing.ts';
import type { SenderId } from '../../domain/senders/sender-id.ts';
import type { Money } from '../../domain/shared/money.ts';
import type { Page } from '../../domain/shared/page.ts';
import type { WhatsappBusiness } from '../../domain/whatsapp/whatsapp-resources.ts';
import { readAccount } from '../billing/account-of.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { treeOf } from '../whatsapp/tree-of.ts';

/** Specification 4.3 and 4.6 to 4.8: what a project can read about itself and its prices. */
export class ReadCatalog {
  readonly #ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock };

  constructor(ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock }) {
    this.#ports = ports;
  }

  /** Name and credit of the project. */
  async info(project: Project): Promise<{ readonly projectName: string; readonly credit: Money }> {
    const account = await this.#ports.unitOfWork.read((stores) => readAccount(stores, project.id));
    return { projectName: project.name, credit: creditOf(account) };
  }

  /** All sender IDs of the project by name, whatever their status. */
  async senderIds(project: Project): Promise<readonly SenderId[]> {
    const all = await this.#ports.unitOfWork.read((stores) => stores.senderIds.byProjectIds([project.id]));
    return all.toSorted((a, b) => (a.senderId < b.senderId ? -1 : 1));
  }

  /**
   * One page of the price list in force, in the order of specification 4.3, and how many rows match. `countryIso` in upper
   * case; null lists every country.
   */
  internationalPrices(
    filter: { readonly countryIso: string | null },
    page: Page,
  ): Promise<{ readonly total: number; readonly rows: readonly InternationalPrice[] }> {
    const { unitOfWork, clock } = this.#ports;
    return unitOfWork.read(async ({ priceVersions }) => {
      const inForce = await priceVersions.inForceAt(clock.now());
      return inForce === null
        ? { total: 0, rows: [] }
        : priceVersions.international(inForce.id, filter, page);
    });
  }

  /** The whatsapp businesses linked to the project, with everything below them. */
  whatsappResources(project: Project): Promise<readonly WhatsappBusiness[]> {
    return this.#ports.unitOfWork.read((stores) => treeOf(stores, project.id));
  }
}
