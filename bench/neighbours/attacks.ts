export const WIRINGS = ['SQLite', 'PostgreSQL and RabbitMQ'] as const;
export type Wiring = (typeof WIRINGS)[number];

/** What others do to the service meanwhile, by the name of the attacker's handler. */
export const ATTACKS = {
  nothing: 'no attack',
  storm: 'one project sends as fast as it can',
  hangingReceivers: 'failing sends, each with a webhook address that hangs',
  longAddresses: 'long texts, each with a long webhook address of its own',
  costlyCertificates: 'receivers whose certificates take long to check',
  floodingSmsc: 'an SMSC sends small PDUs as fast as they are read',
  manyHeaders: 'receivers that respond with thousands of header lines',
  madeUpKeys: 'made-up keys',
  endlessBodies: 'requests whose bodies never end',
  idleConnections: 'connections without requests',
  slowHeaders: 'requests whose headers come byte by byte',
  pipelinedHeads: '64 requests at once from each of 150 addresses, again and again',
  briefCallers:
    'made-up keys and links from 150 addresses, and more behind the first reply, that leave within 20 ms, again and again',
  smallChunks:
    'chunked bodies of single bytes and requests with 95 trailers from each of 150 addresses, again and again',
  campaigns: '20 campaigns of 1,000 recipients, 1,000 a second',
  largeCampaigns: '20 projects fill campaigns of almost 1 MB, and start them in one instant',
  largeBodies: 'requests of almost 4 MB about recipients, all rejected',
  lists: 'reads of prices and whatsapp resources over 200 connections',
  lockedAccount: 'the account of one project is locked',
  lockedFile: 'another process holds the write lock of the file',
  forgedMessage: 'forged messages at the broker',
} as const satisfies Record<string, string>;
export type Attack = keyof typeof ATTACKS;

/** SQLite has no locks of rows and no broker; PostgreSQL has no lock of its file. */
const ONLY_ON: { readonly [Name in Attack]?: Wiring } = {
  lockedAccount: 'PostgreSQL and RabbitMQ',
  lockedFile: 'SQLite',
  forgedMessage: 'PostgreSQL and RabbitMQ',
};

/** SQLite truncates its log after 20 s, and headers may come byte by byte for 15 s. */
const SECONDS: Readonly<Record<Wiring, number>> = { SQLite: 21, 'PostgreSQL and RabbitMQ': 16 };

/** Messages of `hangingReceivers`, each with an endpoint of its own. */
const HANGING_ENDPOINTS: Readonly<Record<Wiring, number>> = {
  SQLite: 120_000,
  'PostgreSQL and RabbitMQ': 60_000,
};

/** The attacks with these names; all of them when there is none. Throws for an unknown name. */
export function chosenAttacks(names: readonly string[]): readonly Attack[] {
  const unknown = names.find((name) => !(name in ATTACKS));
  const all = Object.keys(ATTACKS) as Attack[];
  if (unknown !== undefined)
    throw new Error(`There is no attack ${unknown}: the attacks are ${all.join(', ')}`);
  return all.filter((name) => names.length === 0 || names.includes(name));
}

/** Whether the attack is possible on that wiring. */
export function isPossible(attack: Attack, wiring: Wiring): boolean {
  const only = ONLY_ON[attack];
  return only === undefined || only === wiring;
}

/** How long an attack takes; `ATTACK_SECONDS` changes it. */
export function attackSeconds(wiring: Wiring): number {
  return Number(process.env.ATTACK_SECONDS ?? SECONDS[wiring]);
}

/** How many endpoints hang at most; `ATTACK_ENDPOINTS` changes it. */
export function hangingEndpoints(wiring: Wiring): number {
  return Number(process.env.ATTACK_ENDPOINTS ?? HANGING_ENDPOINTS[wiring]);
}
