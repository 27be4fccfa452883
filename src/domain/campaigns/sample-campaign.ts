import { type AttachRejection, attachRecipients, joinCampaign, NO_RECIPIENTS } from './attach-recipients.ts';
import { type Campaign, isEditable, newCampaign, sampleNameOf } from './campaign.ts';
import { decideSender } from './campaign-sender.ts';
import type { NewRecipient } from './recipient.ts';
import {
  type CampaignStarted,
  recipientPrice,
  type StartRejection,
  type StartState,
  startCampaign,
} from './start-campaign.ts';

/** Everything that a sample reads. */
export interface SampleState extends Omit<StartState, 'campaign' | 'recipients'> {
  readonly parent: Campaign;
}

/** The ids of a sample; one for each recipient at least. */
export interface SampleIds {
  readonly campaign: string;
  readonly recipients: readonly string[];
}

/**
 * Specification 4.15: a child that sends the template of its parent to the given recipients and is started at once, or the
 * reason why it cannot. The parent stays as it is.
 */
export function sampleCampaign(
  { parent, ...state }: SampleState,
  given: readonly NewRecipient[],
  ids: SampleIds,
  now: number,
): CampaignStarted | AttachRejection | StartRejection {
  const { project, prices, businesses } = state;
  if (!isEditable(parent)) return { kind: 'campaign-not-editable' };
  const sender = decideSender(businesses, parent);
  if (sender.kind !== 'sender') return sender;
  const child = childOf(parent, ids.campaign, now);
  const attached = attachRecipients(
    {
      campaign: child,
      attached: NO_RECIPIENTS,
      environment: project.environment,
      prices,
      template: sender.template,
    },
    given,
  );
  if (attached.kind !== 'attached') return attached;
  const cost = recipientPrice(prices, sender);
  const joined = joinCampaign(child, attached.added, { ids: ids.recipients, cost }, now);
  return startCampaign({ ...state, ...joined }, now);
}

function childOf(parent: Campaign, id: string, now: number): Campaign {
  const { templateId, whatsappPhoneId, category } = parent;
  const plan = { name: sampleNameOf(parent), templateId, whatsappPhoneId, category, scheduledFor: null };
  return { ...newCampaign(id, parent.projectId, plan, now), sampleOf: parent.id };
}
