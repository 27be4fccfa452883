import { type Campaign, isEditable } from '../../domain/campaigns/campaign.ts';
import { CONVERSATION_MS } from '../../domain/campaigns/daily-limit.ts';
import { limitKey } from '../../domain/campaigns/limit-key.ts';
import { type Preflight, type PreflightState, preflightCampaign } from '../../domain/campaigns/preflight.ts';
import type { Recipient } from '../../domain/campaigns/recipient.ts';
import { freeSince } from '../../domain/campaigns/sending-rate.ts';
import { findPhoneNumber } from '../../domain/whatsapp/whatsapp-resources.ts';
import { readAccount } from '../billing/account-of.ts';
import type { CurrentPrices } from '../catalog/current-prices.ts';
import { Rejected } from '../errors/rejected.ts';
import type { ChannelProviders } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { treeOf } from '../whatsapp/tree-of.ts';
import type { CampaignCommand } from './campaign-command.ts';
import { readCampaign } from './stored-campaign.ts';

interface PreflightPorts {
  readonly unitOfWork: UnitOfWork;
  readonly currentPrices: Pick<CurrentPrices, 'at'>;
  readonly channelProviders: Pick<ChannelProviders, 'channelsFor'>;
  readonly clock: Clock;
  /** Whether campaigns keep the sending rate and the daily limit of the platform. */
  readonly keepsPlatformLimits: boolean;
}

/** Tells what the start of a campaign would do now. */
export class PreflightCampaigns {
  readonly #ports: PreflightPorts;

  constructor(ports: PreflightPorts) {
    this.#ports = ports;
  }

  /** Changes nothing. Throws `Rejected` when the campaign is unknown or has started. */
  async execute(command: CampaignCommand): Promise<Preflight> {
    const { project } = command;
    const { unitOfWork, currentPrices, clock, channelProviders, keepsPlatformLimits } = this.#ports;
    return unitOfWork.read(async (stores) => {
      const now = clock.now();
      const campaign = await readCampaign(stores, command);
      if (!isEditable(campaign)) throw new Rejected({ kind: 'campaign-not-editable' });
      const account = await readAccount(stores, project.id);
      const recipients = await stores.recipients.ofCampaign(campaign.id);
      const businesses = await treeOf(stores, project.id);
      const { whatsappPhoneId } = campaign;
      const numberKey = limitKey(project, whatsappPhoneId);
      const portfolioId = findPhoneNumber(businesses, whatsappPhoneId)?.business.businessId ?? '';
      const portfolioKey = limitKey(project, portfolioId);
      const state: PreflightState = {
        project,
        account,
        campaign,
        recipients,
        prices: await currentPrices.at(stores, now),
        businesses,
        availableChannels: channelProviders.channelsFor(project.environment),
        freeAt: freeSince(await stores.sendingSlots.find(numberKey), now),
        conversations: await openConversations(stores, portfolioKey, campaign, recipients, now),
        keepsPlatformLimits,
      };
      return preflightCampaign(state, now);
    });
  }
}

/** The conversations of the portfolio that the campaign is sent from. */
async function openConversations(
  { conversations }: Pick<Stores, 'conversations'>,
  portfolioKey: string,
  { whatsappPhoneId }: Campaign,
  recipients: readonly Recipient[],
  now: number,
): Promise<PreflightState['conversations']> {
  const numbers = recipients.map(({ phoneNumber }) => phoneNumber);
  const since = now - CONVERSATION_MS;
  const [open, written, count] = await Promise.all([
    conversations.openAmong(portfolioKey, numbers, since),
    conversations.writtenAmong(whatsappPhoneId, numbers, since),
    conversations.count(portfolioKey, since),
  ]);
  return { open: new Set([...open, ...written]), count };
}
