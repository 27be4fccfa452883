import { ContainerModule } from 'inversify';
import { BrowseReports } from '../../../application/reports/browse-reports.ts';
import { MakeReports } from '../../../application/reports/make-reports.ts';
import { RemoveReports } from '../../../application/reports/remove-reports.ts';
import { RequestReports } from '../../../application/reports/request-reports.ts';
import { ports } from '../../tokens.ts';
import { wire } from '../../wire.ts';
import { projectJobPorts } from './project-job-ports.ts';

const {
  clock,
  csvEncoder,
  idSource,
  keyHasher,
  lockRetryDelay,
  logger,
  reportFiles,
  reportPollingInterval,
  requestHasher,
  unitOfWork,
  wakeSignal,
} = ports;

/** Reports. */
export const reports = new ContainerModule(({ bind }) => {
  wire(bind, RequestReports, {
    unitOfWork,
    requestHasher,
    keyHasher,
    clock,
    ids: idSource,
    wakeSignal,
    reportPollingInterval,
    lockRetryDelay,
  });
  wire(bind, MakeReports, {
    unitOfWork,
    reportFiles,
    csvEncoder,
    ...projectJobPorts,
  });
  wire(bind, RemoveReports, { unitOfWork, reportFiles, ...projectJobPorts });
  wire(bind, BrowseReports, { unitOfWork, reportFiles, keyHasher, clock, logger });
});
