import type { MarkedRestored } from '../../../application/restores/mark-restored.ts';
import { isoOf } from '../../../domain/shared/instant.ts';
import { counted } from '../console/counted.ts';

const CHANGES_LOST =
  'what operators changed since is gone: keys that were revoked since work again, and credit has to be added again';

/** What an operator reads about a database that was marked as restored. */
export function restoredLines({
  restorePoint,
  messagesDatedLater,
  unscheduledCampaigns,
}: MarkedRestored): readonly string[] {
  const messages =
    restorePoint === null
      ? 'there are no messages'
      : `no message up to ${isoOf(restorePoint)} starts another attempt`;
  const later =
    messagesDatedLater === 0
      ? []
      : [`${counted(messagesDatedLater, 'message')} dated later: no further attempt starts of these either`];
  const drafts =
    unscheduledCampaigns.length === 0
      ? []
      : [
          `${counted(unscheduledCampaigns.length, 'scheduled campaign')} became drafts: ${unscheduledCampaigns.join(', ')}`,
        ];
  return [messages, ...later, ...drafts, CHANGES_LOST];
}
