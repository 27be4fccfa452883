import { UndiciProviderHttp } from '../../src/adapters/egress/providers/undici-provider-http.ts';
import { nodeHmac } from '../../src/adapters/node/node-hmac.ts';
import type { Submission } from '../../src/application/ports/channel-provider.ts';
import type { WhatsappDirectory } from '../../src/application/ports/whatsapp-directory.ts';
import { cloudApiKind } from '../../src/bootstrap/providers/cloud-api.ts';
import type { WhatsappBusiness } from '../../src/domain/whatsapp/whatsapp-resources.ts';
import {
  aSubmission,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  NOW,
  PROJECT_ID,
} from './builders.ts';
import {
  ACCESS_TOKEN,
  APP_SECRET,
  type CloudApiPeer,
  PLATFORM_PHONE_ID,
  VERIFY_TOKEN,
  WABA_ID,
} from './cloud-api-peer.ts';
import { IDLE_EVENT_LOOP } from './idle-event-loop.ts';
import { providerTls } from './provider-tls.ts';
import { RecordingLogger } from './recording-logger.ts';

interface WorldOptions {
  readonly peer: Pick<CloudApiPeer, 'url'>;
  /** The tree of the only project. */
  readonly businesses?: readonly WhatsappBusiness[];
  readonly verificationTemplate?: { readonly name: string; readonly language: string };
  /** Null: without a default number. */
  readonly phoneNumberId?: string | null;
  /** The deadline of one request, in milliseconds. */
  readonly timeoutMs?: number;
  readonly directory?: WhatsappDirectory;
}

/** The ids of the tree's only number and account. */
export const PHONE_ID = aWhatsappPhoneNumber().id;
export const ACCOUNT_ID = aWhatsappAccount().id;

/** `aWhatsappBusiness()` with the ids of the peer. */
export function aLinkedBusiness(account: Parameters<typeof aWhatsappAccount>[0] = {}): WhatsappBusiness {
  const phoneNumbers = [aWhatsappPhoneNumber({ phoneNumberId: PLATFORM_PHONE_ID })];
  return aWhatsappBusiness({
    whatsappAccounts: [aWhatsappAccount({ whatsappBusinessId: WABA_ID, phoneNumbers, ...account })],
  });
}

/** A code on its way over whatsapp, of a live project. */
export function aWhatsappSubmission(given: Partial<Submission> = {}): Submission {
  return aSubmission({ channel: 'whatsapp', environment: 'live', ...given });
}

/** The provider and its callback as the bootstrap makes them, over a real HTTP client, with the peer as Meta. */
export function cloudApi({
  peer,
  businesses = [aLinkedBusiness()],
  verificationTemplate,
  phoneNumberId = PLATFORM_PHONE_ID,
  timeoutMs,
  directory = directoryOf(businesses),
}: WorldOptions) {
  const clock = { at: NOW, now: () => clock.at };
  const logger = new RecordingLogger();
  const made = cloudApiKind.make(
    {
      accessToken: ACCESS_TOKEN,
      appSecret: APP_SECRET,
      verifyToken: VERIFY_TOKEN,
      phoneNumberId: phoneNumberId ?? undefined,
      verificationTemplate,
      version: 'v25.0',
      baseUrl: peer.url,
    },
    {
      name: 'meta',
      clock,
      eventLoop: IDLE_EVENT_LOOP,
      logger,
      hmac: nodeHmac,
      whatsappDirectory: directory,
      timedTls: providerTls,
      http: () => new UndiciProviderHttp(timeoutMs === undefined ? {} : { timeoutMs }),
    },
  );
  if (made.callback === null) throw new Error('The provider has no callback');
  return { ...made, callback: made.callback, clock, logger };
}

/** The directory of one project. */
export function directoryOf(businesses: readonly WhatsappBusiness[]): WhatsappDirectory {
  const numbers = businesses.flatMap(({ whatsappAccounts }) =>
    whatsappAccounts.flatMap(({ phoneNumbers }) => phoneNumbers),
  );
  return {
    async resourcesOf(projectIds) {
      return new Map(projectIds.includes(PROJECT_ID) ? [[PROJECT_ID, businesses]] : []);
    },
    async phoneIdsOf(platformIds) {
      const known = numbers.filter(({ phoneNumberId }) => platformIds.includes(phoneNumberId));
      return new Map(known.map(({ phoneNumberId, id }) => [phoneNumberId, id]));
    },
  };
}
