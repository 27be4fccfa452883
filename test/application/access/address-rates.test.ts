import { beforeEach, expect, it } from 'vitest';
import { AddressRates, KNOWN_ADDRESSES_MAX } from '../../../src/application/access/address-rates.ts';
import { Rejected } from '../../../src/application/errors/rejected.ts';
import type { RateLimit } from '../../../src/domain/rate-limiting/rate-limiter.ts';
import { aProject, MINUTE_MS, NOW } from '../../support/builders.ts';

const LIMIT: RateLimit = { maxRequests: 2, timeWindowMinutes: 10 };
const HERE = '203.0.113.7';

const clock = { at: NOW, now: () => clock.at };
let rates: AddressRates;

beforeEach(() => {
  clock.at = NOW;
  rates = new AddressRates({ clock, knownMax: 2 });
});

const projectWith = (addressRateLimit: RateLimit | null, id = 'p1') => {
  const project = aProject({ id });
  return { ...project, settings: { ...project.settings, addressRateLimit } };
};

/** What became of a send: 'sent', or how many minutes its caller has to wait. */
async function send(network = HERE, limit: RateLimit | null = LIMIT, id = 'p1'): Promise<string | number> {
  try {
    return await rates.limit(projectWith(limit, id), network, async () => 'sent');
  } catch (error) {
    const rejection = error instanceof Rejected ? error.rejection : null;
    expect(rejection).toEqual({ kind: 'rate-limited', waitMinutes: expect.any(Number), ...LIMIT });
    return rejection?.kind === 'rate-limited' ? rejection.waitMinutes : Number.NaN;
  }
}

it('about a hundred thousand addresses are known at a time', () => {
  expect(KNOWN_ADDRESSES_MAX).toBe(100_000);
});

it('AddressRates rejects the sends of a project from one address beyond its limit, and no others', async () => {
  expect([await send(), await send(), await send()]).toEqual(['sent', 'sent', 10]);
  expect([await send('203.0.113.8'), await send(HERE, LIMIT, 'p2')]).toEqual(['sent', 'sent']);
});

it('AddressRates limits nothing without a limit', async () => {
  for (let sends = 0; sends < 5; sends += 1) expect(await send(HERE, null)).toBe('sent');
});

it('AddressRates lets a caller send again who has waited as long as the rejection says', async () => {
  await send();
  clock.at += 3 * MINUTE_MS;
  await send();
  expect(await send()).toBe(7);
  clock.at += 7 * MINUTE_MS - 1;
  expect(await send()).toBe(1);
  clock.at += 1;
  expect([await send(), await send()]).toEqual(['sent', 3]);
});

it('AddressRates does not count what is later than now, because the clock was put back', async () => {
  expect([await send(), await send()]).toEqual(['sent', 'sent']);
  clock.at = NOW - 60 * MINUTE_MS;
  expect([await send(), await send(), await send()]).toEqual(['sent', 'sent', 10]);
});

it('AddressRates counts a send that is in flight, and no longer once it was rejected', async () => {
  let reject = (_: Error) => {};
  const project = projectWith(LIMIT);
  const rejected = rates.limit(project, HERE, () => new Promise((_, no) => (reject = no)));
  expect([await send(), await send()]).toEqual(['sent', 10]);
  reject(new Error('no credit'));
  await expect(rejected).rejects.toThrow('no credit');
  expect([await send(), await send()]).toEqual(['sent', 10]);
});

it('AddressRates takes only the rejected send out, and nothing when its address was forgotten meanwhile', async () => {
  let reject = (_: Error) => {};
  const rejected = rates.limit(projectWith(LIMIT), HERE, () => new Promise((_, no) => (reject = no)));
  for (const network of ['other', 'another', HERE, HERE]) expect(await send(network)).toBe('sent');
  reject(new Error('no credit'));
  await expect(rejected).rejects.toThrow('no credit');
  expect(await send()).toBe(10);
});

it('AddressRates does not remember an address whose only send was rejected', async () => {
  await send('first');
  const noCredit = async () => Promise.reject(new Error('no credit'));
  await expect(rates.limit(projectWith(LIMIT), 'second', noCredit)).rejects.toThrow('no credit');
  await send('third');
  expect([await send('first'), await send('first')]).toEqual(['sent', 10]);
});

it('AddressRates forgets the address that has sent nothing for longest when it knows too many', async () => {
  await send('first');
  await send('second');
  await send('first');
  await send('third');
  expect([await send('first'), await send('second'), await send('second')]).toEqual([10, 'sent', 'sent']);
});
