import type { Project } from '../../domain/access/project.ts';
import { type Message, SMS_ID_PATTERN } from '../../domain/messages/message.ts';
import { Rejected } from '../errors/rejected.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

/** Specification 4.2: one message with its attempts. */
export class TrackMessage {
  readonly #ports: { readonly unitOfWork: UnitOfWork };

  constructor(ports: { readonly unitOfWork: UnitOfWork }) {
    this.#ports = ports;
  }

  /** Throws `Rejected` for an id that is malformed, unknown or another project's. */
  async execute(project: Project, smsId: string): Promise<Message> {
    const message = SMS_ID_PATTERN.test(smsId)
      ? await this.#ports.unitOfWork.read((stores) => stores.messages.find(project.id, smsId))
      : null;
    if (message === null) throw new Rejected({ kind: 'message-not-found' });
    return message;
  }
}
