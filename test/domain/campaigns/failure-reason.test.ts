import { expect, it } from 'vitest';
import { type DueStartRejection, failureReasonOf } from '../../../src/domain/campaigns/failure-reason.ts';

/** Written down by hand: customers read these. */
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

it.each(Object.entries(REASONS))('a start that is rejected with %s has the reason: %s', (kind, reason) => {
  expect(failureReasonOf({ kind } as DueStartRejection)).toBe(reason);
});
