import { millisecondsInSecond } from 'date-fns/constants';
import type { WorkSurvey } from '../../application/jobs/survey-work.ts';
import type { ChannelProviders } from '../../application/ports/channel-provider.ts';
import type { JobQueue } from '../../application/ports/job-queue.ts';
import type { Metrics } from './metrics.ts';
import { SharedReading } from './shared-reading.ts';

/** How long one reading of the database serves scrapes, in milliseconds. */
const SURVEY_FRESH_MS = 5_000;

/** How long a scrape waits for the database, in milliseconds. Then the gauges of the database are left out. */
const SURVEY_TIMEOUT_MS = 2_000;

interface GaugeSources {
  readonly surveyWork: { execute(): Promise<WorkSurvey> };
  readonly jobQueue: Pick<JobQueue, 'unavailableReason'>;
  readonly channelProviders: Pick<ChannelProviders, 'live'>;
}

/** The gauges that are read when they are asked for. */
export class WorkGauges {
  readonly #sources: GaugeSources;
  readonly #metrics: Metrics;
  readonly #survey: SharedReading<WorkSurvey>;

  constructor(sources: GaugeSources, metrics: Metrics) {
    this.#sources = sources;
    this.#metrics = metrics;
    this.#survey = new SharedReading({
      read: () => sources.surveyWork.execute(),
      freshMs: SURVEY_FRESH_MS,
      timeoutMs: SURVEY_TIMEOUT_MS,
    });
  }

  /** Never rejects: without a database its gauges are missing, and a counter says so. */
  async refresh(): Promise<void> {
    const { queueConnected, providersUp, providerCircuits } = this.#metrics;
    const { jobQueue, channelProviders } = this.#sources;
    queueConnected.set(jobQueue.unavailableReason() === null ? 1 : 0);
    for (const { channel, provider } of channelProviders.live()) {
      const { ok, circuit } = provider.health();
      const labels = { channel, provider: provider.name };
      providersUp.set(labels, ok ? 1 : 0);
      providerCircuits.set(labels, circuit === undefined ? 0 : 1);
    }
    this.#set(await this.#survey.get());
  }

  #set(survey: WorkSurvey | null): void {
    const { jobsDue, oldestDue, deadLetterJobs, workers, webhookCircuits, surveyFailures } = this.#metrics;
    // A number of before would say that all is as it was.
    for (const gauge of [deadLetterJobs, workers, webhookCircuits]) gauge.remove();
    for (const gauge of [jobsDue, oldestDue]) gauge.reset();
    if (survey === null) {
      surveyFailures.inc();
      return;
    }
    for (const { priority, due, oldestWaitedMs } of survey.priorities) {
      jobsDue.set({ priority }, due);
      oldestDue.set({ priority }, oldestWaitedMs / millisecondsInSecond);
    }
    deadLetterJobs.set(survey.deadLetterJobs);
    workers.set(survey.workers);
    webhookCircuits.set(survey.openWebhookCircuits);
  }
}
