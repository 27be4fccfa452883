import type { Project } from '../../domain/access/project.ts';
import type { Campaign } from '../../domain/campaigns/campaign.ts';
import { findTemplate, type WhatsappTemplate } from '../../domain/whatsapp/whatsapp-resources.ts';
import { Rejected } from '../errors/rejected.ts';
import type { Stores } from '../ports/stores.ts';
import { treeOf } from '../whatsapp/tree-of.ts';
import type { CampaignCommand } from './campaign-command.ts';

/** The project's campaign, without a lock. Throws `Rejected` when it is unknown or another's. */
export async function readCampaign(
  { campaigns }: Pick<Stores, 'campaigns'>,
  { project, campaignId }: CampaignCommand,
): Promise<Campaign> {
  return campaignOrRejected(await campaigns.find(project.id, campaignId));
}

/** The project's campaign, locked until the transaction ends; null when it is unknown or another's. */
export function lockCampaignIfAny(
  { campaigns }: Pick<Stores, 'campaigns'>,
  { project, campaignId }: CampaignCommand,
): Promise<Campaign | null> {
  return campaigns.lockOf(project.id, campaignId);
}

/** The same. Throws `Rejected` when it is unknown or another's. */
export async function lockCampaign(
  stores: Pick<Stores, 'campaigns'>,
  command: CampaignCommand,
): Promise<Campaign> {
  return campaignOrRejected(await lockCampaignIfAny(stores, command));
}

/** Throws `Rejected` when there is no campaign. */
export function campaignOrRejected(campaign: Campaign | null): Campaign {
  if (campaign === null) throw new Rejected({ kind: 'campaign-not-found' });
  return campaign;
}

/** The template of this id. Throws `Rejected` when the project has none. */
export async function readTemplate(
  stores: Pick<Stores, 'whatsapp'>,
  project: Project,
  templateId: string,
): Promise<WhatsappTemplate> {
  const template = findTemplate(await treeOf(stores, project.id), templateId);
  if (template === null) throw new Rejected({ kind: 'campaign-template-not-found' });
  return template;
}
