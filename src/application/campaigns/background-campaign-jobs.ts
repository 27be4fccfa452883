import { type ProjectJobPorts, ProjectJobs } from '../jobs/project-jobs.ts';

/** Starts and stops of campaigns that a process works on at a time, and those of one project. */
export const CAMPAIGN_JOBS_MAX = 2;
export const CAMPAIGN_JOBS_PER_PROJECT_MAX = 1;

/** The jobs that start and stop campaigns: each writes up to a thousand messages. */
export class BackgroundCampaignJobs extends ProjectJobs {
  constructor(ports: ProjectJobPorts) {
    super(ports, { perProject: CAMPAIGN_JOBS_PER_PROJECT_MAX, all: CAMPAIGN_JOBS_MAX });
  }
}
