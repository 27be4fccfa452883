import { type ProjectJobPorts, ProjectJobs } from '../jobs/project-jobs.ts';

/** Starts of campaigns that a process works on at a time, and as many stops; one of a project. */
export const CAMPAIGN_JOBS_MAX = 2;
export const CAMPAIGN_JOBS_PER_PROJECT_MAX = 1;

const MAXIMA = { perProject: CAMPAIGN_JOBS_PER_PROJECT_MAX, all: CAMPAIGN_JOBS_MAX };

/** The jobs that start campaigns: each writes up to a thousand messages. */
export class CampaignStarts extends ProjectJobs {
  constructor(ports: ProjectJobPorts) {
    super(ports, MAXIMA);
  }
}

/** The jobs that stop campaigns: they wait behind no start. */
export class CampaignStops extends ProjectJobs {
  constructor(ports: ProjectJobPorts) {
    super(ports, MAXIMA);
  }
}
