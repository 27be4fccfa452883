import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile, stat } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';

/** Every address of a name, or a rejection when it has none. */
export type LookupAll = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface NameLookupOptions {
  /** Asked instead of the system's name servers: `address:port`. */
  readonly servers?: readonly string[];
  /** Read instead of the system's. */
  readonly hostsFile?: string;
  /** The domains in which a name is searched that is unknown by itself are read from it; nowhere when absent. */
  readonly resolverFile?: string;
  /** How long a name server may think, in milliseconds; it is asked once more, and may think twice as long then. */
  readonly responseMs?: number;
  /** Asked for instead of those this machine can reach. */
  readonly families?: readonly number[];
  /**
   * Asked about names that the name servers do not know: the system may know other ways. For one name at a time, so that it never
   * takes more than one of the system's threads.
   */
  readonly system?: LookupAll;
}

const RESPONSE_MS_MAX = 2_000;
const QUERIES_MAX = 2;
/** As many as Linux searches. */
const SEARCHED_DOMAINS_MAX = 6;
/** For the whole lookup: well within the deadline of an attempt. */
export const LOOKUP_MS_MAX = 7_000;
/** Once the addresses of one family are there, the other family gets this long: some name servers never respond for it. */
const OTHER_FAMILY_MS_MAX = 300;

/** What a lookup by DNS says when the name servers replied that there is no such name, or when there are none. */
const UNKNOWN_NAME_CODES: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

const SYSTEM_HOSTS_FILE =
  process.platform === 'win32'
    ? join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts';

/**
 * Looks up every address of a name: in the hosts file, else by DNS. The system's own lookup takes one of a few threads
 * for as long as a name server is silent, so that one such name would keep all others waiting, the database's too; this
 * one waits for name servers on none of them. A name is asked for once at a time, however many want it. Name servers and
 * hosts file are those of the moment.
 */
export function nameLookup({
  servers,
  hostsFile = SYSTEM_HOSTS_FILE,
  resolverFile,
  responseMs = RESPONSE_MS_MAX,
  families,
  system,
}: NameLookupOptions = {}): LookupAll {
  const hosts = new ParsedFile(hostsFile, parseHosts, new Map());
  const searched = resolverFile === undefined ? null : new ParsedFile(resolverFile, parseSearched, []);
  const bySystem = system === undefined ? null : oneAtATime(system);
  const running = new Map<string, Promise<readonly LookupAddress[]>>();

  const find = async (name: string): Promise<readonly LookupAddress[]> => {
    const known = (await hosts.read()).get(name);
    if (known !== undefined) return known;
    const resolver = new Resolver({ timeout: responseMs, tries: QUERIES_MAX });
    if (servers !== undefined) resolver.setServers(servers);
    const byDns = (each: string) => addressesByDns(resolver, each, families ?? reachableFamilies());
    try {
      return await byDns(name);
    } catch (error) {
      if (!mayBeCompleted(name, error)) throw error;
      for (const domain of (await searched?.read()) ?? []) {
        const found = await byDns(`${name}.${domain}`).catch(() => null);
        if (found !== null) return found;
      }
      if (bySystem === null) throw error;
      return await bySystem(name);
    }
  };

  return (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    const known = running.get(name);
    if (known !== undefined) return known;
    const lookup = find(name).finally(() => running.delete(name));
    running.set(name, lookup);
    return lookup;
  };
}

/** The owner of a name decides how many addresses it has, and every address that is tried takes time. */
const ADDRESSES_PER_FAMILY_MAX = 4;

/** For a connection that tries the first addresses of each family (`autoSelectFamily`). */
export function lookupFunction(
  lookup: LookupAll,
  check: (addresses: readonly LookupAddress[], hostname: string) => void = () => {},
): LookupFunction {
  return (hostname, _options, done) => {
    const found = lookup(hostname).then((all) => {
      // Copied, so that what was checked is what is connected to.
      const addresses = few(all).map(({ address, family }) => ({ address: String(address), family }));
      check(addresses, hostname);
      return addresses;
    });
    found.then(
      (addresses) => {
        // Node.js would fail in a way that nobody can catch.
        if (addresses.length === 0) done(new Error(`${hostname} has no address`), []);
        else done(null, addresses);
      },
      (error: Error) => done(error, []),
    );
  };
}

/** The first of each family. */
function few(addresses: readonly LookupAddress[]): readonly LookupAddress[] {
  return [4, 6].flatMap((family) =>
    addresses.filter((address) => address.family === family).slice(0, ADDRESSES_PER_FAMILY_MAX),
  );
}

/** Name servers differ in what they say of a name without a dot, and nobody else can own such a name. */
function mayBeCompleted(name: string, error: unknown): boolean {
  return !name.includes('.') || UNKNOWN_NAME_CODES.has((error as NodeJS.ErrnoException).code);
}

function oneAtATime(lookup: LookupAll): LookupAll {
  let last: Promise<unknown> = Promise.resolve();
  return (name) => {
    const mine = last.then(() => lookup(name));
    last = mine.catch(() => undefined);
    return mine;
  };
}

/** Of both families, IPv4 first. Rejects when neither family has an address. */
async function addressesByDns(
  resolver: Resolver,
  name: string,
  families: readonly number[],
): Promise<readonly LookupAddress[]> {
  const cancelAfter = (ms: number): NodeJS.Timeout => setTimeout(() => resolver.cancel(), ms);
  const timers = [cancelAfter(LOOKUP_MS_MAX)];
  const queries = families.map((family) =>
    family === 4 ? resolver.resolve4(name) : resolver.resolve6(name),
  );
  for (const query of queries) {
    query.then(
      () => timers.push(cancelAfter(OTHER_FAMILY_MS_MAX)),
      () => undefined,
    );
  }
  const responses = await Promise.allSettled(queries);
  for (const timer of timers) clearTimeout(timer);
  const found = responses.flatMap((response, index) =>
    response.status === 'fulfilled'
      ? response.value.map((address) => ({ address, family: families[index] ?? 4 }))
      : [],
  );
  const [first] = responses;
  if (found.length === 0 && first?.status === 'rejected') throw first.reason;
  return found;
}

/** IPv6 only where this machine has an address by which it may reach others: elsewhere every attempt would fail. */
function reachableFamilies(): readonly number[] {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const hasIpv6 = addresses.some(
    ({ family, internal, address }) => family === 'IPv6' && !internal && !/^fe[89ab]/i.test(address),
  );
  return hasIpv6 ? [4, 6] : [4];
}

/** Read again only when it was changed. */
class ParsedFile<Content> {
  readonly #path: string;
  readonly #parse: (text: string) => Content;
  readonly #empty: Content;
  #changedAt = Number.NaN;
  #content: Content;

  constructor(path: string, parse: (text: string) => Content, empty: Content) {
    this.#path = path;
    this.#parse = parse;
    this.#empty = empty;
    this.#content = empty;
  }

  /** Empty when the file cannot be read. */
  async read(): Promise<Content> {
    try {
      const { mtimeMs } = await stat(this.#path);
      if (mtimeMs !== this.#changedAt) {
        this.#content = this.#parse(await readFile(this.#path, 'utf8'));
        this.#changedAt = mtimeMs;
      }
      return this.#content;
    } catch {
      return this.#empty;
    }
  }
}

/** The domains of the last `search` or `domain` line, as in resolv.conf(5). */
function parseSearched(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  const [, ...domains] = lines.findLast(([word]) => word === 'search' || word === 'domain') ?? [];
  return domains.slice(0, SEARCHED_DOMAINS_MAX).map((domain) => domain.replace(/^\.|\.$/g, ''));
}

/** An address and its names in each line; what follows `#` is a remark. */
function parseHosts(text: string): ReadonlyMap<string, readonly LookupAddress[]> {
  const entries = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    for (const name of names) {
      const key = name.toLowerCase();
      const known = entries.get(key) ?? [];
      entries.set(key, [...known, { address, family: address.includes(':') ? 6 : 4 }]);
    }
  }
  return entries;
}
