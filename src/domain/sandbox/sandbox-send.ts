import type { Project } from '../access/project.ts';
import type { PriceList } from '../billing/pricing.ts';
import {
  acceptSend,
  decideSend,
  quoteSend,
  type SendAccepted,
  type SendRejection,
  type SendState,
} from '../messages/send-policy.ts';
import type { SendRequest } from '../messages/send-request.ts';
import { DEFAULT_RATE_LIMIT, type RateLimit } from '../rate-limiting/rate-limiter.ts';
import { decideSenderId } from '../senders/sender-id.ts';
import type { PhoneNumber } from '../shared/phone-number.ts';
import { outcomeOf, type RequestOutcome, type SandboxOutcome } from './sandbox-outcomes.ts';
import { sandboxRejection } from './sandbox-rejection.ts';
import { isTestNumber, TEST_COUNTRY_CODE } from './test-number.ts';

/** A live project sent to a test number. */
export interface TestNumberRejected {
  readonly kind: 'test-number';
}

/**
 * Decides every send: a test number gives a dev project the rejection of its outcome, and a live project another one;
 * all other sends are left to `decideSend`.
 */
export function decideSendWithTestNumbers(
  state: SendState,
  request: SendRequest,
  now: number,
): SendAccepted | SendRejection | TestNumberRejected {
  if (!isTestNumber(request.phoneNumber)) return decideSend(state, request, now);
  const outcome = sandboxOutcome(state.project, request.phoneNumber);
  if (outcome === null) return { kind: 'test-number' };
  const priced = { ...state, prices: withTestNumbers(state, request) };
  const quoted = quoteSend(priced, request);
  if (quoted.kind !== 'quoted') return quoted;
  const rejection =
    outcome.rejection === undefined ? null : sandboxRejection(outcome.rejection, state, quoted.cost, now);
  if (rejection !== null) return rejection;
  const decision = acceptSend(priced, request, quoted, now);
  if (decision.kind !== 'accepted' || outcome.attemptTimeoutMs === undefined) return decision;
  return {
    ...decision,
    attemptTimeoutMs: Math.max(decision.attemptTimeoutMs, outcome.attemptTimeoutMs),
  };
}

/**
 * What the project's test number does to the HTTP request itself; null for ordinary numbers and live projects. A
 * replayed request is not disturbed again.
 */
export function requestOutcomeOf(
  project: Pick<Project, 'environment'>,
  phoneNumber: PhoneNumber,
): RequestOutcome | null {
  return sandboxOutcome(project, phoneNumber)?.request ?? null;
}

/** The rate limit of a project's sends to a number, or null; a test number that stands for a 429 always has one. */
export function rateLimitFor(
  project: Pick<Project, 'environment' | 'settings'>,
  phoneNumber: PhoneNumber,
): RateLimit | null {
  const isForced = sandboxOutcome(project, phoneNumber)?.rejection?.kind === 'rate-limited';
  return project.settings.rateLimit ?? (isForced ? DEFAULT_RATE_LIMIT : null);
}

/** Whether the test number stands for a number that campaigns do not support. */
export function isUnsupportedInCampaigns(phoneNumber: PhoneNumber): boolean {
  return outcomeOf(phoneNumber).isUnsupportedInCampaigns ?? false;
}

function sandboxOutcome(
  { environment }: Pick<Project, 'environment'>,
  phoneNumber: PhoneNumber,
): SandboxOutcome | null {
  return environment === 'dev' && isTestNumber(phoneNumber) ? outcomeOf(phoneNumber) : null;
}

/** An sms to a test number costs as much as one to an unknown mobile operator at home. */
function withTestNumbers(state: SendState, { senderId }: SendRequest): PriceList {
  const sender = decideSenderId(senderId, state.senderId);
  const prices = (sender.kind === 'usable' ? sender.prices : null) ?? state.prices.sms;
  return { ...state.prices, internationalByCountryCode: new Map([[TEST_COUNTRY_CODE, prices.others]]) };
}
