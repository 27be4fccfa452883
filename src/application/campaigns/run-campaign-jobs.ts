import type { LeasedJob } from '../../domain/jobs/job.ts';
import type { StartCampaignWork, StopCampaignWork } from '../jobs/campaign-jobs.ts';
import { type ProjectJobPorts, ProjectJobRunner } from '../jobs/project-job-runner.ts';
import type { StartCampaigns } from './start-campaigns.ts';
import type { StopCampaigns } from './stop-campaigns.ts';

/** Starts of campaigns that a process works on at a time, and as many stops; one of a project. */
export const CAMPAIGN_JOBS_MAX = 2;
export const CAMPAIGN_JOBS_PER_PROJECT_MAX = 1;

const MAXIMA = { perProject: CAMPAIGN_JOBS_PER_PROJECT_MAX, all: CAMPAIGN_JOBS_MAX, isPaced: true };

/** Starts campaigns at their time, in the background: each start writes up to a thousand messages. */
export class RunCampaignStarts {
  readonly #startCampaigns: StartCampaigns;
  readonly #runner: ProjectJobRunner;

  constructor(ports: ProjectJobPorts & { readonly startCampaigns: StartCampaigns }) {
    this.#startCampaigns = ports.startCampaigns;
    this.#runner = new ProjectJobRunner(ports, MAXIMA);
  }

  /** Resolves at once. Never rejects. */
  execute(jobs: readonly LeasedJob<StartCampaignWork>[]): Promise<void> {
    return this.#runner.begin(jobs, (job) => this.#startCampaigns.due(job));
  }
}

/** Stops campaigns in the background. Stops wait behind no start. */
export class RunCampaignStops {
  readonly #stopCampaigns: StopCampaigns;
  readonly #runner: ProjectJobRunner;

  constructor(ports: ProjectJobPorts & { readonly stopCampaigns: StopCampaigns }) {
    this.#stopCampaigns = ports.stopCampaigns;
    this.#runner = new ProjectJobRunner(ports, MAXIMA);
  }

  /** Resolves at once. Never rejects. */
  execute(jobs: readonly LeasedJob<StopCampaignWork>[]): Promise<void> {
    return this.#runner.begin(jobs, (job) => this.#stopCampaigns.execute(job));
  }
}
