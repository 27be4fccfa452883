import type { ServiceIdentifier } from 'inversify';
import type { Database } from '../adapters/knex/database.ts';
import type { Simulator } from '../adapters/simulator/simulator.ts';
import type { LocalWakeSignal } from '../adapters/timer/local-wake-signal.ts';
import type { ChannelProvider, ChannelProviders } from '../application/ports/channel-provider.ts';
import type { Clock } from '../application/ports/clock.ts';
import type { CsvDecoder } from '../application/ports/csv-decoder.ts';
import type { CsvEncoder } from '../application/ports/csv-encoder.ts';
import type { EventLoop } from '../application/ports/event-loop.ts';
import type { IdSource } from '../application/ports/id-source.ts';
import type { JobQueue } from '../application/ports/job-queue.ts';
import type { KeyHasher } from '../application/ports/key-hasher.ts';
import type { Logger } from '../application/ports/logger.ts';
import type { ProviderCallbacks } from '../application/ports/provider-callback.ts';
import type { ProviderEventSource } from '../application/ports/provider-events.ts';
import type { ReportFiles } from '../application/ports/report-files.ts';
import type { RequestHasher } from '../application/ports/request-hasher.ts';
import type { SecretBox } from '../application/ports/secret-box.ts';
import type { Timeout } from '../application/ports/timeout.ts';
import type { UnitOfWork } from '../application/ports/unit-of-work.ts';
import type { WakeSignal } from '../application/ports/wake-signal.ts';
import type { WebhookTransport } from '../application/ports/webhook-transport.ts';
import type { WhatsappDirectory } from '../application/ports/whatsapp-directory.ts';
import type { WhatsappPlatform } from '../application/ports/whatsapp-platform.ts';
import type { SliceBudget } from '../application/retention/slices.ts';
import type { Hmac } from '../domain/webhooks/signer.ts';
import type { LiveProvider } from './providers/provider-kind.ts';

const port = <T>(name: string) => Symbol(name) as ServiceIdentifier<T>;

/** One typed token per port, and for each value that use cases share; use cases are their own tokens. */
export const ports = {
  clock: port<Clock>('Clock'),
  /** What this process is called among those that run jobs. */
  workerId: port<string>('WorkerId'),
  idSource: port<IdSource>('IdSource'),
  logger: port<Logger>('Logger'),
  keyHasher: port<KeyHasher>('KeyHasher'),
  requestHasher: port<RequestHasher>('RequestHasher'),
  unitOfWork: port<UnitOfWork>('UnitOfWork'),
  jobQueue: port<JobQueue>('JobQueue'),
  channelProviders: port<ChannelProviders>('ChannelProviders'),
  providerCallbacks: port<ProviderCallbacks>('ProviderCallbacks'),
  whatsappDirectory: port<WhatsappDirectory>('WhatsappDirectory'),
  whatsappPlatforms: port<readonly WhatsappPlatform[]>('WhatsappPlatforms'),
  providerEvents: port<ProviderEventSource>('ProviderEventSource'),
  submitTimeout: port<Timeout>('SubmitTimeout'),
  secretBox: port<SecretBox>('SecretBox'),
  hmac: port<Hmac>('Hmac'),
  webhookTransport: port<WebhookTransport>('WebhookTransport'),
  wakeSignal: port<WakeSignal>('WakeSignal'),
  recordBatchWindow: port<Timeout>('RecordBatchWindow'),
  resultRetryDelay: port<Timeout>('ResultRetryDelay'),
  fetchInterval: port<Timeout>('FetchInterval'),
  reportFiles: port<ReportFiles>('ReportFiles'),
  csvDecoder: port<CsvDecoder>('CsvDecoder'),
  csvEncoder: port<CsvEncoder>('CsvEncoder'),
  reportPollingInterval: port<Timeout>('ReportPollingInterval'),
  lockRetryDelay: port<Timeout>('LockRetryDelay'),
  eventLoop: port<EventLoop>('EventLoop'),
  renewInterval: port<Timeout>('RenewInterval'),
  sliceBudget: port<SliceBudget>('SliceBudget'),
  sliceDelay: port<Timeout>('SliceDelay'),
  keyUseInterval: port<Timeout>('KeyUseInterval'),
  heartbeatInterval: port<Timeout>('HeartbeatInterval'),
  keepsPlatformLimits: port<boolean>('KeepsPlatformLimits'),
};

/** Adapters the bootstrap itself has to reach, beyond the port they fill. */
export const adapters = {
  simulator: port<Simulator>('Simulator'),
  /** The simulator as the channels use it, with what stands around it. */
  simulatorProvider: port<ChannelProvider>('SimulatorProvider'),
  liveProviders: port<readonly LiveProvider[]>('LiveProviders'),
  localWakeSignal: port<LocalWakeSignal>('LocalWakeSignal'),
  database: port<Database>('Database'),
};
