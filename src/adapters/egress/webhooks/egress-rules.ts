import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [address: Address, prefix: number];

/** Which addresses may be connected to: public ones, and those an operator named. */
export interface EgressRules {
  /** Whether a connection to this address, in the notation of a resolver or a socket, may be made. */
  allows(address: string): boolean;
  /** True when an operator allowed any network at all. */
  readonly hasExceptions: boolean;
}

/** Wider networks would undo the guard; the widest private ones, 10.0.0.0/8 and fc00::/7, still fit. */
const EXCEPTION_PREFIX_MIN = { ipv4: 8, ipv6: 7 } as const;

/** All of IPv6 that is routed publicly; everything outside is special, known to a list or not. */
const GLOBAL_UNICAST: Network = ipaddr.parseCIDR('2000::/3');

/** Public by number and private by use: the host service of a large cloud, reached from its machines only. */
const FURTHER_SPECIAL: readonly Network[] = ['168.63.129.16/32', '192.88.99.0/24'].map((cidr) =>
  ipaddr.parseCIDR(cidr),
);

/**
 * The rules with an operator's exceptions, each a network such as `10.20.0.0/16`. Throws on anything else and
 * on a network so wide that it would switch the guard off.
 */
export function egressRules(exceptions: readonly string[]): EgressRules {
  const networks = exceptions.map(parseException);
  return {
    hasExceptions: networks.length > 0,
    allows: (text) => {
      const address = parseAddress(text);
      return address !== null && (isPublic(address) || networks.some((network) => isIn(address, network)));
    },
  };
}

function parseException(text: string): Network {
  if (!ipaddr.isValidCIDR(text)) {
    throw new Error(`Not a network in CIDR notation: ${text}`);
  }
  const [address, prefix] = ipaddr.parseCIDR(text);
  if (prefix < EXCEPTION_PREFIX_MIN[address.kind()]) {
    throw new Error(`Too wide to be an exception to the egress guard: ${text}`);
  }
  return [address, prefix];
}

/** Only the plain notations: an address with a zone names an interface of this machine. */
function parseAddress(text: string): Address | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return ipaddr.IPv6.isValid(text) && !text.includes('%') ? ipaddr.IPv6.parse(text) : null;
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv6') return isIn(address, GLOBAL_UNICAST);
  return !FURTHER_SPECIAL.some((network) => isIn(address, network));
}

function isIn(address: Address, [network, prefix]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, prefix);
}
