import { expect, it, test } from 'vitest';
import { type GuardedEndpoint, isAddressAllowed } from '../../../src/domain/access/ip-rule.ts';
import type { ProjectSettings } from '../../../src/domain/access/project.ts';

const isEntry = (entries: readonly string[], address: string) => entries.includes(address);
const HOME = '192.0.2.7';
const ELSEWHERE = '198.51.100.1';

test.each<
  [ipRuleScope: ProjectSettings['ipRuleScope'], GuardedEndpoint, string | undefined, allowed: boolean]
>([
  ['resources', 'resources', HOME, true],
  ['resources', 'resources', ELSEWHERE, false],
  ['resources', 'resources', undefined, false],
  ['resources', 'other', ELSEWHERE, true],
  ['resources', 'other', undefined, true],
  ['all', 'resources', ELSEWHERE, false],
  ['all', 'other', HOME, true],
  ['all', 'other', ELSEWHERE, false],
  ['all', 'other', undefined, false],
])(
  'an allow list that guards %s endpoints admits to a %s endpoint from %s: %s',
  (ipRuleScope, endpoint, address, allowed) => {
    const settings = { allowedIps: [HOME], ipRuleScope };
    expect(isAddressAllowed(settings, endpoint, address, isEntry)).toBe(allowed);
  },
);

it('a caller without an address is rejected by every allow list', () => {
  const settings = { allowedIps: [HOME], ipRuleScope: 'all' } as const;
  expect(isAddressAllowed(settings, 'other', undefined, () => true)).toBe(false);
});

it('an empty list allows every address', () => {
  const settings = { allowedIps: [], ipRuleScope: 'all' } as const;
  expect(isAddressAllowed(settings, 'resources', ELSEWHERE, isEntry)).toBe(true);
  expect(isAddressAllowed(settings, 'other', undefined, isEntry)).toBe(true);
});
