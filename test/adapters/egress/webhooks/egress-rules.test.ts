import { describe, expect, it, test } from 'vitest';
import { egressRules } from '../../../../src/adapters/egress/webhooks/egress-rules.ts';
import { specialIpv4, specialIpv6 } from '../../../support/special-addresses.ts';

describe('without exceptions', () => {
  const rules = egressRules([]);

  test.each([...specialIpv4(), ...specialIpv6()])('the rules reject the special address %s', (address) => {
    expect(rules.allows(address)).toBe(false);
  });

  test.each([
    '1.0.0.0',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '168.63.129.15',
    '168.63.129.17',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2001:200::1',
    '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:db9::',
    '2003::1',
    '2606:4700:4700::1111',
    '3ffe:ffff::',
  ])('the rules allow the public address %s', (address) => {
    expect(rules.allows(address)).toBe(true);
  });

  test.each([
    '',
    'example.com',
    '8.8.8.8.',
    '8.8.8',
    '134744072',
    '010.8.8.8',
    '0x8.8.8.8',
    '8.8.8.8/32',
    ' 8.8.8.8',
    '2606:4700:4700::1111%eth0',
    '[2606:4700:4700::1111]',
  ])('the rules reject a text that is no address: %j', (text) => {
    expect(rules.allows(text)).toBe(false);
  });
});

describe('an exception', () => {
  it('an exception allows its network and nothing beside it', () => {
    const rules = egressRules(['127.0.0.0/30', 'fd12:3456::/32']);
    expect(['127.0.0.0', '127.0.0.3', 'fd12:3456::1', '8.8.8.8'].map(rules.allows)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(['127.0.0.4', 'fd12:3457::1', '::1', '::ffff:127.0.0.1'].map(rules.allows)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  test.each(['0.0.0.0/0', '::/0', '0.0.0.0/1', '128.0.0.0/7', '::/6', '8000::/1', '::ffff:0:0/0'])(
    'the rules reject an exception that would switch the guard off: %s',
    (network) => {
      expect(() => egressRules([network])).toThrow(
        `Too wide to be an exception to the egress guard: ${network}`,
      );
    },
  );

  test.each([
    '',
    '10.0.0.1',
    'localhost',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/8,',
    '*',
    '10.0.0.0-10.1.0.0',
  ])('the rules reject an exception that is no network: %j', (network) => {
    expect(() => egressRules([network])).toThrow(`Not a network in CIDR notation: ${network}`);
  });

  test.each(['10.0.0.0/8', 'fc00::/7', '127.0.0.1/32', '::1/128'])(
    'the rules accept an exception that is narrow enough: %s',
    (network) => {
      expect(egressRules([network]).hasExceptions).toBe(true);
    },
  );
});
