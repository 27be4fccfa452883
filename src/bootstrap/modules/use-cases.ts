import { access } from './use-cases/access.ts';
import { attempts } from './use-cases/attempts.ts';
import { campaigns } from './use-cases/campaigns.ts';
import { jobs } from './use-cases/jobs.ts';
import { operators } from './use-cases/operators.ts';
import { reports } from './use-cases/reports.ts';
import { retention } from './use-cases/retention.ts';
import { sending } from './use-cases/sending.ts';
import { webhooks } from './use-cases/webhooks.ts';
import { whatsapp } from './use-cases/whatsapp.ts';

/** Every use case and what it is made of, by what it is about. */
export const useCases = [
  access,
  attempts,
  campaigns,
  jobs,
  operators,
  reports,
  retention,
  sending,
  webhooks,
  whatsapp,
];
