import type { Project } from '../../domain/access/project.ts';
import type { PaymentType } from '../../domain/billing/account.ts';
import type { InternationalPrice } from '../../domain/billing/pricing.ts';
import type { SimulatedAcceptance } from '../../domain/messages/magic-numbers.ts';
import type { Message } from '../../domain/messages/message.ts';
import type { SendRequest } from '../../domain/messages/send-request.ts';
import type { SenderId } from '../../domain/senders/sender-id.ts';
import type { Money } from '../../domain/shared/money.ts';
import type { Page } from '../../domain/shared/page.ts';
import type { WhatsappBusiness } from '../../domain/whatsapp/whatsapp-resources.ts';

/** A send as it came in; equal `requestHash` means an equal request under the same key. */
export interface SendCommand {
  readonly project: Project;
  readonly request: SendRequest;
  readonly idempotency: { readonly key: string; readonly requestHash: string } | null;
}

/** What an accepted send is answered with. `remainingCredit` is the credit right after it. */
export interface SendReceipt {
  readonly smsId: string;
  readonly remainingCredit: Money;
  readonly cost: Money;
  readonly canCover: boolean;
  readonly paymentType: PaymentType;
  /** True when this is the answer of an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  /** What a dev project's test number asked to happen to the answer itself. */
  readonly acceptance: SimulatedAcceptance | null;
}

export interface Dependency {
  readonly name: string;
  readonly ok: boolean;
  readonly critical: boolean;
  readonly detail: string;
}

/** The use cases behind the interface. Every one of them throws `Refused` for what it refuses. */
export interface Api {
  readonly authenticate: {
    /** The project of a key; null, unknown and withdrawn keys are refused as `unauthorized`. */
    execute(apiKey: string | null): Promise<Project>;
  };
  readonly sendMessages: {
    /** Accepts one send durably before it resolves. */
    execute(command: SendCommand): Promise<SendReceipt>;
  };
  readonly trackMessage: {
    /** The project's message; refused as `message-not-found` when it has none of that id. */
    execute(project: Project, smsId: string): Promise<Message>;
  };
  readonly catalog: {
    /** Name and credit of the project. */
    info(project: Project): Promise<{ readonly projectName: string; readonly credit: Money }>;
    /** All sender IDs of the project, whatever their status. */
    senderIds(project: Project): Promise<readonly SenderId[]>;
    /** One page of the price list in the order of specification 4.3, and how many rows match. */
    internationalPrices(
      filter: { readonly countryIso: string | null },
      page: Page,
    ): Promise<{ readonly total: number; readonly rows: readonly InternationalPrice[] }>;
    /** The whatsapp businesses linked to the project, with everything below them. */
    whatsappResources(project: Project): Promise<readonly WhatsappBusiness[]>;
  };
  readonly health: {
    /** Asks every dependency; ready when each critical one is well. */
    readiness(): Promise<{ readonly ready: boolean; readonly dependencies: readonly Dependency[] }>;
  };
}
