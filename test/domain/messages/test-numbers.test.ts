import { describe, expect, it } from 'vitest';
import { rateLimitFor, sandboxOutcome } from '../../../src/domain/messages/test-numbers.ts';
import { aMagicNumber, aPhoneNumber, aProject } from '../../support/builders.ts';

const LIMIT = { maxRequests: 2, timeWindowMinutes: 7 };
const live = aProject({ environment: 'live' });
const dev = aProject({ environment: 'dev' });

describe('the outcome a number stands for', () => {
  it('is that of its last four digits on a dev project', () => {
    expect(sandboxOutcome(dev, aMagicNumber('0108'))?.acceptance).toEqual({ kind: 'internal-error' });
  });

  it('is null for a live project and for an ordinary number', () => {
    expect(sandboxOutcome(live, aMagicNumber('0108'))).toBeNull();
    expect(sandboxOutcome(dev, aPhoneNumber())).toBeNull();
  });
});

describe('the rate limit of a number', () => {
  const limited = aProject({ environment: 'dev', settings: { rateLimit: LIMIT } });
  const free = aProject({ environment: 'dev', settings: { rateLimit: null } });

  it("is the project's", () => {
    expect(rateLimitFor(limited, aPhoneNumber())).toEqual(LIMIT);
    expect(rateLimitFor(limited, aMagicNumber('0107'))).toEqual(LIMIT);
  });

  it('is none when the project has none, but for a number that stands for a 429', () => {
    expect(rateLimitFor(free, aPhoneNumber())).toBeNull();
    expect(rateLimitFor(free, aMagicNumber('0001'))).toBeNull();
    expect(rateLimitFor(free, aMagicNumber('0107'))).toEqual({ maxRequests: 5, timeWindowMinutes: 10 });
    expect(rateLimitFor({ ...free, environment: 'live' }, aMagicNumber('0107'))).toBeNull();
  });
});
