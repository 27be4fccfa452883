import type { StartRejection } from './start-campaign.ts';

/** What keeps a scheduled campaign from starting at its time: what keeps any from starting, or an archived project. */
export type DueStartRejection = StartRejection | { readonly kind: 'project-archived' };

const REASONS: Readonly<Record<DueStartRejection['kind'], string>> = {
  'project-archived': 'The project is archived',
  'campaign-without-recipients': 'The campaign has no recipients',
  'campaign-template-not-found': 'The template is not one of the project any more',
  'campaign-phone-not-found': 'The phone number is not one of the project any more',
  'campaign-accounts-differ': 'Template and phone number belong to different accounts',
  'campaign-category': 'The category of the template is not one that campaigns send',
  'template-not-approved': 'The template is not approved',
  'recipient-parameters': 'The parameters of a recipient do not fit the template any more',
  'unsupported-numbers': 'The country of a recipient is not supported any more',
  'channel-not-available': 'whatsapp is not available to the project',
  'trial-mode': 'The account is in trial mode',
  'spending-threshold': 'The spending threshold of the project would be exceeded',
  'insufficient-credit': 'The credit of the project does not suffice',
};

/** Why a scheduled campaign did not start, as its customer reads it. */
export function failureReasonOf({ kind }: DueStartRejection): string {
  return REASONS[kind];
}
