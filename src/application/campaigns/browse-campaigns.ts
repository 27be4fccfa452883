import type { Project } from '../../domain/access/project.ts';
import type { Campaign, CampaignStatus } from '../../domain/campaigns/campaign.ts';
import type { Recipient, RecipientStatus } from '../../domain/campaigns/recipient.ts';
import type { Page } from '../../domain/shared/page.ts';
import type { WhatsappTemplate } from '../../domain/whatsapp/whatsapp-resources.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { CampaignCommand } from './campaign-command.ts';
import { readCampaign, readTemplate } from './stored-campaign.ts';

/** A campaign is shown with as many of its samples, the newest. */
const SAMPLES_LISTED_MAX = 100;

/** A campaign with one page of its recipients. */
export interface CampaignDetail {
  readonly campaign: Campaign;
  readonly recipients: readonly Recipient[];
  /** How many recipients match. */
  readonly total: number;
  readonly samples: readonly Campaign[];
}

/** Specification 4.9, 4.12 and 4.17: what a project can read about its campaigns. */
export class BrowseCampaigns {
  readonly #ports: { readonly unitOfWork: UnitOfWork };

  constructor(ports: { readonly unitOfWork: UnitOfWork }) {
    this.#ports = ports;
  }

  /** One page of the project's campaigns, the newest first, and how many match. */
  list(
    project: Project,
    filter: { readonly status: CampaignStatus | null },
    page: Page,
  ): Promise<{ readonly total: number; readonly campaigns: readonly Campaign[] }> {
    return this.#ports.unitOfWork.read((stores) => stores.campaigns.list(project.id, filter, page));
  }

  /** Throws `Rejected` when the campaign is unknown. `search` is a part of the number in digits. */
  detail(
    command: CampaignCommand,
    filter: { readonly status: RecipientStatus | null; readonly search: string | null },
    page: Page,
  ): Promise<CampaignDetail> {
    return this.#ports.unitOfWork.read(async (stores) => {
      const campaign = await readCampaign(stores, command);
      const { total, recipients } = await stores.recipients.list(campaign.id, filter, page);
      const samples = await stores.campaigns.samplesOf(campaign.projectId, campaign.id, SAMPLES_LISTED_MAX);
      return { campaign, recipients, total, samples };
    });
  }

  /** The template with this id. Throws `Rejected` when the project has no such template. */
  template(project: Project, templateId: string): Promise<WhatsappTemplate> {
    return this.#ports.unitOfWork.read((stores) => readTemplate(stores, project, templateId));
  }

  /** The template of the campaign. Throws `Rejected` when the campaign is unknown or its template gone. */
  templateOfCampaign(command: CampaignCommand): Promise<WhatsappTemplate> {
    return this.#ports.unitOfWork.read(async (stores) => {
      const { templateId } = await readCampaign(stores, command);
      return readTemplate(stores, command.project, templateId);
    });
  }
}
