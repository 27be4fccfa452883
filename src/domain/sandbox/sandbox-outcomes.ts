import type { DeliveryReceipt } from '../providers/delivery-receipt.ts';
import type { RejectionCause } from '../providers/rejection-class.ts';
import type { Channel } from '../shared/channel.ts';
import type { PhoneNumber } from '../shared/phone-number.ts';
import type { InboundContent } from '../webhooks/inbound-event.ts';
import { outcomeDigitsOf } from './test-number.ts';

/** What the simulator does with one submission. */
export interface SubmissionOutcome {
  readonly result: 'accepted' | 'rejected' | 'unavailable' | 'unknown';
  readonly reason?: string;
  readonly cause?: RejectionCause;
  /** How many parts the message has, each with an id of its own; one without. */
  readonly parts?: number;
  /** What the handset writes back, when the message was sent from a whatsapp number. */
  readonly reply?: { readonly afterMs: number; readonly content: InboundContent };
  /**
   * The delivery receipts. Each comes `afterMs` milliseconds after the submission, or after the attempt timed out. Parts are
   * counted from 1; a receipt without a part is for every part.
   */
  readonly receipts?: readonly {
    readonly afterMs: number;
    readonly from?: 'submission' | 'attempt-timeout';
    readonly part?: number;
    readonly receipt: DeliveryReceipt;
  }[];
}

/** The rejection a test number asks for. `rate-limited`: from this request of the window on, counted from 1. */
export type RejectionOutcome =
  | { readonly kind: 'insufficient-credit' }
  | { readonly kind: 'spending-threshold' }
  | { readonly kind: 'sender-id-not-found' }
  | { readonly kind: 'sender-id-not-accepted' }
  | { readonly kind: 'trial-mode' }
  | { readonly kind: 'rate-limited'; readonly fromRequest: number };

/**
 * What a test number does to the HTTP request. `internal-error`: nothing is accepted. The others: the message is
 * accepted, then the reply comes late or the connection is cut.
 */
export type RequestOutcome =
  | { readonly kind: 'internal-error' }
  | { readonly kind: 'slow-reply'; readonly delayMs: number }
  | { readonly kind: 'cut-connection' };

export interface SandboxOutcome {
  readonly description: string;
  readonly rejection?: RejectionOutcome;
  readonly request?: RequestOutcome;
  /** A campaign rejects the number like one of a country without a price. */
  readonly isUnsupportedInCampaigns?: boolean;
  /** How long the chain waits for each channel at least, in milliseconds. */
  readonly attemptTimeoutMs?: number;
  /** The outcome on a channel: under its name, else `first` for the first one of the chain, else `otherwise`. */
  readonly attempts: Readonly<
    Partial<Record<Channel | 'first', SubmissionOutcome>> & { readonly otherwise: SubmissionOutcome }
  >;
}

const delivered: DeliveryReceipt = { kind: 'delivered' };
const read: DeliveryReceipt = { kind: 'read' };
const sent: DeliveryReceipt = { kind: 'sent' };
const receipts = (...list: readonly [afterMs: number, receipt: DeliveryReceipt][]): SubmissionOutcome => ({
  result: 'accepted',
  receipts: list.map(([afterMs, receipt]) => ({ afterMs, receipt })),
});
const deliveredSoon = receipts([1_000, delivered]);
const silent = receipts();
const rejected = (reason: string): SubmissionOutcome => ({ result: 'rejected', reason });
const noWhatsapp = rejected('The number is not on whatsapp');
const noTelegram = rejected('The number is not on telegram');
const sends = (description: string, attempts: SandboxOutcome['attempts']): SandboxOutcome => ({
  description,
  attempts,
});
const replies = (description: string, content: InboundContent): SandboxOutcome =>
  sends(description, { otherwise: { ...deliveredSoon, reply: { afterMs: 2_000, content } } });
const rejects = (description: string, rejection: RejectionOutcome): SandboxOutcome => ({
  ...sends(description, { otherwise: deliveredSoon }),
  rejection,
});
const disturbs = (description: string, request: RequestOutcome): SandboxOutcome => ({
  ...sends(description, { otherwise: deliveredSoon }),
  request,
});

const DEFAULT_OUTCOME_DIGITS = '0001';

/** The one table of named outcomes: behaviour, documentation and tests are made from it. */
export const SANDBOX_OUTCOMES: Readonly<Record<string, SandboxOutcome>> = {
  [DEFAULT_OUTCOME_DIGITS]: sends('the first channel accepts, delivered after 1 s', {
    otherwise: deliveredSoon,
  }),
  '0002': {
    ...sends('the first channel accepts, delivered after 30 s; the chain waits a minute for it', {
      otherwise: receipts([30_000, delivered]),
    }),
    // The receipt of a code would come at the very end of the usual 30 s.
    attemptTimeoutMs: 60_000,
  },
  '0003': sends('every channel accepts, no receipt ever', { otherwise: silent }),
  '0004': sends('delivered, then read', { otherwise: receipts([1_000, delivered], [2_000, read]) }),
  '0005': sends('read without delivered', { otherwise: receipts([1_000, read]) }),
  '0006': sends('every channel fails at once: failed and refunded', {
    otherwise: rejected('The operator rejected the message'),
  }),
  '0007': sends('whatsapp not available, the next channel delivers', {
    whatsapp: noWhatsapp,
    otherwise: deliveredSoon,
  }),
  '0008': sends('telegram not available, the next channel delivers', {
    telegram: noTelegram,
    otherwise: deliveredSoon,
  }),
  '0009': sends('whatsapp and telegram not available, sms delivers', {
    whatsapp: noWhatsapp,
    telegram: noTelegram,
    otherwise: deliveredSoon,
  }),
  '0010': sends('the first channel accepts and stays silent, the next one delivers', {
    first: silent,
    otherwise: deliveredSoon,
  }),
  '0011': sends('the submission times out, the delivered receipt comes after 5 s', {
    otherwise: {
      result: 'unknown',
      reason: 'The provider did not respond in time',
      receipts: [{ afterMs: 5_000, receipt: delivered }],
    },
  }),
  '0012': sends('the delivered receipt comes twice', {
    otherwise: receipts([1_000, delivered], [1_100, delivered]),
  }),
  '0013': sends('receipts come in reverse order', {
    otherwise: receipts([1_000, read], [1_100, delivered], [1_200, sent]),
  }),
  '0014': sends('the delivered receipt of the first channel comes after the next one was tried', {
    first: {
      result: 'accepted',
      receipts: [{ afterMs: 2_000, from: 'attempt-timeout', receipt: delivered }],
    },
    otherwise: silent,
  }),
  '0015': sends('sms: part 2 of 2 fails', {
    sms: {
      result: 'accepted',
      parts: 2,
      receipts: [
        { afterMs: 1_000, part: 1, receipt: delivered },
        {
          afterMs: 1_000,
          part: 2,
          receipt: { kind: 'failed', reason: 'Part 2 of 2 was not delivered' },
        },
      ],
    },
    otherwise: deliveredSoon,
  }),
  '0016': sends('the first channel is out of service, the next one delivers', {
    first: { result: 'unavailable', reason: 'The channel is out of service' },
    otherwise: deliveredSoon,
  }),
  '0101': rejects('400 insufficient credit', { kind: 'insufficient-credit' }),
  '0102': rejects('400 spending threshold', { kind: 'spending-threshold' }),
  '0103': rejects('400 SenderID not found', { kind: 'sender-id-not-found' }),
  '0104': rejects('400 SenderID not yet accepted', { kind: 'sender-id-not-accepted' }),
  '0105': rejects('400 trial mode', { kind: 'trial-mode' }),
  '0106': rejects('429 always', { kind: 'rate-limited', fromRequest: 1 }),
  '0107': rejects('429 from the third request on', { kind: 'rate-limited', fromRequest: 3 }),
  '0108': disturbs('500', { kind: 'internal-error' }),
  '0109': disturbs('accepted, the HTTP reply comes after 5 s', { kind: 'slow-reply', delayMs: 5_000 }),
  '0110': disturbs('accepted, the connection is cut instead of a reply', { kind: 'cut-connection' }),
  '0201': {
    ...sends('campaigns: the number is not supported', { otherwise: deliveredSoon }),
    isUnsupportedInCampaigns: true,
  },
  '0202': sends('whatsapp: the parameters do not fit the template', {
    whatsapp: rejected('The parameters do not fit the template'),
    otherwise: deliveredSoon,
  }),
  '0203': sends('whatsapp is busy: a campaign tries again after 30 s and at longer intervals, for 24 h', {
    whatsapp: { ...rejected('Too many messages were sent to this number'), cause: 'busy' },
    otherwise: deliveredSoon,
  }),
  '0204': sends('whatsapp has paused the template: a campaign stops', {
    whatsapp: { ...rejected('The template is paused'), cause: 'sender' },
    otherwise: deliveredSoon,
  }),
  '0301': replies('delivered, replies "ok" after 2 s', { type: 'text', content: { text: 'ok' } }),
  '0302': replies('delivered, replies STOP after 2 s', { type: 'text', content: { text: 'STOP' } }),
  '0303': replies('delivered, replies with a location after 2 s', {
    type: 'location',
    content: { latitude: 33.3152, longitude: 44.3661 },
  }),
};

/** The outcome a number stands for; a number without a row of its own behaves like the first row. */
export function outcomeOf(phoneNumber: PhoneNumber): SandboxOutcome {
  const digits = outcomeDigitsOf(phoneNumber) ?? DEFAULT_OUTCOME_DIGITS;
  const outcome = Object.hasOwn(SANDBOX_OUTCOMES, digits) ? SANDBOX_OUTCOMES[digits] : undefined;
  return outcome ?? sends('as 0001', { otherwise: deliveredSoon });
}

/** What the simulator does with a submission to this number on this channel. */
export function submissionOutcome(
  phoneNumber: PhoneNumber,
  channel: Channel,
  isFirst: boolean,
): SubmissionOutcome {
  const { attempts } = outcomeOf(phoneNumber);
  return attempts[channel] ?? (isFirst ? attempts.first : undefined) ?? attempts.otherwise;
}
