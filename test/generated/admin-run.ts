import fc from 'fast-check';
import type { OpenApi } from '../../src/adapters/http/openapi/open-api.ts';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { type RequestAction, requestOf } from './actions.ts';
import type { StatusTable } from './generated-run.ts';
import { operationsOf } from './operations.ts';
import { type DocumentChecks, failure, jsonOf } from './reply-checks.ts';
import { SchemaValues } from './schema-values.ts';
import { WireClient, type WireReply, type WireRequest, wireRequestOf } from './wire-request.ts';

/** Stands in a request for something that an earlier reply named: the nth newest of this name. */
class Named {
  readonly name: string;
  readonly nth: number;

  constructor(name: string, nth: number) {
    this.name = name;
    this.nth = nth;
  }
}

/** A project key, and tokens that are nearly that of the operator: nobody gets in with one. */
export type WrongCredentials = readonly (string | null)[];

const KNOWN_MAX = 50;
/** The newest are named most often. */
const NTH = [0, 0, 0, 0, 1, 1, 2, 3, 5];
const WRONG_CREDENTIALS_OF = 12;
const FILES: readonly unknown[] = [{ telegram: 50 }, { telegram: 50 }, { telegram: 60 }, { telegram: -1 }];

/** Requests to the operations of an admin document, with what the replies before them named. */
export function adminActionsOf(
  document: OpenApi,
  wrongCredentials: WrongCredentials,
): fc.Arbitrary<RequestAction> {
  const operations = operationsOf(document);
  const names = new Set(
    operations.flatMap(({ parameters }) =>
      parameters.filter((each) => each.in === 'path').map(({ name }) => name),
    ),
  );
  for (const name of ['endpoint', 'preview']) names.add(name);
  const values = new SchemaValues(document, (field) => {
    const name = field.replace(/Id$/, '');
    return names.has(name) ? fc.constantFrom(...NTH).map((nth) => new Named(name, nth)) : null;
  });
  const requests = operations.map((operation) => {
    const request = requestOf(operation, values) as fc.Arbitrary<RequestAction>;
    return {
      weight: operation.body === null && !operation.takesFile ? 2 : 5,
      arbitrary: operation.takesFile ? withFile(request) : request,
    };
  });
  const wrong = fc.oneof(
    { weight: WRONG_CREDENTIALS_OF - 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...wrongCredentials) },
  );
  return fc
    .tuple(fc.oneof(...requests), wrong)
    .map(([action, credentials]) =>
      credentials === undefined ? action : { ...action, authorization: credentials ?? '' },
    );
}

/** The same few files, so that an import may come after its preview. */
function withFile(requests: fc.Arbitrary<RequestAction>): fc.Arbitrary<RequestAction> {
  return fc.tuple(requests, fc.constantFrom(...FILES)).map(([request, body]) => ({ ...request, body }));
}

/** Does requests against the admin interface of a harness, and throws at the first reply that is wrong. */
export class AdminRun {
  readonly #harness: Harness;
  readonly #token: string;
  readonly #checks: DocumentChecks;
  readonly #table: StatusTable;
  readonly #client: WireClient;
  /** By the name of the path parameter that takes it, the newest last. */
  readonly #known = new Map<string, string[]>();

  constructor(harness: Harness, port: number, token: string, checks: DocumentChecks, table: StatusTable) {
    this.#harness = harness;
    this.#token = token;
    this.#checks = checks;
    this.#table = table;
    this.#client = new WireClient(port);
  }

  /** Reads what there is from the start. */
  async begin(): Promise<void> {
    for (const { path, method } of this.#checks.operations) {
      if (method !== 'GET' || path.includes('{')) continue;
      const reply = await this.#send({ method, path, headers: {} });
      this.#remember(jsonOf(reply), null);
    }
  }

  close(): void {
    this.#client.close();
  }

  /** A rejected request changes nothing, and one with wrong credentials reads nothing either. */
  async run(given: RequestAction): Promise<void> {
    const action = { ...(this.#resolved({ ...given, operation: null }) as RequestAction), ...pick(given) };
    const request = wireRequestOf(action, this.#token);
    const isOperator = action.authorization === null;
    const before = isOperator && !action.comparesState ? null : await this.#records();
    const reply = await this.#client.send(request);
    this.#count(action, reply);
    if (reply.status === 0 || reply.status >= 500) throw failure('The service failed', reply, request);
    this.#checks.ownWords(request, reply);
    const operation = this.#checks.documented(action, request, reply);
    if (!isOperator && reply.status < 400 && request.method !== 'OPTIONS')
      throw failure('Somebody without the token was let through', reply, request);
    if (reply.status === 200 && operation !== null) this.#checks.accepted(operation, action, request, reply);
    if (before !== null && reply.status >= 400 && (await this.#records()) !== before)
      throw failure('A rejected request changed something', reply, request);
    if (reply.status === 200) this.#remember(jsonOf(reply), null);
    // Each change has a millisecond of its own, so that the newest record is known by its id.
    await this.#harness.advance(1);
  }

  /** The newest records of the audit log: every change has one. */
  async #records(): Promise<string> {
    return (await this.#send({ method: 'GET', path: '/admin/audit?limit=5', headers: {} })).text;
  }

  #send(request: WireRequest): Promise<WireReply> {
    return this.#client.send({ ...request, headers: { authorization: `Bearer ${this.#token}` } });
  }

  /** Keeps the ids of a reply under the name of the list that holds them, in the singular. */
  #remember(value: unknown, list: string | null): void {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const item of value) {
        if (typeof item === 'string') this.#keep(list, item);
        else this.#remember(item, list);
      }
      return;
    }
    const fields = value as Readonly<Record<string, unknown>>;
    if ('openapi' in fields) return;
    this.#keep(list, fields.id);
    this.#keep('message', fields.smsId);
    this.#keep(list === null ? 'project' : null, fields.slug);
    for (const [name, member] of Object.entries(fields)) {
      if (typeof member === 'string') this.#keep(name.replace(/Id$/, ''), member);
      else this.#remember(member, name.replace(/s$/, ''));
    }
  }

  #keep(name: string | null, value: unknown): void {
    if (name === null || typeof value !== 'string') return;
    const kept = this.#known.get(name) ?? [];
    this.#known.set(name, kept);
    if (kept.includes(value)) return;
    kept.push(value);
    if (kept.length > KNOWN_MAX) kept.shift();
  }

  #resolved(value: unknown): unknown {
    if (value instanceof Named) {
      const known = this.#known.get(value.name) ?? this.#known.get('id') ?? [];
      return known[known.length - 1 - (value.nth % Math.max(known.length, 1))] ?? 'unknown';
    }
    if (Array.isArray(value)) return value.map((item) => this.#resolved(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.#resolved(member)]));
  }

  #count({ operation, method }: RequestAction, { status }: WireReply): void {
    const actual = this.#checks.operations.find(
      (each) => each.path === operation.path && each.method === method,
    );
    const name = (actual ?? operation).id;
    const statuses = this.#table.get(name) ?? new Map<number, number>();
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    this.#table.set(name, statuses);
  }
}

/** What a reference never stands in. */
function pick({ operation, authorization }: RequestAction) {
  return { operation, authorization };
}
