import { catalogRoutes } from '../../../src/adapters/http/families/catalog/catalog.ts';
import { healthRoutes } from '../../../src/adapters/http/families/health.ts';
import { messageRoutes } from '../../../src/adapters/http/families/messages/messages.ts';
import type { Wait } from '../../../src/adapters/http/families/messages/sandbox-faults.ts';
import { whatsappResourceRoutes } from '../../../src/adapters/http/families/whatsapp/whatsapp-resources.ts';
import type { RouteFamily } from '../../../src/adapters/http/routing/route-declaration.ts';
import { AddressRates } from '../../../src/application/access/address-rates.ts';
import type { DependencyHealth } from '../../../src/application/check-health.ts';
import { Rejected, type Rejection } from '../../../src/application/errors/rejected.ts';
import type { SendCommand, SendResult } from '../../../src/application/sending/send-command.ts';
import { DEMO_API_KEY } from '../../../src/bootstrap/config/demo-seed.ts';
import type { Project } from '../../../src/domain/access/project.ts';
import type { InternationalPrice } from '../../../src/domain/billing/pricing.ts';
import type { Message } from '../../../src/domain/messages/message.ts';
import type { SenderId } from '../../../src/domain/senders/sender-id.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { offsetOf, type Page } from '../../../src/domain/shared/page.ts';
import type { WhatsappBusiness } from '../../../src/domain/whatsapp/whatsapp-resources.ts';
import { anSmsId, aProject, NOW } from '../../support/builders.ts';

export const SEND_RESULT: SendResult = {
  smsId: anSmsId(1),
  remainingCredit: iqd(14_800),
  cost: iqd(200),
  canCover: true,
  paymentType: 'prepaid',
  replayed: false,
};

/** The use cases by hand: they keep what the interface asked for, and the test sets what they return. */
export class MemoryApi {
  project: Project = aProject({ environment: 'dev' });
  /** The result of every send. */
  sendResult: SendResult = SEND_RESULT;
  /** Rejects every send while set. */
  sendRejection: Rejection | null = null;
  /** Thrown by every use case but authentication and readiness while set. */
  fault: Error | null = null;
  /** Requests with a key wait for this promise, before their bodies are read. */
  keyGate: Promise<void> = Promise.resolve();
  /** Sends wait for this promise before they resolve. */
  gate: Promise<void> = Promise.resolve();
  readonly sent: SendCommand[] = [];
  /** Where the requests with a key came from. */
  readonly networks: string[] = [];
  readonly messages = new Map<string, Message>();
  senders: readonly SenderId[] = [];
  prices: readonly InternationalPrice[] = [];
  businesses: readonly WhatsappBusiness[] = [];
  dependencies: readonly DependencyHealth[] = [];

  #isRevoked = false;

  /** The key works no longer. */
  revokeKey(): void {
    this.#isRevoked = true;
  }

  readonly authenticateProject = {
    execute: async (apiKey: string | null, network: string): Promise<Project> => {
      this.networks.push(network);
      await this.keyGate;
      if (apiKey !== DEMO_API_KEY || this.#isRevoked) throw new Rejected({ kind: 'unauthorized' });
      return this.project;
    },
  };

  readonly addressRates = new AddressRates({ clock: { now: () => NOW } });

  readonly sendMessages = {
    execute: async (command: SendCommand): Promise<SendResult> => {
      this.sent.push(command);
      await this.gate;
      this.#throwFault();
      if (this.sendRejection !== null) throw new Rejected(this.sendRejection);
      return this.sendResult;
    },
  };

  readonly trackMessage = {
    execute: async (_project: Project, smsId: string): Promise<Message> => {
      this.#throwFault();
      const message = this.messages.get(smsId);
      if (message === undefined) throw new Rejected({ kind: 'message-not-found' });
      return message;
    },
  };

  readonly readCatalog = {
    info: async (project: Project) => {
      this.#throwFault();
      return { projectName: project.name, credit: iqd(15_000) };
    },
    senderIds: async () => {
      this.#throwFault();
      return this.senders;
    },
    internationalPrices: async ({ countryIso }: { readonly countryIso: string | null }, page: Page) => {
      this.#throwFault();
      const rows = this.prices.filter((row) => countryIso === null || row.countryIso === countryIso);
      return { total: rows.length, rows: rows.slice(offsetOf(page), offsetOf(page) + page.limit) };
    },
    whatsappResources: async () => {
      this.#throwFault();
      return this.businesses;
    },
  };

  readonly build = { version: '1.0.0', commit: null };

  readonly checkHealth = {
    readiness: async () => ({
      ready: this.dependencies.every(({ ok, critical }) => ok || !critical),
      dependencies: this.dependencies,
    }),
  };

  /** The families of the interface over these use cases. */
  families(wait?: Wait): readonly RouteFamily[] {
    return [messageRoutes(this, wait), catalogRoutes(this), whatsappResourceRoutes(this), healthRoutes(this)];
  }

  #throwFault(): void {
    if (this.fault !== null) throw this.fault;
  }
}
