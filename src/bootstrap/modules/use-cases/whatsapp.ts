import { ContainerModule } from 'inversify';
import { BackgroundWork } from '../../../application/concurrency/background-work.ts';
import { RecordJobFailure } from '../../../application/jobs/record-job-failure.ts';
import { RenewLeases } from '../../../application/jobs/renew-leases.ts';
import { RunWhatsappSync } from '../../../application/whatsapp/run-whatsapp-sync.ts';
import { SyncWhatsapp } from '../../../application/whatsapp/sync-whatsapp.ts';
import { WhatsappPlatforms } from '../../../application/whatsapp/whatsapp-platforms.ts';
import { ports } from '../../tokens.ts';
import { wire } from '../../wire.ts';

const { clock, eventLoop, idSource, logger, renewInterval, unitOfWork, whatsappPlatforms } = ports;

/** The whatsapp resources of platforms. */
export const whatsapp = new ContainerModule(({ bind }) => {
  wire(bind, WhatsappPlatforms, { platforms: whatsappPlatforms });
  wire(bind, SyncWhatsapp, {
    unitOfWork,
    platform: WhatsappPlatforms,
    clock,
    ids: idSource,
    logger,
    eventLoop,
  });
  wire(bind, RunWhatsappSync, {
    unitOfWork,
    whatsappPlatforms: WhatsappPlatforms,
    syncWhatsapp: SyncWhatsapp,
    renewLeases: RenewLeases,
    recordJobFailure: RecordJobFailure,
    background: BackgroundWork,
    clock,
    renewInterval,
  });
});
