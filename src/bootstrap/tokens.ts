import type { ServiceIdentifier } from 'inversify';
import type { Database } from '../adapters/knex/database.ts';
import type { SimulatedCarriers } from '../adapters/simulator/simulated-carriers.ts';
import type { Doorbell } from '../adapters/timer/doorbell.ts';
import type { CarrierNewsSource } from '../application/ports/carrier-news.ts';
import type { ChannelProviders } from '../application/ports/channel-provider.ts';
import type { Clock } from '../application/ports/clock.ts';
import type { IdSource } from '../application/ports/id-source.ts';
import type { JobQueue } from '../application/ports/job-queue.ts';
import type { KeyHasher } from '../application/ports/key-hasher.ts';
import type { Logger } from '../application/ports/logger.ts';
import type { Pause } from '../application/ports/pause.ts';
import type { SecretBox } from '../application/ports/secret-box.ts';
import type { UnitOfWork } from '../application/ports/unit-of-work.ts';
import type { WebhookTransport } from '../application/ports/webhook-transport.ts';
import type { WorkSignal } from '../application/ports/work-signal.ts';
import type { Hmac } from '../domain/webhooks/signer.ts';

const port = <T>(name: string) => Symbol(name) as ServiceIdentifier<T>;

/** One typed token per port; use cases are their own tokens. */
export const ports = {
  clock: port<Clock>('Clock'),
  idSource: port<IdSource>('IdSource'),
  logger: port<Logger>('Logger'),
  keyHasher: port<KeyHasher>('KeyHasher'),
  unitOfWork: port<UnitOfWork>('UnitOfWork'),
  jobQueue: port<JobQueue>('JobQueue'),
  channelProviders: port<ChannelProviders>('ChannelProviders'),
  carrierNews: port<CarrierNewsSource>('CarrierNewsSource'),
  secretBox: port<SecretBox>('SecretBox'),
  hmac: port<Hmac>('Hmac'),
  webhookTransport: port<WebhookTransport>('WebhookTransport'),
  workSignal: port<WorkSignal>('WorkSignal'),
  recordingPause: port<Pause>('RecordingPause'),
  lookAgainPause: port<Pause>('LookAgainPause'),
};

/** Adapters the bootstrap itself has to reach, beyond the port they fill. */
export const adapters = {
  simulator: port<SimulatedCarriers>('SimulatedCarriers'),
  doorbell: port<Doorbell>('Doorbell'),
  database: port<Database>('Database'),
};
