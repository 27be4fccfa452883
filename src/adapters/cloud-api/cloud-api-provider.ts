import { z } from 'zod';
import { PriorityQueue } from '../../application/concurrency/priority-queue.ts';
import { MinuteLog } from '../../application/minute-log.ts';
import type {
  ChannelProvider,
  ProviderHealth,
  Submission,
} from '../../application/ports/channel-provider.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import {
  isUnclearStatus,
  type ProviderHttp,
  TOO_MANY_REQUESTS,
} from '../../application/ports/provider-http.ts';
import type { WhatsappDirectory } from '../../application/ports/whatsapp-directory.ts';
import type { Backlog } from '../../domain/jobs/fair-share.ts';
import type { ProviderCapacity } from '../../domain/providers/provider-capacity.ts';
import { rejectedAs, type SubmitResult, unknownResult } from '../../domain/providers/submit-result.ts';
import { digitsOf, type PhoneNumber } from '../../domain/shared/phone-number.ts';
import {
  cloudApiErrorClass,
  isCredentialsError,
  isKnownCode,
  saysNotTaken,
} from '../../domain/whatsapp/cloud-api-errors.ts';
import type { WhatsappBusiness } from '../../domain/whatsapp/whatsapp-resources.ts';
import { planMessage, type SendingDefaults } from './cloud-api-message.ts';
import type { GraphApi } from './graph-api.ts';
import { errorText, type GraphResponse } from './graph-response.ts';

type GraphFailure = Extract<GraphResponse, { kind: 'error' }>;

interface CloudApiOptions {
  readonly name: string;
  readonly graph: GraphApi;
  readonly http: ProviderHttp;
  readonly whatsappDirectory: WhatsappDirectory;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly defaults: SendingDefaults;
}

/** How long the provider is not healthy after Meta was away or rejected the credentials, in milliseconds. */
export const UNHEALTHY_MS = 60_000;

const PROVIDER_MESSAGE_ID = /^[\x21-\x7e]{1,255}$/;

const accepted = z.object({
  contacts: z
    .array(z.object({ input: z.string() }))
    .optional()
    .catch(undefined),
  messages: z.array(z.object({ id: z.string().regex(PROVIDER_MESSAGE_ID) })).min(1),
});

/**
 * Whatsapp messages over Meta's Cloud API: one HTTP request for each, from the numbers and with the templates of the project.
 * Receipts and inbound messages come as callbacks, which `CloudApiCallback` reads; this class hears nothing of them.
 */
export class CloudApiProvider implements ChannelProvider {
  readonly name: string;
  readonly #options: CloudApiOptions;
  readonly #log: MinuteLog;
  /** Messages whose number and template are looked up: they wait, and will take places of `http`. */
  readonly #lookups = new PriorityQueue<{ readonly backlog: Backlog }>();
  /** Whether Meta has taken a message since the start. */
  #hasTaken = false;
  #lastFailure: { readonly reason: string; readonly until: number } | null = null;

  constructor(options: CloudApiOptions) {
    this.name = options.name;
    this.#options = options;
    this.#log = new MinuteLog(options);
  }

  async start(): Promise<void> {}

  async submit(submission: Submission): Promise<SubmitResult> {
    const lookup = { backlog: submission };
    this.#lookups.add(lookup);
    const businesses = await this.#businessesOf(submission.projectId);
    this.#lookups.drop(lookup);
    if (businesses === null) {
      // Our own fault, not Meta's.
      return rejectedAs('limited', 'The whatsapp numbers and templates could not be read');
    }
    const { http, graph, defaults } = this.#options;
    const planned = planMessage(submission, businesses, defaults);
    if (planned.kind === 'no-sender') {
      return rejectedAs('sender', planned.reason);
    }
    const request = { ...graph.post(`${planned.phoneNumberId}/messages`, planned.body), backlog: submission };
    const isVerification = submission.content.smsType === 'verification';
    const response = await http.send(request);
    const result = this.#resultOf(graph.read(response), submission.phoneNumber, isVerification);
    http.noteResult(submission.projectId, response, result);
    return result;
  }

  whenHandedOver(listener: (backlog: Backlog) => void): void {
    this.#options.http.whenHandedOver(listener);
  }

  capacity(backlog: Backlog): ProviderCapacity {
    const capacity = this.#options.http.capacity(backlog);
    const { free, passing, waiting, ahead, ofRate } = capacity;
    const lookupsOfProject = this.#lookups.sizeOfProject(backlog.projectId);
    return {
      ...capacity,
      free: Math.max(0, free - this.#lookups.size),
      passing: Math.max(0, passing - lookupsOfProject),
      ...(ofRate === undefined ? {} : { ofRate: Math.max(0, ofRate - lookupsOfProject) }),
      waiting: waiting + this.#lookups.sizeOf(backlog),
      ahead: ahead + this.#lookups.sizeAhead(backlog.priority),
    };
  }

  health(): ProviderHealth {
    const { clock, graph } = this.#options;
    if (this.#lastFailure !== null && clock.now() < this.#lastFailure.until) {
      return { ok: false, detail: this.#lastFailure.reason };
    }
    const detail = `Cloud API ${graph.version}`;
    return { ok: true, detail: this.#hasTaken ? detail : `${detail}, nothing sent yet` };
  }

  /** Reads the default number, or who the token belongs to where there is none. */
  async check(): Promise<ProviderHealth> {
    const { http, graph, defaults } = this.#options;
    const node = defaults.phoneNumberId ?? 'me';
    const response = graph.read(await http.send(graph.get(node, { fields: 'id' })));
    switch (response.kind) {
      case 'json':
        return { ok: true, detail: `Meta takes the credentials, Cloud API ${graph.version}` };
      case 'error':
        return { ok: false, detail: errorText(response.error) };
      case 'not-sent':
      case 'limited':
      case 'unclear':
        return { ok: false, detail: response.reason };
      default:
        return response satisfies never;
    }
  }

  close(): Promise<void> {
    return this.#options.http.close();
  }

  #businessesOf(projectId: string): Promise<readonly WhatsappBusiness[] | null> {
    return this.#options.whatsappDirectory.resourcesOf([projectId]).then(
      (resources) => resources.get(projectId) ?? [],
      () => null,
    );
  }

  #resultOf(response: GraphResponse, phoneNumber: PhoneNumber, isVerification: boolean): SubmitResult {
    switch (response.kind) {
      case 'json': {
        const { messages: [message] = [], contacts: [contact] = [] } =
          accepted.safeParse(response.json).data ?? {};
        // A response too many on the connection makes each later one that of the request before.
        if (contact !== undefined && digitsOf(contact.input) !== phoneNumber) {
          return unknownResult('Meta responded to another message');
        }
        if (message === undefined) return unknownResult('Meta responded without an id of the message');
        this.#lastFailure = null;
        this.#hasTaken = true;
        return { kind: 'accepted', providerMessageIds: [message.id] };
      }
      case 'error':
        return this.#failed(response, isVerification);
      case 'not-sent':
        this.#note(response.reason);
        return rejectedAs('busy', response.reason);
      case 'limited':
        return rejectedAs('limited', response.reason);
      case 'unclear':
        return unknownResult(response.reason);
      default:
        return response satisfies never;
    }
  }

  #failed({ status, error }: GraphFailure, isVerification: boolean): SubmitResult {
    const reason = errorText(error);
    if (isCredentialsError(error.code)) this.#credentialsRejected(error.code);
    if (isUnclearStatus(status) && !saysNotTaken(error.code)) return unknownResult(reason);
    const isThrottled = status === TOO_MANY_REQUESTS && !isKnownCode(error.code);
    return rejectedAs(isThrottled ? 'throttled' : cloudApiErrorClass(error.code, isVerification), reason);
  }

  #credentialsRejected(code: number): void {
    this.#note(`Meta rejects the credentials with code ${code}`);
    this.#log.warn('provider_credentials_rejected', { provider: this.name, code });
  }

  #note(reason: string): void {
    this.#lastFailure = { reason, until: this.#options.clock.now() + UNHEALTHY_MS };
  }
}
