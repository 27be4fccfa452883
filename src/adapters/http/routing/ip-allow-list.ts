import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const MAPPED_PREFIX_BITS = 96;
/** The first address and the last one, of IPv4 and of IPv6. */
const ALL_ADDRESSES = [
  ['0.0.0.0', '255.255.255.255'],
  ['::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
] as const;

const compiledRules = new WeakMap<readonly string[], BlockList>();

/** Whether an address is one of the entries or inside one of the ranges; an unreadable entry allows no address. */
export function isListed(entries: readonly string[], address: string): boolean {
  const caller = unmapped(address);
  const family = familyOf(caller);
  return family !== null && rulesOf(entries).check(caller, family);
}

function rulesOf(entries: readonly string[]): BlockList {
  const known = compiledRules.get(entries);
  if (known !== undefined) return known;
  const rules = new BlockList();
  for (const entry of entries) addRule(rules, entry.trim());
  compiledRules.set(entries, rules);
  return rules;
}

/** Whether an entry is an address or a range that can be read. */
export function isNetwork(entry: string): boolean {
  return addRule(new BlockList(), entry);
}

/** Whether an entry is a range with every address of IPv4, which may be written as one of IPv6, or with every one of IPv6. */
export function hasAllAddresses(entry: string): boolean {
  return ALL_ADDRESSES.some((ends) => ends.every((address) => isListed([entry], address)));
}

/** False, and no rule is added, for an entry that cannot be read. */
function addRule(rules: BlockList, entry: string): boolean {
  const [written = '', bits, ...rest] = entry.split('/');
  const address = unmapped(written);
  const family = familyOf(address);
  if (family === null || rest.length > 0) return false;
  if (bits === undefined) {
    rules.addAddress(address, family);
    return true;
  }
  const writtenBits = /^[0-9]{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  const prefix = address === written ? writtenBits : writtenBits - MAPPED_PREFIX_BITS;
  const fits = prefix >= 0 && prefix <= (family === 'ipv4' ? 32 : 128);
  if (fits) rules.addSubnet(address, prefix, family);
  return fits;
}

/** An IPv4 address that travels as IPv6 is the same address; the zone of a link-local one says nothing. */
export function unmapped(withZone: string): string {
  const [address = ''] = withZone.split('%');
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : address;
}

function familyOf(address: string): 'ipv4' | 'ipv6' | null {
  const version = isIP(address);
  return version === 0 ? null : version === 4 ? 'ipv4' : 'ipv6';
}
