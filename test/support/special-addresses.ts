/**
 * Every block of addresses that is not for the public, from the two IANA special-purpose registries and what
 * clouds add to them, and all the ways to write such an address into a url.
 */

const IPV4_BLOCKS = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '169.254.169.254/32',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '255.255.255.255/32',
];

/** The number of the first address, as hex without separators, and the prefix. */
const IPV6_BLOCKS: readonly [groups: string, prefix: number][] = [
  ['0:0:0:0:0:0:0:0', 128],
  ['0:0:0:0:0:0:0:1', 128],
  ['0:0:0:0:0:0:7f00:1', 128],
  ['0:0:0:0:0:0:0:0', 96],
  ['0:0:0:0:0:ffff:0:0', 96],
  ['0:0:0:0:ffff:0:0:0', 96],
  ['64:ff9b:0:0:0:0:0:0', 96],
  ['64:ff9b:1:0:0:0:0:0', 48],
  ['100:0:0:0:0:0:0:0', 64],
  ['100:0:0:1:0:0:0:0', 64],
  ['2001:0:0:0:0:0:0:0', 23],
  ['2001:0:0:0:0:0:0:0', 32],
  ['2001:2:0:0:0:0:0:0', 48],
  ['2001:3:0:0:0:0:0:0', 32],
  ['2001:4:112:0:0:0:0:0', 48],
  ['2001:10:0:0:0:0:0:0', 28],
  ['2001:20:0:0:0:0:0:0', 28],
  ['2001:30:0:0:0:0:0:0', 28],
  ['2001:db8:0:0:0:0:0:0', 32],
  ['2002:0:0:0:0:0:0:0', 16],
  ['2620:4f:8000:0:0:0:0:0', 48],
  ['3fff:0:0:0:0:0:0:0', 20],
  ['4000:0:0:0:0:0:0:0', 3],
  ['5f00:0:0:0:0:0:0:0', 16],
  ['fc00:0:0:0:0:0:0:0', 7],
  ['fd00:ec2:0:0:0:0:0:254', 128],
  ['fe80:0:0:0:0:0:0:0', 10],
  ['fec0:0:0:0:0:0:0:0', 10],
  ['ff00:0:0:0:0:0:0:0', 8],
];

const MIDDLE_AND_EDGES = [0n, 1n, 2n];

/** First, middle and last address of every block, dotted. */
export function specialIpv4(): readonly string[] {
  const addresses = IPV4_BLOCKS.flatMap((block) => {
    const [base = '', prefix = ''] = block.split('/');
    const first = base.split('.').reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
    return spread(first, 32 - Number(prefix)).map(dotted);
  });
  return [...new Set(addresses)];
}

/** First, middle and last address of every block, eight groups without leading zeros. */
export function specialIpv6(): readonly string[] {
  const addresses = IPV6_BLOCKS.flatMap(([groups, prefix]) => {
    const first = groups.split(':').reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
    return spread(first, 128 - prefix).map(grouped);
  });
  return [...new Set(addresses)];
}

/** Every url that some parser reads as one of the special addresses, or as a name of a machine nearby. */
export function specialUrls(port: number): readonly string[] {
  return [
    ...specialIpv4().flatMap((address) => ipv4Hosts(address)),
    ...specialIpv6().flatMap((address) => ipv6Hosts(address)),
    ...LOCAL_NAMES,
  ]
    .map((host) => `https://${host}:${port}/hook`)
    .concat(trickUrls(port));
}

const LOCAL_NAMES = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'loc%61lhost',
  'ｌｏｃａｌｈｏｓｔ',
  'loc\u00adalhost',
  'app.localhost',
  'localhost.localdomain',
  'ip6-localhost',
  'printer.local',
  'db.internal',
  'intranet',
  'postgres',
  'router.lan',
  'nas.home',
  'nas.home.arpa',
  'wiki.corp',
  'a.private',
  'x.intranet',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  'metadata',
  'metadata.google.internal',
  'METADATA.google.internal',
  'metadata.google.internal.',
  'metadata.azure.com',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'instance-data',
  'instance-data.ec2.internal',
];

function trickUrls(port: number): readonly string[] {
  return [
    `http://example.com:${port}/hook`,
    `http://127.0.0.1:${port}/hook`,
    `ftp://example.com:${port}/hook`,
    `wss://example.com:${port}/hook`,
    'file:///etc/passwd',
    'data:text/plain,hook',
    'javascript:alert(1)',
    'blob:https://example.com/1',
    `https:127.0.0.1:${port}/hook`,
    `https:/127.0.0.1:${port}/hook`,
    `https:///127.0.0.1:${port}/hook`,
    `https:example.com`,
    `https:\\\\127.0.0.1:${port}\\hook`,
    `https://127.0.0.1\\@example.com:${port}/`,
    `https://example.com\\@127.0.0.1:${port}/`,
    `https://example.com:${port}\\hook`,
    `//127.0.0.1:${port}/hook`,
    `127.0.0.1:${port}/hook`,
    'example.com/hook',
    '/hook',
    '',
    'https://',
    'https://:443/',
    `https://example.com@127.0.0.1:${port}/`,
    `https://user:password@example.com:${port}/`,
    `https://@example.com:${port}/`,
    `https://:@example.com:${port}/`,
    `https://127.0.0.1:${port}#@example.com/`,
    `https://127.0.0.1:${port}?@example.com/`,
    ` https://example.com:${port}/`,
    `https://example.com:${port}/ `,
    `https://example.com:${port}/a b`,
    `https://exam\tple.com:${port}/`,
    `https://exam\nple.com:${port}/`,
    `https://127.0.\r\n0.1:${port}/`,
    `h\tttps://127.0.0.1:${port}/`,
    `https://example.com:${port}/\u0000`,
    `https://example.com:${port}/\u007f`,
    `https://example.com:${port}/\u0085`,
    `https://example.com:${port}/\u2028`,
    `https://exa\u00admple.com:${port}/`,
    `https://ｅxample.com:${port}/`,
    `https://example。com:${port}/`,
    `https://exam%70le.com:${port}/`,
    `https://example.com.:${port}/`,
    `https://example..com:${port}/`,
    `https://.example.com:${port}/`,
    `https://example.com:0${port}/`,
    `https://example.com:${port}x/`,
    'https://example.com:80/hook',
    'https://example.com:22/hook',
    'https://example.com:0/hook',
    'https://example.com:65536/hook',
    'https://example.com:-443/hook',
    'https://example.com:/hook',
    `https://[::1/:${port}`,
    `https://[::1]x:${port}/`,
    `https://::1:${port}/`,
    `https://${'a'.repeat(250)}.com:${port}/`,
    `https://example.com:${port}/${'a'.repeat(2_048)}`,
    `https://example.com:${port}/${'é'.repeat(1_000)}`,
  ];
}

function ipv4Hosts(address: string): readonly string[] {
  const octets = address.split('.').map(Number) as [number, number, number, number];
  const [a, b, c, d] = octets;
  const number = octets.reduce((sum, octet) => sum * 256 + octet, 0);
  const hex = (value: number, digits = 1): string => value.toString(16).padStart(digits, '0');
  const high = hex(a * 256 + b);
  const low = hex(c * 256 + d);
  return [
    address,
    `${address}.`,
    String(number),
    `0x${hex(number)}`,
    `0X${hex(number, 8).toUpperCase()}`,
    `0${number.toString(8)}`,
    octets.map((octet) => `0x${hex(octet)}`).join('.'),
    octets.map((octet) => `0${octet.toString(8)}`).join('.'),
    octets.map((octet) => `000${octet.toString(8)}`).join('.'),
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    [...address].map((sign) => (sign === '.' ? sign : fullWidth(sign))).join(''),
    address.replaceAll('.', '。'),
    [...address].map((sign) => `%${hex(sign.charCodeAt(0), 2)}`).join(''),
    `example.com@${address}`,
    `[::ffff:${address}]`,
    `[::ffff:${high}:${low}]`,
    `[0:0:0:0:0:ffff:${high}:${low}]`,
    `[::${address}]`,
    `[64:ff9b::${high}:${low}]`,
    `[64:ff9b::${address}]`,
    `[2002:${high}:${low}::1]`,
    `[2001:0:${high}:${low}::1]`,
  ];
}

function ipv6Hosts(address: string): readonly string[] {
  const groups = address.split(':');
  return [
    `[${new URL(`https://[${address}]/`).hostname.slice(1, -1)}]`,
    `[${address}]`,
    `[${groups.map((group) => group.padStart(4, '0')).join(':')}]`,
    `[${address.toUpperCase()}]`,
    `[${address}%25eth0]`,
  ];
}

function spread(first: bigint, freeBits: number): readonly bigint[] {
  const last = (1n << BigInt(freeBits)) - 1n;
  return MIDDLE_AND_EDGES.map((part) => first + (last * part) / 2n);
}

function dotted(number: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join('.');
}

function grouped(number: bigint): string {
  const shifts = [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n];
  return shifts.map((shift) => ((number >> shift) & 65_535n).toString(16)).join(':');
}

function fullWidth(digit: string): string {
  return String.fromCodePoint(0xff10 + Number(digit));
}
