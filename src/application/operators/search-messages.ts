import type { MessageStatus } from '../../domain/messages/message-status.ts';
import type { PhoneNumber } from '../../domain/shared/phone-number.ts';
import type { FoundMessage } from '../ports/stores/message-search-store.ts';
import type { MessagePlace } from '../ports/stores/message-store.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { projectIdIn } from './named-project.ts';
import { type ListPage, walkPage } from './walk-page.ts';

/** What an operator searches messages by; null for what does not matter. */
export interface MessageFilter {
  /** An id or a slug. */
  readonly project: string | null;
  readonly phoneNumber: PhoneNumber | null;
  readonly status: MessageStatus | null;
  /** Milliseconds since 1970, both included. */
  readonly from: number;
  readonly to: number;
}

/**
 * Messages of all projects, for operators, the newest first. A page reads `ROWS_PER_PAGE_MAX` rows at most, whatever is searched.
 */
export class SearchMessages {
  readonly #ports: { readonly unitOfWork: UnitOfWork };

  constructor(ports: { readonly unitOfWork: UnitOfWork }) {
    this.#ports = ports;
  }

  /** Up to `limit` messages behind `after`. Rejects as `project-not-found`. */
  async page(
    { project, phoneNumber, status, from, to }: MessageFilter,
    after: MessagePlace | null,
    limit: number,
  ): Promise<ListPage<FoundMessage, MessagePlace>> {
    const { unitOfWork } = this.#ports;
    const projectId = await unitOfWork.read((stores) => projectIdIn(stores, project));
    const search = { projectId, phoneNumber, from, to };
    return walkPage({
      read: (place, rows) =>
        unitOfWork.read(({ messageSearch }) =>
          messageSearch.newest({ ...search, after: place, limit: rows }),
        ),
      placeOf: ({ createdAt, smsId }) => ({ createdAt, smsId }),
      matches: (message) =>
        (projectId === null || message.projectId === projectId) &&
        (status === null || message.status === status),
      after,
      limit,
      isDense: status === null && (projectId === null || phoneNumber === null),
    });
  }
}
