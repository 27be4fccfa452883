import type { BackgroundWork } from '../background-work.ts';
import type { MessageWork } from '../jobs/attempt-jobs.ts';
import type { LeasedJob } from '../jobs/job.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { AdvanceMessages } from './advance-messages.ts';
import type { ApplyMessageEvents } from './apply-message-events.ts';
import type { SubmitAttempts } from './submit-attempts.ts';

interface AttemptJobPorts {
  readonly unitOfWork: UnitOfWork;
  readonly advanceMessages: AdvanceMessages;
  readonly applyMessageEvents: ApplyMessageEvents;
  readonly submitAttempts: SubmitAttempts;
  readonly background: BackgroundWork;
}

/** Does the jobs of messages: starts attempts, and ends the time of those that brought no delivery. */
export class RunAttemptJobs {
  readonly #ports: AttemptJobPorts;

  constructor(ports: AttemptJobPorts) {
    this.#ports = ports;
  }

  /**
   * Commits the removal of the jobs and their effect in one transaction. The submissions that follow go on in the
   * background. Rejects when nothing was committed. First waits until not much more than one batch of submit
   * results is left to commit. Without that, attempts start faster than results are committed, and the provider counts as full.
   */
  async execute(jobs: readonly LeasedJob<MessageWork>[]): Promise<void> {
    const { unitOfWork, advanceMessages, applyMessageEvents, submitAttempts, background } = this.#ports;
    await applyMessageEvents.keptUp();
    const pending = await unitOfWork.run((stores) => advanceMessages.execute(stores, [], jobs));
    if (pending.length > 0) background.start(() => submitAttempts.execute(pending));
  }
}
