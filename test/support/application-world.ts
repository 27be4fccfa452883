import type { ContainerModule } from 'inversify';
import type { SimulatedMessage } from '../../src/adapters/simulator/simulator.ts';
import { BackgroundWork } from '../../src/application/concurrency/background-work.ts';
import { RunJobs } from '../../src/application/jobs/run-jobs.ts';
import { RecordProviderEvents } from '../../src/application/receipts/record-provider-events.ts';
import type { Seed, SeedProject } from '../../src/application/seed/apply-seed.ts';
import { ApplySeed } from '../../src/application/seed/apply-seed.ts';
import { readConfig } from '../../src/bootstrap/config/config.ts';
import { buildContainer } from '../../src/bootstrap/container.ts';
import { adapters, ports } from '../../src/bootstrap/tokens.ts';
import { LEASE_MS, type LeasedJob } from '../../src/domain/jobs/job.ts';
import { iqd } from '../../src/domain/shared/money.ts';
import { aProject, NOW, someSeedPrices } from './builders.ts';
import { RecordingLogger } from './recording-logger.ts';

/** A project with 1,000 IQD and nothing else. */
export function aSeedProject(given: Partial<SeedProject> = {}): SeedProject {
  return {
    project: aProject({ settings: { rateLimit: null } }),
    lowCredit: null,
    apiKeys: [],
    account: { paymentType: 'prepaid', spendingThreshold: null, trialPhoneNumber: null },
    credit: iqd(1_000),
    senderIds: [],
    whatsappBusinesses: [],
    inboundWebhooks: [],
    ...given,
  };
}

interface WorldOptions {
  readonly projects?: readonly SeedProject[];
  readonly overrides?: readonly ContainerModule[];
}

/** The use cases in their real surroundings: a database in memory, the simulator, a clock by hand, no HTTP, no loops. */
export async function openApplication({ projects = [aSeedProject()], overrides = [] }: WorldOptions = {}) {
  const clock = { at: NOW, now: () => clock.at };
  const logger = new RecordingLogger();
  const submitted: SimulatedMessage[] = [];
  const container = buildContainer({
    ...readConfig({
      DATABASE_URL: 'sqlite::memory:',
      SMS_PROVIDER: 'simulator',
      WHATSAPP_PROVIDER: 'simulator',
      TELEGRAM_PROVIDER: 'simulator',
    }),
    secretKey: Buffer.alloc(32),
    clock,
    logger,
    onSubmission: (message) => submitted.push(message),
    overrides,
  });
  const database = container.get(adapters.database);
  const unitOfWork = container.get(ports.unitOfWork);
  const background = container.get(BackgroundWork);
  const workerId = container.get(ports.workerId);
  await database.migrate();
  const seed: Seed = { projects, prices: someSeedPrices() };
  if (projects.length > 0) await container.get(ApplySeed).execute(seed);
  const lease = (limit = 100): Promise<readonly LeasedJob[]> =>
    unitOfWork.run(({ jobs }) => jobs.lease({ workerId, now: clock.at, until: clock.at + LEASE_MS, limit }));
  return {
    container,
    clock,
    logger,
    submitted,
    database,
    unitOfWork,
    lease,
    /** Leases what is due now and does it, with the submissions that follow. */
    async runDueJobs(): Promise<readonly string[]> {
      const jobs = await lease();
      await container.get(RunJobs).execute(jobs);
      await background.idle();
      return jobs.map(({ id }) => id);
    },
    /** Records the receipts that the simulator has by now. */
    async recordReceipts(): Promise<void> {
      const simulator = container.get(adapters.simulator);
      await simulator.start((events) => container.get(RecordProviderEvents).execute(events));
      await simulator.deliverDue();
    },
    async account(projectId = aProject().id) {
      const [account] = await unitOfWork.read(({ accounts }) => accounts.byProjectIds([projectId]));
      if (account === undefined) throw new Error(`There is no account of ${projectId}`);
      return account;
    },
    async message(smsId: string, projectId = aProject().id) {
      const message = await unitOfWork.read(({ messages }) => messages.find(projectId, smsId));
      if (message === null) throw new Error(`There is no message ${smsId}`);
      return message;
    },
    async close(): Promise<void> {
      await background.idle();
      await database.close();
    },
  };
}

export type ApplicationWorld = Awaited<ReturnType<typeof openApplication>>;
