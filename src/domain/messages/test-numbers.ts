import type { Project } from '../access/project.ts';
import { DEFAULT_RATE_LIMIT, type RateLimit } from '../rate-limiting/rate-limiter.ts';
import type { PhoneNumber } from '../shared/phone-number.ts';
import { isTestNumber, outcomeOf, type SandboxOutcome } from './magic-numbers.ts';

/** The outcome a number stands for; null for a live project and for a number that stands for none. */
export function sandboxOutcome(
  { environment }: Pick<Project, 'environment'>,
  phoneNumber: PhoneNumber,
): SandboxOutcome | null {
  return environment === 'dev' && isTestNumber(phoneNumber) ? outcomeOf(phoneNumber) : null;
}

/** The rate limit of a project's sends to a number, or null; a number that stands for a 429 always has one. */
export function rateLimitFor(
  project: Pick<Project, 'environment' | 'settings'>,
  phoneNumber: PhoneNumber,
): RateLimit | null {
  const isForced = sandboxOutcome(project, phoneNumber)?.acceptance?.kind === 'rate-limited';
  return project.settings.rateLimit ?? (isForced ? DEFAULT_RATE_LIMIT : null);
}
