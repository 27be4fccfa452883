import { isDeepStrictEqual } from 'node:util';
import {
  type Action,
  KINDS,
  type Kind,
  PROJECTS,
  Reference,
  type RequestAction,
  type TwinAction,
} from './actions.ts';
import type { DocumentedOperation } from './operations.ts';
import { type DocumentChecks, describeReply, failure, jsonOf } from './reply-checks.ts';
import { toJson } from './schema-values.ts';
import { WireClient, type WireReply, type WireRequest, wireRequestOf } from './wire-request.ts';

/** A service under test: where it listens, and what a test may do beside the interface. */
export interface Target {
  readonly port: number;
  /** The keys of two projects that share nothing. */
  readonly apiKeys: readonly string[];
  /** An address that webhooks may go to. */
  readonly webhookUrl: string;
  /** Moves the clock of the service, and does what is due. */
  advance(ms: number): Promise<void>;
  /** Does what is due now. */
  settle(): Promise<void>;
  /** How many messages were submitted to channels. */
  submissions(): number;
}

/** How often an operation replied with each status; 0 counts connections that were cut. */
export type StatusTable = Map<string, Map<number, number>>;

/** What the service does on purpose: the test numbers that stand for a fault. */
const FAULT_NUMBER = /^999[0-9]{6}0108$/;
const CUT_NUMBER = /^999[0-9]{6}0110$/;
const KNOWN_IDS_MAX = 50;
const SHOWN_CHARACTERS = 200;
const PAGE = 'limit=100';
const IDS_OF_TWINS: ReadonlySet<string> = new Set([
  '_id',
  'reportId',
  'fileId',
  'filename',
  'downloadUrl',
  'campaignId',
  'smsId',
  'sampleOfCampaign',
  'remainingCredit',
]);

/** Does actions against a service, and throws at the first reply that is wrong. */
export class GeneratedRun {
  readonly #target: Target;
  readonly #checks: DocumentChecks;
  readonly #table: StatusTable;
  readonly #client: WireClient;
  /** By project, the newest last. */
  readonly #known: readonly Record<Kind, unknown[]>[];

  constructor(target: Target, checks: DocumentChecks, table: StatusTable) {
    this.#target = target;
    this.#checks = checks;
    this.#table = table;
    this.#client = new WireClient(target.port);
    this.#known = target.apiKeys.map(() => {
      const none = Object.fromEntries(KINDS.map((kind) => [kind, []])) as unknown as Record<Kind, unknown[]>;
      return { ...none, webhookUrl: [target.webhookUrl] };
    });
  }

  /** Reads what each project has from the start, and creates a campaign for each. */
  async begin(): Promise<void> {
    for (let caller = 0; caller < PROJECTS; caller += 1) {
      await this.#read(caller, '/whatsapp/resources');
      await this.#read(caller, '/sender-ids');
      for (const id of this.#knownBy(caller).template)
        await this.#read(caller, `/whatsapp/campaigns/recipient-payload?templateId=${id}`);
      const [templateId, phoneNumberId] = [
        this.#knownBy(caller).template.at(-1),
        this.#knownBy(caller).whatsappNumber.at(-1),
      ];
      const headers = { 'content-type': 'application/json' };
      const body = Buffer.from(JSON.stringify({ name: 'The first', templateId, phoneNumberId }));
      const reply = await this.#send(caller, { method: 'POST', path: '/whatsapp/campaigns', headers, body });
      if (reply.status !== 200) throw failure('No campaign was created', reply);
      this.#remember(caller, jsonOf(reply), null);
    }
  }

  close(): void {
    this.#client.close();
  }

  async run(action: Action): Promise<void> {
    switch (action.kind) {
      case 'request':
        return this.#request(action);
      case 'advance':
        return this.#target.advance(action.ms);
      case 'twins':
        return this.#twins(action);
      default:
        return action satisfies never;
    }
  }

  /** Deletes what is scheduled for later, so that nothing is left to wait for. */
  async deleteScheduled(): Promise<void> {
    for (let caller = 0; caller < PROJECTS; caller += 1) {
      for (;;) {
        const list = await this.#read(caller, `/whatsapp/campaigns?status=scheduled&${PAGE}`);
        const { data } = list as { data: readonly { _id: string }[] };
        if (data.length === 0) break;
        for (const { _id } of data) {
          const reply = await this.#send(caller, {
            method: 'DELETE',
            path: `/whatsapp/campaigns/${_id}`,
            headers: {},
          });
          if (reply.status !== 200) throw failure('A scheduled campaign was not deleted', reply);
        }
      }
    }
  }

  async #request(action: RequestAction): Promise<void> {
    const { caller } = action;
    if (hasReferenceTo('other', action)) return this.#compareWithUnknown(action);
    const before = action.comparesState ? await this.#state() : null;
    const { reply } = await this.#perform(action);
    if (before === null || reply.status < 400) return;
    const after = await this.#state();
    if (!isDeepStrictEqual(after, before)) {
      const states = `before: ${JSON.stringify(before)}\nafter: ${JSON.stringify(after)}`;
      throw failure(`A rejected request of project ${caller} changed something:\n${states}`, reply);
    }
  }

  /** What another project has is, to this one, exactly what does not exist. */
  async #compareWithUnknown(given: RequestAction): Promise<void> {
    const { 'Idempotency-Key': _, ...headers } = given.headers;
    const action = { ...given, headers };
    const inPath = hasReferenceTo('other', action.path);
    const unknown = await this.#perform(withUnknown(action));
    const { reply, request } = await this.#perform(action);
    if (inPath && reply.status < 300 && request.method !== 'OPTIONS')
      throw failure('Another project was let through', reply, request);
    // The operation reads no such field; done twice it may end otherwise.
    if (unknown.reply.status < 300) return;
    const isSame =
      reply.status === unknown.reply.status &&
      reply.text === unknown.reply.text &&
      codeOf(reply) === codeOf(unknown.reply);
    if (!isSame) {
      const expected = describeReply(unknown.reply);
      throw failure(`Unlike the reply about what does not exist, ${expected}`, reply, request);
    }
  }

  async #perform(given: RequestAction): Promise<{ reply: WireReply; request: WireRequest }> {
    const { caller } = given;
    const action = this.#resolved(given, caller) as RequestAction;
    const request = wireRequestOf(action, this.#target.apiKeys[caller] ?? '');
    const reply = await this.#client.send(request);
    this.#count(action, reply);
    this.#checkStatus(action, request, reply);
    if (reply.status === 0) return { reply, request };
    const operation = this.#checks.documented(action, request, reply);
    if (reply.status === 200 && operation !== null) this.#checks.accepted(operation, action, request, reply);
    if (reply.status === 200) this.#remember(caller, jsonOf(reply), null);
    return { reply, request };
  }

  #checkStatus(action: RequestAction, request: WireRequest, reply: WireReply): void {
    this.#checks.ownWords(request, reply);
    if (reply.status > 0 && reply.status < 500) return;
    const { phoneNumber } = Object(action.body);
    const isProvoked =
      action.operation.path === '/sms' &&
      (reply.status === 0 ? CUT_NUMBER.test(String(phoneNumber)) : FAULT_NUMBER.test(String(phoneNumber)));
    if (!isProvoked || (reply.status !== 0 && reply.status !== 500))
      throw failure('The service failed', reply, request);
  }

  /** The same request with and without more fields, each about something of its own. */
  async #twins(action: TwinAction): Promise<void> {
    const { caller, operation, extra } = action;
    const body = this.#resolved(action.body, caller) as Record<string, unknown>;
    const bodies = [body, withExtra(body, extra)];
    const results: unknown[] = [];
    for (const each of bodies) {
      const path = operation.path.includes('{')
        ? await this.#pathOfNew(operation, caller, this.#resolved(action.campaign, caller))
        : operation.path;
      if (path === null) return;
      const headers = { 'content-type': 'application/json' };
      const request = { method: operation.method, path, headers, body: Buffer.from(toJson(each)) };
      const reply = await this.#send(caller, request);
      await this.#target.settle();
      const readBack = reply.status === 200 ? await this.#readBack(caller, path, jsonOf(reply)) : null;
      results.push(withoutIds([reply.status, reply.text === '' ? null : jsonOf(reply), readBack]));
    }
    if (!isDeepStrictEqual(results[0], results[1])) {
      const [plain = '', more = ''] = results.map((each) => JSON.stringify(each));
      const where = Math.max(0, firstDifference(plain, more) - SHOWN_CHARACTERS);
      throw new Error(
        [
          `${operation.method} ${operation.path}: more fields changed something`,
          toJson(bodies[1]).slice(0, 2_000),
          `without them: ${plain.slice(where, where + 2 * SHOWN_CHARACTERS)}`,
          `with them: ${more.slice(where, where + 2 * SHOWN_CHARACTERS)}`,
        ].join('\n'),
      );
    }
  }

  async #pathOfNew({ path }: DocumentedOperation, caller: number, campaign: unknown): Promise<string | null> {
    const [collection = ''] = path.split('/{');
    const headers = { 'content-type': 'application/json' };
    const reply = await this.#send(caller, {
      method: 'POST',
      path: collection,
      headers,
      body: Buffer.from(toJson(campaign)),
    });
    if (reply.status !== 200) return null;
    const { data } = jsonOf(reply) as { data: { _id: string } };
    return path.replace(/\{[^}]+\}/, data._id);
  }

  async #readBack(caller: number, path: string, reply: unknown): Promise<unknown> {
    const { smsId, data } = reply as { smsId?: string; data?: { _id?: string } };
    if (smsId !== undefined) return this.#read(caller, `/sms/track/${smsId}`);
    const ids = [data?._id, /[a-f0-9]{24}/.exec(path)?.[0]].filter((id) => id !== undefined);
    return Promise.all(ids.map((id) => this.#read(caller, `/whatsapp/campaigns/${id}`)));
  }

  /** Everything that the interface shows of both projects, and how much was submitted. */
  async #state(): Promise<unknown> {
    await this.#target.settle();
    const shown: unknown[] = [this.#target.submissions()];
    for (let caller = 0; caller < PROJECTS; caller += 1) {
      const known = this.#knownBy(caller);
      const [message, campaign] = [known.message.at(-1), known.campaign.at(-1)];
      const details = [
        ...(message === undefined ? [] : [`/sms/track/${message}`]),
        ...(campaign === undefined ? [] : [`/whatsapp/campaigns/${campaign}?${PAGE}`]),
      ];
      for (const path of ['/info', '/sender-ids', `/whatsapp/campaigns?${PAGE}`, ...details])
        shown.push((await this.#send(caller, { method: 'GET', path, headers: {} })).text);
    }
    return shown;
  }

  async #read(caller: number, path: string): Promise<unknown> {
    const reply = await this.#send(caller, { method: 'GET', path, headers: {} });
    if (reply.status !== 200) throw failure(`${path} could not be read`, reply);
    this.#remember(caller, jsonOf(reply), null);
    return jsonOf(reply);
  }

  #send(caller: number, request: WireRequest): Promise<WireReply> {
    const authorization = `Bearer ${this.#target.apiKeys[caller]}`;
    return this.#client.send({ ...request, headers: { authorization, ...request.headers } });
  }

  #knownBy(caller: number): Record<Kind, unknown[]> {
    const known = this.#known[caller];
    if (known === undefined) throw new Error(`There is no project ${caller}`);
    return known;
  }

  /** Keeps what a reply names: by the field it stands in, and by the list that holds it. */
  #remember(caller: number, value: unknown, list: string | null): void {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const item of value) this.#remember(caller, item, list);
      return;
    }
    const fields = value as Readonly<Record<string, unknown>>;
    if ('openapi' in fields) return;
    this.#keep(caller, 'message', fields.smsId);
    this.#keep(caller, 'reportFile', fields.fileId);
    if ('campaignId' in fields && 'totalRecipients' in fields) this.#keep(caller, 'campaign', fields._id);
    if ('pricePerSms' in fields) this.#keep(caller, 'senderId', fields.senderId);
    if (list === 'templates') {
      this.#keep(caller, 'template', fields.id);
      this.#keep(caller, 'templateName', fields.name);
    }
    if (list === 'phoneNumbers') this.#keep(caller, 'whatsappNumber', fields.id);
    if (list === 'whatsappAccounts') this.#keep(caller, 'whatsappAccount', fields.id);
    if (list === 'exampleRecipient') this.#keep(caller, 'templateParameters', fields.templateParameters);
    for (const [name, member] of Object.entries(fields)) this.#remember(caller, member, name);
  }

  #keep(caller: number, kind: Kind, value: unknown): void {
    if (typeof value !== (kind === 'templateParameters' ? 'object' : 'string')) return;
    const kept = this.#knownBy(caller)[kind];
    if (kept.some((each) => isDeepStrictEqual(each, value))) return;
    kept.push(value);
    if (kept.length > KNOWN_IDS_MAX) kept.shift();
  }

  /** The value with what its references stand for. */
  #resolved(value: unknown, caller: number): unknown {
    return mapReferences(value, ({ kind, of, nth }) => {
      const owner = of === 'own' ? caller : (caller + 1) % PROJECTS;
      const known = of === 'unknown' ? [] : this.#knownBy(owner)[kind];
      return known.length === 0 ? unknownOf(kind, nth) : known[known.length - 1 - (nth % known.length)];
    });
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

/** What no project has. */
function unknownOf(kind: Kind, nth: number): unknown {
  const id = `f${nth.toString(16).padStart(23, '0')}`;
  switch (kind) {
    case 'message':
      return `sms-${id}`;
    case 'templateName':
      return `unknown_${nth}`;
    case 'senderId':
      return `Unknown${nth}`;
    case 'templateParameters':
      return { body: { unknown: 'x' } };
    case 'reportFile':
      return nth.toString(16).padStart(40, '0');
    case 'webhookUrl':
      return 'https://127.0.0.1:1/unknown';
    default:
      return id;
  }
}

function mapReferences(value: unknown, replace: (reference: Reference) => unknown): unknown {
  if (value instanceof Reference) return replace(value);
  if (Array.isArray(value)) return value.map((item) => mapReferences(item, replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, mapReferences(member, replace)]),
  );
}

/** What anybody may send: values, and the ids of files, which are credentials by themselves. */
const OPEN_KINDS: ReadonlySet<Kind> = new Set<Kind>(['templateParameters', 'webhookUrl', 'reportFile']);
/** Kinds that name something of a project. */
const OWNED: ReadonlySet<Kind> = new Set(KINDS.filter((kind) => !OPEN_KINDS.has(kind)));

function hasReferenceTo(
  of: Reference['of'],
  { operation: _, ...value }: Record<string, unknown> | RequestAction,
): boolean {
  let found = false;
  mapReferences(value, (reference) => {
    found ||= reference.of === of && OWNED.has(reference.kind);
    return null;
  });
  return found;
}

function withUnknown(action: RequestAction): RequestAction {
  const { operation, ...rest } = action;
  const replaced = mapReferences(rest, (reference) =>
    reference.of === 'other' && OWNED.has(reference.kind)
      ? new Reference(reference.kind, 'unknown', reference.nth)
      : reference,
  );
  return { ...(replaced as Omit<RequestAction, 'operation'>), operation };
}

function withExtra(
  body: Record<string, unknown>,
  extra: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { recipients } = body;
  if (!Array.isArray(recipients)) return { ...extra, ...body };
  const [first, ...others] = recipients;
  return { ...extra, ...body, recipients: [{ ...extra, ...first }, ...others] };
}

/** Without what two requests differ in: ids, and the credit that each takes a part of. */
function withoutIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutIds);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !IDS_OF_TWINS.has(name))
      .map(([name, member]) => [name, withoutIds(member)]),
  );
}

function firstDifference(one: string, other: string): number {
  let index = 0;
  while (index < one.length && one[index] === other[index]) index += 1;
  return index;
}

function codeOf({ headers }: WireReply): string | undefined {
  return headers['x-error-code'];
}
