import { RUN_RETENTION_JOB_ID } from '../../../src/application/jobs/retention-jobs.ts';

/** Of the jobs that a service has left: retention is always due again. */
export const IS_LEFT = `id <> '${RUN_RETENTION_JOB_ID}'`;
