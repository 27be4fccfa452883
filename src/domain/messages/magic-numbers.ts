import type { PhoneNumber } from '../shared/phone-number.ts';
import type { InboundContent } from '../webhooks/inbound-event.ts';
import type { Report } from './chain-event.ts';
import type { Channel } from './channel.ts';

/**
 * Numbers with a fixed outcome, for dev projects only. Country code 999 belongs to nobody, so no carrier can
 * route one: 999, six digits free for the test's own use, four digits that choose the outcome.
 */
const MAGIC_NUMBER_PATTERN = /^999[0-9]{6}([0-9]{4})$/;

/** What the simulated channel does with one submission. */
export interface SimulatedStep {
  readonly answer: 'accepted' | 'refused' | 'unavailable' | 'unknown';
  readonly reason?: string;
  /** What the handset writes back, when the message was sent from a whatsapp number. */
  readonly reply?: { readonly afterMs: number; readonly content: InboundContent };
  /** Reports that follow, each after a time in milliseconds, or that long after the step timed out. */
  readonly reports?: readonly {
    readonly afterMs: number;
    readonly from?: 'submission' | 'step-timeout';
    readonly report: Report;
  }[];
}

/** What happens to the request itself before anything is sent. */
export type SimulatedAcceptance =
  | { readonly kind: 'insufficient-credit' }
  | { readonly kind: 'spending-threshold' }
  | { readonly kind: 'sender-id-not-found' }
  | { readonly kind: 'sender-id-not-accepted' }
  | { readonly kind: 'trial-mode' }
  | { readonly kind: 'rate-limited'; readonly fromRequest: number }
  | { readonly kind: 'internal-error' }
  | { readonly kind: 'slow-answer'; readonly delayMs: number }
  | { readonly kind: 'cut-connection' };

export interface MagicOutcome {
  readonly description: string;
  readonly acceptance?: SimulatedAcceptance;
  /** The step for a channel: by its name, else `first` for the first one tried, else `otherwise`. */
  readonly steps: Readonly<
    Partial<Record<Channel | 'first', SimulatedStep>> & { readonly otherwise: SimulatedStep }
  >;
}

const delivered: Report = { kind: 'delivered' };
const read: Report = { kind: 'read' };
const sent: Report = { kind: 'sent' };
const reports = (...list: readonly [afterMs: number, report: Report][]): SimulatedStep => ({
  answer: 'accepted',
  reports: list.map(([afterMs, report]) => ({ afterMs, report })),
});
const deliveredSoon = reports([1_000, delivered]);
const silent = reports();
const refused = (reason: string): SimulatedStep => ({ answer: 'refused', reason });
const noWhatsapp = refused('The number is not on whatsapp');
const noTelegram = refused('The number is not on telegram');
const sends = (description: string, steps: MagicOutcome['steps']): MagicOutcome => ({ description, steps });
const replies = (description: string, content: InboundContent): MagicOutcome =>
  sends(description, { otherwise: { ...deliveredSoon, reply: { afterMs: 2_000, content } } });
const accepts = (description: string, acceptance: SimulatedAcceptance): MagicOutcome => ({
  description,
  acceptance,
  steps: { otherwise: deliveredSoon },
});

export const DEFAULT_OUTCOME_DIGITS = '0001';

/** The one table of named outcomes: behaviour, documentation and tests are made from it. */
export const MAGIC_OUTCOMES: Readonly<Record<string, MagicOutcome>> = {
  [DEFAULT_OUTCOME_DIGITS]: sends('the first channel accepts, delivered after 1 s', {
    otherwise: deliveredSoon,
  }),
  '0002': sends('delivered after 25 s', { otherwise: reports([25_000, delivered]) }),
  '0003': sends('every channel accepts, no report ever', { otherwise: silent }),
  '0004': sends('delivered, then read', { otherwise: reports([1_000, delivered], [2_000, read]) }),
  '0005': sends('read without delivered', { otherwise: reports([1_000, read]) }),
  '0006': sends('every channel fails at once: failed and refunded', {
    otherwise: refused('The carrier rejected the message'),
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
  '0011': sends('the submission times out, the delivered report comes after 5 s', {
    otherwise: {
      answer: 'unknown',
      reason: 'The channel did not answer in time',
      reports: [{ afterMs: 5_000, report: delivered }],
    },
  }),
  '0012': sends('the delivered report comes twice', {
    otherwise: reports([1_000, delivered], [1_100, delivered]),
  }),
  '0013': sends('reports come in reverse order', {
    otherwise: reports([1_000, read], [1_100, delivered], [1_200, sent]),
  }),
  '0014': sends('the first channel reports delivered after the next one was tried', {
    first: { answer: 'accepted', reports: [{ afterMs: 2_000, from: 'step-timeout', report: delivered }] },
    otherwise: silent,
  }),
  '0015': sends('sms: part 2 of 2 fails', {
    sms: reports([1_000, { kind: 'failed', reason: 'Part 2 of 2 was not delivered' }]),
    otherwise: deliveredSoon,
  }),
  '0016': sends('the first channel is out of service, the next one delivers', {
    first: { answer: 'unavailable', reason: 'The channel is out of service' },
    otherwise: deliveredSoon,
  }),
  '0101': accepts('400 insufficient credit', { kind: 'insufficient-credit' }),
  '0102': accepts('400 spending threshold', { kind: 'spending-threshold' }),
  '0103': accepts('400 SenderID not found', { kind: 'sender-id-not-found' }),
  '0104': accepts('400 SenderID not yet accepted', { kind: 'sender-id-not-accepted' }),
  '0105': accepts('400 trial mode', { kind: 'trial-mode' }),
  '0106': accepts('429 always', { kind: 'rate-limited', fromRequest: 1 }),
  '0107': accepts('429 from the third request on', { kind: 'rate-limited', fromRequest: 3 }),
  '0108': accepts('500', { kind: 'internal-error' }),
  '0109': accepts('accepted, the answer comes after 5 s', { kind: 'slow-answer', delayMs: 5_000 }),
  '0110': accepts('accepted, the connection is cut instead of an answer', { kind: 'cut-connection' }),
  '0301': replies('delivered, replies "ok" after 2 s', { type: 'text', content: { text: 'ok' } }),
  '0302': replies('delivered, replies STOP after 2 s', { type: 'text', content: { text: 'STOP' } }),
  '0303': replies('delivered, replies with a location after 2 s', {
    type: 'location',
    content: { latitude: 33.3152, longitude: 44.3661 },
  }),
};

export function isMagicNumber(phoneNumber: PhoneNumber): boolean {
  return MAGIC_NUMBER_PATTERN.test(phoneNumber);
}

/** The outcome a number stands for; every other number behaves like the first row. */
export function outcomeOf(phoneNumber: PhoneNumber): MagicOutcome {
  const digits = MAGIC_NUMBER_PATTERN.exec(phoneNumber)?.[1] ?? DEFAULT_OUTCOME_DIGITS;
  const outcome = Object.hasOwn(MAGIC_OUTCOMES, digits) ? MAGIC_OUTCOMES[digits] : undefined;
  return outcome ?? sends('as 0001', { otherwise: deliveredSoon });
}

/** What the simulated channel does with a submission to this number. */
export function simulatedStep(phoneNumber: PhoneNumber, channel: Channel, isFirst: boolean): SimulatedStep {
  const { steps } = outcomeOf(phoneNumber);
  return steps[channel] ?? (isFirst ? steps.first : undefined) ?? steps.otherwise;
}
