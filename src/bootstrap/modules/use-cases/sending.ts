import { ContainerModule } from 'inversify';
import { NoticeLowCredit } from '../../../application/billing/notice-low-credit.ts';
import { CurrentPrices } from '../../../application/catalog/current-prices.ts';
import { ReadCatalog } from '../../../application/catalog/read-catalog.ts';
import { BackgroundWork } from '../../../application/concurrency/background-work.ts';
import { SendMessages } from '../../../application/sending/send-messages.ts';
import { TrackMessage } from '../../../application/sending/track-message.ts';
import { UntriedMessages } from '../../../application/sending/untried-messages.ts';
import { EnqueueWebhooks } from '../../../application/webhooks/enqueue-webhooks.ts';
import { SealWebhook } from '../../../application/webhooks/seal-webhook.ts';
import { ports } from '../../tokens.ts';
import { wire } from '../../wire.ts';

const { channelProviders, clock, idSource, logger, requestHasher, unitOfWork, wakeSignal } = ports;

/** What is sent, what it costs, and what callers are told of it. */
export const sending = new ContainerModule(({ bind }) => {
  wire(bind, CurrentPrices, {});
  wire(bind, UntriedMessages, { unitOfWork, background: BackgroundWork, clock });
  wire(bind, SendMessages, {
    unitOfWork,
    currentPrices: CurrentPrices,
    channelProviders,
    sealWebhook: SealWebhook,
    untriedMessages: UntriedMessages,
    noticeLowCredit: NoticeLowCredit,
    requestHasher,
    clock,
    ids: idSource,
    wakeSignal,
  });
  wire(bind, TrackMessage, { unitOfWork });
  wire(bind, ReadCatalog, { unitOfWork, clock });
  wire(bind, NoticeLowCredit, { enqueueWebhooks: EnqueueWebhooks, ids: idSource, logger, wakeSignal });
});
